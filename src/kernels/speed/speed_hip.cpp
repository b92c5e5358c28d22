/* Which kernels of SpEED run, on what planes, in which order. */
#include "kernels/device_twin.h"
#include "kernels/speed/speed.h"

#include "base/aligned.h"

namespace vmafx {
namespace {

/* What follows in the scratch memory begins at such a multiple, too. */
size_t aligned(size_t bytes) { return round_up(bytes, 256); }

class SpeedHip : public DeviceTwin {
 public:
  SpeedHip(const SpeedPlan& plan, const VideoFormat& format, const SpeedPlanes& planes)
      : planes_(planes), bpc_(plan.bpc) {
    work_.shape = plan.shape;
    work_.plane_count = planes.count;
    work_.in_time = planes.in_time;
    work_.bands = static_cast<int>(hip::blocks_for(plan.shape.windows_y(), kSpeedBand));
    scaled_ = plan.scaler.has_value();
    PrescaleWork& prescale = work_.prescale;
    prescale.from_w = format.plane_w(planes.first);
    prescale.from_h = format.plane_h(planes.first);
    prescale.to_w = plan.shape.w;
    prescale.to_h = plan.shape.h;
    prescale.method = plan.method;
    prescale.scale = plan.shape.scale;
    prescale.offset = -128;
  }

  size_t scratch_bytes(int frames) const override {
    const size_t units = units_of(frames);
    return aligned(units * samples() * sizeof(float)) + aligned(units * samples() * sizeof(int32_t)) +
           aligned(units * part_bytes()) + aligned(units * kSpeedModelBytes) + taps_bytes();
  }

  Status load(const hip::Module& kernels) override {
    const char* decimate = scaled_ ? bpc_ == 8 ? "vmafx_speed_decimate_scaled_8" : "vmafx_speed_decimate_scaled_16"
                           : bpc_ == 8 ? "vmafx_speed_decimate_8" : "vmafx_speed_decimate_16";
    VMAFX_ASSIGN(taps_, kernels.kernel<PrescaleWork>("vmafx_prescale_taps"));
    VMAFX_ASSIGN(decimate_, kernels.kernel<SpeedWork>(decimate));
    VMAFX_ASSIGN(centre_, kernels.kernel<SpeedWork>("vmafx_speed_centre"));
    VMAFX_ASSIGN(multiply_, kernels.kernel<SpeedWork>("vmafx_speed_multiply"));
    VMAFX_ASSIGN(model_, kernels.kernel<SpeedWork>("vmafx_speed_model"));
    VMAFX_ASSIGN(score_, kernels.kernel<SpeedWork>("vmafx_speed_score"));
    return {};
  }

  Status launch(const DeviceBatch& batch) const override {
    const SpeedWork work = work_of(batch);
    const SpeedShape& shape = work.shape;
    const auto units = static_cast<unsigned>(units_of(batch.count)), bands = static_cast<unsigned>(work.bands);
    if (scaled_) {
      const unsigned positions = hip::blocks_for(shape.w + shape.h, kPrescaleThreads);
      VMAFX_TRY(hip::launch(*batch.stream, taps_, {positions}, {kPrescaleThreads}, 0, work.prescale));
    }
    const hip::Dim segments = {hip::blocks_for(shape.small_w, kSpeedSegment), static_cast<unsigned>(shape.small_h),
                               units};
    const hip::Dim chunks = {hip::blocks_for(samples(), kSpeedThreads), 1, units};
    VMAFX_TRY(hip::launch(*batch.stream, decimate_, segments, {kSpeedThreads}, 0, work));
    VMAFX_TRY(hip::launch(*batch.stream, centre_, chunks, {kSpeedThreads}, 0, work));
    VMAFX_TRY(hip::launch(*batch.stream, multiply_, {bands, 1, units}, {kSpeedPairThreads}, 0, work));
    VMAFX_TRY(hip::launch(*batch.stream, model_, {1, 1, units}, {kSpeedModelThreads}, 0, work));
    const hip::Dim blocks = {hip::blocks_for(shape.blocks(), kSpeedScoreThreads), 1, units / 2};
    return hip::launch(*batch.stream, score_, blocks, {kSpeedScoreThreads}, 0, work);
  }

 private:
  size_t units_of(int frames) const { return static_cast<size_t>(frames) * planes_.count * 2; }
  size_t samples() const { return static_cast<size_t>(work_.shape.small_w) * work_.shape.small_h; }
  size_t part_bytes() const { return static_cast<size_t>(work_.bands) * kSpeedPartWords * sizeof(int64_t); }
  size_t taps_bytes() const {
    if (!scaled_) return 0;
    const auto positions = static_cast<size_t>(work_.shape.w + work_.shape.h);
    return positions * prescale_taps(work_.prescale.method) * sizeof(PrescaleTap);
  }

  SpeedWork work_of(const DeviceBatch& batch) const {
    SpeedWork work = work_;
    for (int frame = 0; frame < batch.count; frame++)
      for (int p = 0; p < planes_.count; p++) {
        const hip::BatchPlanes& planes = batch.planes[planes_.first + p];
        const int unit = (frame * planes_.count + p) * 2;
        work.now[unit] = planes.ref[hip::ref_index(frame)];
        work.now[unit + 1] = planes_.ref_diff ? work.now[unit] : hip::dist_plane(planes, frame);
        if (!planes_.in_time) continue;
        work.before[unit] = planes.ref[hip::ref_index(frame, 1)];
        work.before[unit + 1] = hip::dist_plane(planes, frame, 1);
      }
    const size_t units = units_of(batch.count), plane_bytes = aligned(units * samples() * 4);
    work.small = batch.scratch.as<float>();
    work.centred = batch.scratch.as<int32_t>(plane_bytes);
    work.parts = batch.scratch.as<int64_t>(2 * plane_bytes);
    const size_t models_at = 2 * plane_bytes + aligned(units * part_bytes());
    work.models = batch.scratch.as<std::byte>(models_at);
    work.prescale.taps = batch.scratch.as<PrescaleTap>(models_at + aligned(units * kSpeedModelBytes));
    work.sums = batch.sums.as<uint64_t>();
    work.sums_stride = batch.sums_stride / sizeof(uint64_t);
    return work;
  }

  const SpeedPlanes planes_;
  const int bpc_;
  bool scaled_ = false;
  SpeedWork work_;  // but for what belongs to a batch
  hip::Kernel<PrescaleWork> taps_;
  hip::Kernel<SpeedWork> decimate_, centre_, multiply_, model_, score_;
};

}  // namespace

std::unique_ptr<DeviceTwin> speed_hip(const SpeedPlan& plan, const VideoFormat& format, const SpeedPlanes& planes) {
  return std::make_unique<SpeedHip>(plan, format, planes);
}

}  // namespace vmafx
