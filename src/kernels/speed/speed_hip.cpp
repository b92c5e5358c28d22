/* The HIP twin of SpEED: its kernels, in data-flow order. */
#include "kernels/device_twin.h"
#include "kernels/speed/speed.h"
#include "kernels/speed/speed_work.h"

namespace vmafx {
namespace {

class SpeedHip : public DeviceTwin {
 public:
  explicit SpeedHip(const SpeedPlan& plan)
      : planes_(plan.planes), scaled_(plan.scaler.has_value()),
        decimate_(kernels_.add((scaled_ ? kernels::speed_decimate_scaled : kernels::speed_decimate).of(plan.bpc))) {
    work_.shape = plan.shape;
    work_.plane_count = planes_.count;
    work_.in_time = planes_.in_time;
    work_.bands = static_cast<int>(hip::blocks_for(plan.shape.windows_y(), kSpeedBand));
    PrescaleWork& prescale = work_.prescale;
    prescale.from_w = plan.w;
    prescale.from_h = plan.h;
    prescale.to_w = plan.shape.w;
    prescale.to_h = plan.shape.h;
    prescale.method = plan.method;
  }

  size_t scratch_bytes(int frames) const override {
    ScratchLayout memory;
    SpeedWork work;
    lay_out(units_of(frames), memory, work);
    return memory.bytes();
  }

  Status launch(const DeviceBatch& batch) const override {
    const SpeedWork work = work_of(batch);
    const SpeedShape& shape = work.shape;
    const auto units = static_cast<unsigned>(units_of(batch.count)), bands = static_cast<unsigned>(work.bands);
    if (scaled_) {
      const unsigned positions = hip::blocks_for(shape.w + shape.h, kPrescaleThreads);
      VMAFX_TRY(taps_.launch(batch, {positions}, work.prescale));
    }
    const hip::Dim segments = {hip::blocks_for(shape.small_w, kSpeedSegment), static_cast<unsigned>(shape.small_h),
                               units};
    const hip::Dim chunks = {hip::blocks_for(samples(), kSpeedThreads), 1, units};
    VMAFX_TRY(decimate_.launch(batch, segments, work));
    VMAFX_TRY(center_.launch(batch, chunks, work));
    VMAFX_TRY(multiply_.launch(batch, {bands, 1, units}, work));
    VMAFX_TRY(model_.launch(batch, {2, 1, units}, work));
    const hip::Dim blocks = {hip::blocks_for(shape.blocks(), kSpeedMeasureThreads), 1, units};
    VMAFX_TRY(measure_.launch(batch, blocks, work));
    return score_.launch(batch, {1, 1, units / 2}, work);
  }

 private:
  size_t units_of(int frames) const { return static_cast<size_t>(frames) * planes_.count * 2; }
  size_t samples() const { return static_cast<size_t>(work_.shape.small_w) * work_.shape.small_h; }
  size_t taps() const {
    const auto positions = static_cast<size_t>(work_.shape.w) + static_cast<size_t>(work_.shape.h);
    return scaled_ ? positions * prescale_taps(work_.prescale.method) : 0;
  }

  /* Says where the kernels' memory is. */
  void lay_out(size_t units, ScratchLayout& memory, SpeedWork& work) const {
    work.small = memory.take<float>(units * samples());
    work.centered = memory.take<float>(units * samples());
    work.parts = memory.take<double>(units * work_.bands * kSpeedPartWords);
    work.models = memory.take<SpeedModel>(units);
    work.blocks = memory.take<SpeedBlockSums>(units * work_.shape.blocks());
    work.prescale.taps = memory.take<PrescaleTap>(taps());
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
    ScratchLayout memory(batch.scratch);
    lay_out(units_of(batch.count), memory, work);
    work.sums = batch.sums_of<SpeedSums>();
    return work;
  }

  const SpeedPlanes planes_;
  const bool scaled_;
  SpeedWork work_;  // but for what belongs to a batch
  const TwinKernel<SpeedWork> decimate_;
  const TwinKernel<PrescaleWork> taps_ = kernels_.add(kernels::prescale_taps);
  const TwinKernel<SpeedWork> center_ = kernels_.add(kernels::speed_center);
  const TwinKernel<SpeedWork> multiply_ = kernels_.add(kernels::speed_multiply);
  const TwinKernel<SpeedWork> model_ = kernels_.add(kernels::speed_model);
  const TwinKernel<SpeedWork> measure_ = kernels_.add(kernels::speed_measure);
  const TwinKernel<SpeedWork> score_ = kernels_.add(kernels::speed_score);
};

}  // namespace

OwnedDeviceTwin speed_hip(const SpeedPlan& plan) { return {std::make_unique<SpeedHip>(plan)}; }

}  // namespace vmafx
