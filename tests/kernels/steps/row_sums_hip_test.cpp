/* The kernels of row_sums_hip.h: for each plane of a batch the definition's bits, in the word that is its own. */
#include "kernels/steps/row_sums_hip.h"

#include <check.h>

#include <cstring>
#include <random>
#include <vector>

#include "kernels/steps/row_sums.h"
#include "tests/support/device.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

struct Part {
  int n, h, planes, word;
};

constexpr int kWords = 12;  // of a frame's sums

class Run {
 public:
  Run(const std::vector<Part>& parts, int frames)
      : parts_(parts), device_(open_test_device()), stream_(take(hip::Stream::create(device_.context))),
        want_(kWords * frames) {
    for (const Part& part : parts) sums_.add_part(part.n, part.h, part.planes, part.word * sizeof(uint64_t));
    assert_ok(kernels_.load(*device_.kernels));
    scratch_ = take(hip::DeviceBuffer<std::byte>::create(device_.context, sums_.scratch_bytes(frames)));
    words_ = take(hip::DeviceBuffer<uint64_t>::create(device_.context, want_.size()));
    assert_ok(stream_.clear(words_.ptr().as<std::byte>(), words_.size() * sizeof(uint64_t)));
    batch_.count = frames;
    batch_.stream = &stream_;
    batch_.sums = words_.ptr().as<std::byte>();
    batch_.sums_stride = kWords * sizeof(uint64_t);
  }

  void check() {
    for (size_t i = 0; i < parts_.size(); i++) {
      fill(static_cast<int>(i));
      assert_ok(sums_.add_rows(batch_, static_cast<int>(i), scratch_.ptr()));
      assert_ok(stream_.drain());
    }
    assert_ok(sums_.add_sums(batch_, scratch_.ptr()));
    auto got = take(hip::PinnedBuffer<uint64_t>::create(device_.context, want_.size()));
    assert_ok(stream_.download(got.data(), hip::DevicePtr<const uint64_t>(words_.ptr()), got.size()));
    assert_ok(stream_.drain());
    for (size_t i = 0; i < want_.size(); i++)
      ck_assert_msg(got.data()[i] == want_[i], "word %zu of frame %zu: %a, not %a", i % kWords, i / kWords,
                    sum_of_word(got.data()[i]), sum_of_word(want_[i]));
  }

 private:
  /* Values as a metric's kernel would leave them, NaN between the rows. */
  void fill(int i) {
    const RowValues values = sums_.values(i, scratch_.ptr());
    auto host =
        take(hip::PinnedBuffer<float>::create(device_.context, static_cast<size_t>(values.row(batch_.count, 0, 0))));
    std::memset(host.data(), 0xFF, host.size() * sizeof(float));
    std::mt19937 random(i + 31 * values.n);
    std::lognormal_distribution<float> any(0, 4);
    for (int frame = 0; frame < batch_.count; frame++)
      for (int plane = 0; plane < values.planes; plane++) {
        RowSum sum;
        for (int y = 0; y < values.h; y++) {
          for (int x = 0; x < values.n; x++) sum.add(host.data()[values.row(frame, plane, y) + x] = any(random));
          sum.end_row();
        }
        want_[frame * kWords + parts_[i].word + plane] = sum.word();
      }
    assert_ok(stream_.upload(values.first, static_cast<const float*>(host.data()), host.size()));
    assert_ok(stream_.drain());
  }

  const std::vector<Part> parts_;
  const hip::OpenedDevice device_;
  hip::Stream stream_;
  KernelList kernels_;
  RowSumsDevice sums_{kernels_};
  hip::DeviceBuffer<std::byte> scratch_;
  hip::DeviceBuffer<uint64_t> words_;
  std::vector<uint64_t> want_;
  DeviceBatch batch_;
};

}  // namespace

START_TEST(every_width) {
  for (int n = 1; n <= 9; n++) Run({{n, 7, 1, 0}}, 1).check();
  for (const int n : {63, 64, 65, 127, 130}) Run({{n, 67, 1, 3}}, 1).check();
}
END_TEST

START_TEST(every_height) {
  for (const int h : {1, 63, 64, 255, 256, 257, 600}) Run({{5, h, 2, 1}}, 1).check();
}
END_TEST

START_TEST(parts_and_batches) {
  const std::vector<Part> parts = {{70, 40, 2, 0}, {35, 20, 3, 2}, {90, 10, 1, 11}, {1, 1, 6, 5}};
  for (const int frames : {1, 3}) Run(parts, frames).check();
}
END_TEST

int main() {
  return run_suite_on_device(
      "row_sums_device",
      {{"every_width", every_width}, {"every_height", every_height}, {"parts_and_batches", parts_and_batches}});
}
