/* The unpack kernel: interleaved and shifted planes in device memory, into slots of the frame pool and back, against
 * the same on the host. */
#include "kernels/steps/unpack_hip.h"

#include <check.h>

#include <cstring>
#include <vector>

#include "tests/support/device.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

struct Case {
  int w, h, sample_bytes, step, first, shift, padding;
  bool upside_down;
};

/* A source plane on the device, its place in the pool, and what must come to lie there. */
class Plane {
 public:
  Plane(const hip::OpenedDevice& device, hip::Stream& stream, const Case& c, uint32_t seed) : case_(c) {
    pitch_ = (static_cast<size_t>(c.w) * c.step + c.first) * c.sample_bytes +
             static_cast<size_t>(c.padding) * c.sample_bytes;
    host_ = take(hip::PinnedBuffer<uint8_t>::create(device.context, pitch_ * c.h));
    source_ = take(hip::DeviceBuffer<uint8_t>::create(device.context, pitch_ * c.h));
    target_pitch_ = (static_cast<size_t>(c.w) * c.sample_bytes + 63) / 64 * 64;
    target_ = take(hip::DeviceBuffer<uint8_t>::create(device.context, target_pitch_ * c.h));
    back_ = take(hip::PinnedBuffer<uint8_t>::create(device.context, target_pitch_ * c.h));
    for (size_t i = 0; i < host_.size(); i++) host_.data()[i] = static_cast<uint8_t>((seed += 0x9E3779B9u) >> 13);
    assert_ok(stream.upload(source_.ptr(), static_cast<const uint8_t*>(host_.data()), host_.size()));
    assert_ok(stream.clear(target_.ptr().as<std::byte>(), target_.size()));
  }

  UnpackPlane plane() const {
    UnpackPlane p;
    const auto last = static_cast<ptrdiff_t>(pitch_ * (case_.h - 1));
    p.from = hip::DevicePtr<const uint8_t>(source_.ptr()) + (case_.upside_down ? last : 0);
    p.from_stride = case_.upside_down ? -static_cast<int64_t>(pitch_) : static_cast<int64_t>(pitch_);
    p.to = target_.ptr();
    p.to_stride = static_cast<int64_t>(target_pitch_);
    p.w = case_.w;
    p.h = case_.h;
    p.sample_bytes = static_cast<uint8_t>(case_.sample_bytes);
    p.step = static_cast<uint8_t>(case_.step);
    p.first = static_cast<uint8_t>(case_.first);
    p.shift = static_cast<uint8_t>(case_.shift);
    return p;
  }

  void read_back(hip::Stream& stream) {
    assert_ok(stream.download(back_.data(), hip::DevicePtr<const uint8_t>(target_.ptr()), back_.size()));
  }

  void check() const {
    for (int y = 0; y < case_.h; y++)
      for (int x = 0; x < case_.w; x++) {
        const size_t row = pitch_ * (case_.upside_down ? case_.h - 1 - y : y);
        const unsigned want = load(host_.data() + row, x * case_.step + case_.first) >> case_.shift;
        const unsigned got = load(back_.data() + target_pitch_ * y, x);
        ck_assert_msg(got == want, "%dx%d, %d bytes, step %d, first %d, shift %d: %u at %d, %d, not %u", case_.w,
                      case_.h, case_.sample_bytes, case_.step, case_.first, case_.shift, got, x, y, want);
      }
  }

 private:
  unsigned load(const uint8_t* row, int i) const {
    if (case_.sample_bytes == 1) return row[i];
    uint16_t value;
    std::memcpy(&value, row + i * 2, 2);
    return value;
  }

  Case case_;
  size_t pitch_, target_pitch_;
  hip::PinnedBuffer<uint8_t> host_, back_;
  hip::DeviceBuffer<uint8_t> source_, target_;
};

void check_all(const std::vector<Case>& cases) {
  const hip::OpenedDevice device = open_test_device();
  const Unpacker unpacker = take(Unpacker::load(*device.kernels));
  std::vector<Plane> planes;
  hip::Stream stream = take(hip::Stream::create(device.context));
  std::vector<UnpackPlane> work;
  for (const Case& c : cases) {
    planes.emplace_back(device, stream, c, static_cast<uint32_t>(planes.size()));
    work.push_back(planes.back().plane());
  }
  assert_ok(unpacker.launch(stream, work));
  for (Plane& plane : planes) plane.read_back(stream);
  assert_ok(stream.drain());
  for (const Plane& plane : planes) plane.check();
}

}  // namespace

START_TEST(every_width) {
  std::vector<Case> cases;
  for (int w = 1; w <= 40; w++)
    for (int bytes : {1, 2}) cases.push_back({w, 3, bytes, 2, w % 2, bytes == 2 ? 6 : 0, w % 3, false});
  check_all(cases);
}
END_TEST

START_TEST(layouts_of_decoders) {
  check_all({{263, 130, 1, 2, 0, 0, 0, false},    // nv12: U
             {263, 130, 1, 2, 1, 0, 5, false},    // nv12: V
             {526, 261, 2, 1, 0, 6, 0, false},    // p010: Y
             {263, 130, 2, 2, 1, 6, 1, true},     // p010: V, bottom up
             {526, 261, 2, 1, 0, 4, 3, false},    // p012
             {263, 130, 2, 2, 0, 0, 0, false},    // p016
             {526, 261, 1, 1, 0, 0, 7, false}});  // rows at odd addresses
}
END_TEST

int main() {
  return run_suite_on_device("unpack", {{"every_width", every_width}, {"layouts_of_decoders", layouts_of_decoders}});
}
