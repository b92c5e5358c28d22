/* speed_chroma, speed_temporal: SpEED-QA, how much of the spatial information of a picture, or of the difference of two
 * successive ones, was changed (Bampis, Gupta, Soundararajan, Bovik: SpEED-QA: Spatial Efficient Entropic Differencing
 * for Image and Video Quality, IEEE Signal Processing Letters 24(9), 2017).
 *
 * Per plane, ref and dist alike; speed_chroma takes U and V, speed_temporal the luma of the frame before minus that of
 * this one:
 *
 *     x = every 16th sample, both ways, of the plane under a Gaussian window (9 taps, sigma 3.6; times
 *         speed_kernelscale), the plane scaled by speed_prescale before
 *     m = x - its local mean under a second window (3 taps, sigma 0.6), cut to whole blocks of 5x5
 *     K = the 25x25 covariance of all 5x5 windows of m;  L its eigenvalues
 *     S = y' K^-1 y / 25 for each block y of m
 *     E = Σ log2(L S + sigma_nn) + log2(2 pi e)
 *     score = mean over the blocks of |E_ref log2(1 + S_ref) - E_dist log2(1 + S_dist)|
 *
 * A block where both E are below that of a floor, sigma_nn (1 + nn_floor) at S = 0, counts 0. speed_weight_var_mode
 * says which mix of S_ref and S_dist the second factor takes. K is singular when an eigenvalue, or a pivot of the
 * linear system, is below 1e-6: in both planes the score is 0, and in one of them, too. uv is the mean of u and v, or
 * the one of them that is not singular.
 *
 * Equal to libvmaf f85a853, practically always to the last bit: K of planes without much detail is so near to singular
 * that the roundings of single precision are seen in the fifth digit of scores, so all is done as there, in its order
 * (speed_matrix.h): eigenvalues by implicit QR steps, the linear system by Householder reflections as dense products.
 * Only sums over the plane, which are made in double, have an order of their own, and logarithms may be off by 1e-14.
 * Deviations: any depth from 8 to 16 bit; where rounding leaves an S that has no logarithm the score is still a number;
 * speed_max_val limits speed_temporal, too; pictures too small for a block are refused; prescaling as said in
 * kernels/steps/prescale_math.h.
 *
 * Everything is done where the pictures are, matrices included: of a frame only the sum over its blocks leaves the
 * kernels, 16 bytes. */
#ifndef VMAFX_KERNELS_SPEED_SPEED_H
#define VMAFX_KERNELS_SPEED_SPEED_H

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "base/picture.h"
#include "kernels/forward.h"
#include "kernels/speed/speed_shape.h"
#include "kernels/steps/prescale.h"

namespace vmafx {

/* The options of both metrics. */
struct SpeedOptions {
  double kernelscale = 1, prescale = 1, sigma_nn = 0.29, nn_floor = 0, max_val = 1000;
  std::string_view prescale_method = "nearest";
  int weight_var_mode = 0;    // speed_chroma
  bool use_ref_diff = false;  // speed_temporal
};

inline constexpr int kSpeedSlack = 64;  // numbers past the end of every row here that vectors may touch

/* The places of one side's stages in the scratch memory, and of the blocks of both sides. */
struct SpeedMemory {
  SpeedMemory(const class SpeedPlan& plan, std::byte* memory);  // nullptr: for `bytes`

  Plane<float> scaled;  // with prescaling: the plane, or what it differs from the one before
  std::byte* scaler = nullptr;
  Plane<float> small;               // x
  Plane<float> centered;            // m
  float* row;                       // shape.w numbers, with slack on both sides
  double* shifted;                  // five rows of m from five columns on, of padded_windows_x() each
  Plane<float> values;              // row i: element i of all blocks of m
  float *variance[2], *entropy[2];  // for the blocks of ref and dist
  size_t bytes;
};

/* The planes of frames that are scored. */
struct SpeedPlanes {
  int first = 0, count = 1;
  bool in_time = false, ref_diff = false;
};

/* The part of a SpEED that is known before the first frame. */
class SpeedPlan {
 public:
  /* EINVAL for a kernelscale or method that does not exist, and planes too small for one block. `metric`: for
   * messages. */
  static StatusOr<SpeedPlan> create(const char* metric, const SpeedOptions& options, const VideoFormat& format,
                                    const SpeedPlanes& planes);

  SpeedPlanes planes;
  int w, h;  // the scored planes' size
  SpeedShape shape;
  int bpc = 8;
  PrescaleMethod method = PrescaleMethod::kNearest;
  double max_val;                   // larger scores are clipped
  std::optional<Prescaler> scaler;  // none where the plane is taken as it is

  size_t scratch_bytes() const { return SpeedMemory(*this, nullptr).bytes; }
};

/* The plane whose SpEED is taken: `now`, or `before` - `now` where there is a `before`. */
struct SpeedPlane {
  SamplePlane now, before = {};
};

/* The twins. `scratch`: plan.scratch_bytes(), for any number of encodes. */
using SpeedTwin = void(const SpeedPlan& plan, const SpeedPlane& ref, std::span<const SpeedPlane> dists,
                       std::byte* scratch, std::span<SpeedSums* const> sums);
SpeedTwin speed_plain, speed_simd;

/* All of a CPU twin but the blocks of a side, which `measure` makes; it returns whether K can be used. */
using SpeedMeasure = bool (*)(const SpeedPlan& plan, const SpeedPlane& plane, const SpeedMemory& memory, int side);
void speed_score(const SpeedPlan& plan, const SpeedPlane& ref, std::span<const SpeedPlane> dists, std::byte* scratch,
                 SpeedMeasure measure, std::span<SpeedSums* const> sums);

/* The plane that the plan's scaler scales. */
PrescaleSource speed_source(const SpeedPlan& plan, const SpeedPlane& plane);

/* The HIP twin. */
OwnedDeviceTwin speed_hip(const SpeedPlan& plan);

extern const ExtractorInfo kSpeedChromaExtractor;
extern const ExtractorInfo kSpeedTemporalExtractor;

}  // namespace vmafx

#endif
