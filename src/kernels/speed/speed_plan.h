/* What is known of a SpEED before the first frame: sizes, windows, scratch memory. */
#ifndef VMAFX_KERNELS_SPEED_SPEED_PLAN_H
#define VMAFX_KERNELS_SPEED_SPEED_PLAN_H

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "kernels/speed/speed_work.h"
#include "kernels/steps/prescale.h"

namespace vmafx {

inline constexpr int kSpeedSlack = 64;  // numbers past the end of every row here that vectors may touch

/* Where one side's stages lie in the scratch memory. */
struct SpeedMemory {
  Plane<float> scaled;  // with prescaling: the plane, or what it differs from the one before
  std::byte* scaler;
  Plane<float> small;               // x
  Plane<float> centered;            // m
  float* row;                       // of shape.w and slack on both sides
  double* shifted;                  // five rows of m from five columns on, of padded_windows_x() each
  Plane<float> values;              // row i: element i of all blocks of m
  float *variance[2], *entropy[2];  // of the blocks of ref and dist
};

/* What both metrics have. */
struct SpeedOptions {
  double kernelscale = 1, prescale = 1, sigma_nn = 0.29, nn_floor = 0, max_val = 1000;
  std::string_view prescale_method = "nearest";
};

class SpeedPlan {
 public:
  /* EINVAL for a kernelscale or method that does not exist, and planes too small for one block. `metric`: for messages. */
  static StatusOr<SpeedPlan> create(const char* metric, const SpeedOptions& options, int w, int h, int bpc,
                                    int weight_mode);

  SpeedShape shape;
  int bpc = 8;
  PrescaleMethod method = PrescaleMethod::kNearest;
  std::optional<Prescaler> scaler;  // none where the plane is taken as it is

  size_t scratch_bytes() const { return lay_out(nullptr, nullptr); }
  SpeedMemory memory(std::byte* scratch) const;

 private:
  size_t lay_out(std::byte* scratch, SpeedMemory* memory) const;
};

}  // namespace vmafx

#endif
