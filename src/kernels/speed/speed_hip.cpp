/* Which kernels of SpEED run, on what planes, in which order. */
#include "kernels/device_twin.h"
#include "kernels/speed/speed.h"

namespace vmafx {
namespace {

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
  }

  size_t scratch_bytes(int frames) const override { return lay_out(units_of(frames)).end; }

  Status load(const hip::Module& kernels) override {
    const char* decimate = scaled_ ? bpc_ == 8 ? "vmafx_speed_decimate_scaled_8" : "vmafx_speed_decimate_scaled_16"
                           : bpc_ == 8 ? "vmafx_speed_decimate_8" : "vmafx_speed_decimate_16";
    VMAFX_ASSIGN(taps_, kernels.kernel<PrescaleWork>("vmafx_prescale_taps"));
    VMAFX_ASSIGN(decimate_, kernels.kernel<SpeedWork>(decimate));
    VMAFX_ASSIGN(centre_, kernels.kernel<SpeedWork>("vmafx_speed_centre"));
    VMAFX_ASSIGN(multiply_, kernels.kernel<SpeedWork>("vmafx_speed_multiply"));
    VMAFX_ASSIGN(model_, kernels.kernel<SpeedWork>("vmafx_speed_model"));
    VMAFX_ASSIGN(measure_, kernels.kernel<SpeedWork>("vmafx_speed_measure"));
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
    VMAFX_TRY(hip::launch(*batch.stream, model_, {2, 1, units}, {kSpeedModelThreads}, 0, work));
    const hip::Dim blocks = {hip::blocks_for(shape.blocks(), kSpeedMeasureThreads), 1, units};
    VMAFX_TRY(hip::launch(*batch.stream, measure_, blocks, {kSpeedMeasureThreads}, 0, work));
    return hip::launch(*batch.stream, score_, {1, 1, units / 2}, {kSpeedScoreThreads}, 0, work);
  }

 private:
  size_t units_of(int frames) const { return static_cast<size_t>(frames) * planes_.count * 2; }
  size_t samples() const { return static_cast<size_t>(work_.shape.small_w) * work_.shape.small_h; }
  size_t taps_bytes() const {
    if (!scaled_) return 0;
    const auto positions = static_cast<size_t>(work_.shape.w + work_.shape.h);
    return positions * prescale_taps(work_.prescale.method) * sizeof(PrescaleTap);
  }

  /* Where what the kernels share lies in the scratch memory. */
  struct Layout {
    size_t small, centred, parts, models, blocks, taps, end;
  };
  Layout lay_out(size_t units) const {
    Layout at;
    at.small = 0;
    at.centred = at.small + scratch_aligned(units * samples() * sizeof(float));
    at.parts = at.centred + scratch_aligned(units * samples() * sizeof(float));
    at.models = at.parts + scratch_aligned(units * work_.bands * kSpeedPartWords * sizeof(double));
    at.blocks = at.models + scratch_aligned(units * kSpeedModelBytes);
    at.taps = at.blocks + scratch_aligned(units * work_.shape.blocks() * kSpeedBlockBytes);
    at.end = at.taps + taps_bytes();
    return at;
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
    const Layout at = lay_out(units_of(batch.count));
    work.small = batch.scratch.as<float>(at.small);
    work.centred = batch.scratch.as<float>(at.centred);
    work.parts = batch.scratch.as<double>(at.parts);
    work.models = batch.scratch.as<std::byte>(at.models);
    work.blocks = batch.scratch.as<std::byte>(at.blocks);
    work.prescale.taps = batch.scratch.as<PrescaleTap>(at.taps);
    work.sums = batch.sums.as<uint64_t>();
    work.sums_stride = batch.sums_stride / sizeof(uint64_t);
    return work;
  }

  const SpeedPlanes planes_;
  const int bpc_;
  bool scaled_ = false;
  SpeedWork work_;  // but for what belongs to a batch
  hip::Kernel<PrescaleWork> taps_;
  hip::Kernel<SpeedWork> decimate_, centre_, multiply_, model_, measure_, score_;
};

}  // namespace

std::unique_ptr<DeviceTwin> speed_hip(const SpeedPlan& plan, const VideoFormat& format, const SpeedPlanes& planes) {
  return std::make_unique<SpeedHip>(plan, format, planes);
}

}  // namespace vmafx
