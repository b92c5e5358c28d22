/* The HIP twin of float_motion: for each plane and size one that writes magnitudes,
 * and those that add them up. */
#include "kernels/device_twin.h"
#include "kernels/motion/float_motion.h"
#include "kernels/motion/float_motion_work.h"
#include "kernels/steps/row_sums_hip.h"
#include "kernels/steps/rows.h"

namespace vmafx {
namespace {

class FloatMotionHip : public DeviceTwin {
 public:
  explicit FloatMotionHip(const FloatMotionParams& params) : params_(params) {
    for (int p = 0; p < params_.planes; p++) {
      const int w = params_.format.plane_w(p), h = params_.format.plane_h(p);
      const size_t of_plane = p * sizeof(FloatMotionPlaneSums);
      sums_.add_part(w, h, 1, of_plane + offsetof(FloatMotionPlaneSums, sad));
      if (params_.half_size[p])
        sums_.add_part(float_motion_half(w), float_motion_half(h), 1,
                       of_plane + offsetof(FloatMotionPlaneSums, half_size_sad));
    }
  }

  size_t scratch_bytes(int frames) const override { return sums_.scratch_bytes(frames); }

  Status launch(const DeviceBatch& batch) const override {
    int part = 0;
    for (int p = 0; p < params_.planes; p++)
      for (const bool half_size : {false, true}) {
        if (half_size && !params_.half_size[p]) continue;
        VMAFX_TRY(put_magnitudes(batch, p, half_size, sums_.values(part, batch.scratch)));
        VMAFX_TRY(sums_.add_rows(batch, part++, batch.scratch));
      }
    return part == 0 ? Status() : sums_.add_sums(batch, batch.scratch);
  }

 private:
  Status put_magnitudes(const DeviceBatch& batch, int plane, bool half_size, const RowValues& magnitudes) const {
    const VideoFormat& format = params_.format;
    const FloatMotionWork work = {.plane = batch.planes[plane],
                                  .w = format.plane_w(plane),
                                  .h = format.plane_h(plane),
                                  .taps = params_.taps,
                                  .sample_scale = scale_to_8_bits(format.bpc),
                                  .half_size = half_size,
                                  .magnitudes = magnitudes};
    const int shrink = half_size ? 2 : 1;
    const unsigned across = hip::blocks_for(magnitudes.n, kFloatMotionTileW / shrink);
    return kernel_.launch(batch, batch.grid(across, hip::blocks_for(magnitudes.h, kFloatMotionTileH / shrink)), work);
  }

  const FloatMotionParams params_;
  RowSumsDevice sums_{kernels_};
  const TwinKernel<FloatMotionWork> kernel_ = kernels_.add(kernels::float_motion.of(params_.format.bpc));
};

}  // namespace

OwnedDeviceTwin float_motion_hip(const FloatMotionParams& params) { return {std::make_unique<FloatMotionHip>(params)}; }

}  // namespace vmafx
