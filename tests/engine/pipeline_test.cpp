/* The pipeline with a device lane, around a metric whose kernels are wrong: what verification sees, and that a picture is given
 * back exactly when nobody reads it any more. */
#include <cstring>

#include "tests/support/device.h"
#include "tests/support/stream.h"

#include "engine/pipeline.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

constexpr VideoFormat kFormat = {.w = 32, .h = 16, .bpc = 8, .chroma = Chroma::k400};
constexpr VmafxFormat kPictures = {32, 16, VMAFX_CHROMA_400, 8, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};

struct Sums {
  int64_t right;  // the same on both sides
  int64_t wrong;  // 100 on the CPU, 0 on the device, which leaves it as it is
};

/* Its "kernels" are none at all. */
class Idle : public DeviceTwin {
 public:
  size_t scratch_bytes(int) const override { return 0; }
  Status load(const hip::Module&) override { return {}; }
  Status launch(const DeviceBatch&) const override { return fails ? error(EIO, "the launch failed") : Status(); }
  bool fails = false;
};

class Metric : public Extractor {
 public:
  std::span<const FeatureInfo> features() const override { return {}; }
  size_t sums_bytes() const override { return sizeof(Sums); }
  size_t scratch_bytes() const override { return 0; }
  void extract(const FrameSet&, std::byte*, void* sums) const override { static_cast<Sums*>(sums)->wrong = wrong; }
  void finalize(int64_t, const void*, ScoreSink&) override {}
  DeviceTwin* device_twin() override { return &twin; }

  int64_t wrong = 100;
  Idle twin;
};

/* A stream of 8 frames through the metric; how many finished with each value of `wrong`. */
struct Counts {
  int from_device = 0, from_cpu = 0;
};

class Stream {
 public:
  Stream(Metric& metric, int verify) : metric_(metric), device_(open_test_device()) {
    assert_ok(pipeline.start({&metric_}, 2, 1));
    assert_ok(pipeline.add_lane(device_, kFormat, false, verify));
  }

  Counts run(int fails_at = -1) {
    Log log;
    PictureReader reader;
    reader.start(kPictures, kFormat, 1, "tested", log);
    for (int n = 0; n < 8; n++) {
      while (pipeline.full()) take(true);
      if (n == fails_at) {
        while (take(true)) continue;
        metric_.twin.fails = true;
      }
      auto ref = reader.read(TestPicture::make(kPictures, make_samples(kPictures, n, false)));
      auto dist = reader.read(TestPicture::make(kPictures, make_samples(kPictures, n, true)));
      assert_ok(pipeline.add(true, std::move(ref.value()), std::move(dist.value())));
    }
    while (take(true)) continue;
    ck_assert_int_eq(next_, 8);
    return counts_;
  }

  Pipeline pipeline;

 private:
  bool take(bool wait) {
    FinishedFrame finished;
    if (!pipeline.take(wait, &finished)) return false;
    ck_assert_int_eq(finished.index, next_++);
    const auto& sums = *reinterpret_cast<const Sums*>(finished.sums[0]);
    (sums.wrong ? counts_.from_cpu : counts_.from_device)++;
    return true;
  }

  Metric& metric_;
  const hip::OpenedDevice device_;
  Counts counts_;
  int next_ = 0;
};

}  // namespace

START_TEST(verification_sees_a_wrong_device) {
  Metric metric;
  Stream stream(metric, 3);
  ck_assert_int_eq(stream.run().from_device, 8);
  ck_assert_int_eq(stream.pipeline.verification().frames, 3);
  ck_assert_double_eq(stream.pipeline.verification().largest_difference, 1.0);
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

START_TEST(verification_sees_a_right_device) {
  Metric metric;
  metric.wrong = 0;
  Stream stream(metric, 2);
  stream.run();
  ck_assert_int_eq(stream.pipeline.verification().frames, 4);
  ck_assert_double_eq(stream.pipeline.verification().largest_difference, 0.0);
}
END_TEST

START_TEST(the_cpu_takes_over_at_the_frame_that_failed) {
  Metric metric;
  Stream stream(metric, 1);
  const Counts counts = stream.run(5);
  ck_assert_int_eq(counts.from_device, 5);
  ck_assert_int_eq(counts.from_cpu, 3);
  const auto handover = stream.pipeline.handover();
  ck_assert(handover.has_value());
  ck_assert_int_eq(handover->frame, 5);
  assert_text_eq(handover->reason.message(), "the launch failed");
  ck_assert_int_eq(stream.pipeline.verification().frames, 5);
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

int main() {
  return run_suite("pipeline", {{"wrong", verification_sees_a_wrong_device},
                                {"right", verification_sees_a_right_device},
                                {"handover", the_cpu_takes_over_at_the_frame_that_failed}});
}
