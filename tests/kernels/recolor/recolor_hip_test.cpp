/* The HIP twin of conversions between color spaces: the samples of the definition. */
#include "kernels/recolor/recolor_hip.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/kernels/recolor/recolor_picture.h"
#include "tests/support/device.h"
#include "tests/support/scratch.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

constexpr Color kP3 = {.matrix = 9, .transfer = 16, .primaries = 12, .range = Color::Range::kLimited};
constexpr unsigned kAllPlanes = 7;

/* The planes of a picture on the device, one behind the other, with their strides. */
class DevicePlanes {
 public:
  DevicePlanes(const hip::OpenedDevice& device, const ColorPicture& picture) : picture_(picture) {
    const VideoFormat& format = picture.format();
    for (int p = 0; p < format.planes(); p++) {
      offset_[p] = bytes_;
      bytes_ += bytes_of(p);
    }
    host_ = take(hip::PinnedBuffer<uint8_t>::create(device.context, bytes_));
    device_ = take(hip::DeviceBuffer<uint8_t>::create(device.context, bytes_));
    for (int p = 0; p < format.planes(); p++) std::memcpy(host_.data() + offset_[p], picture.data(p), bytes_of(p));
  }

  void upload(hip::Stream& stream) {
    assert_ok(stream.upload(device_.ptr(), static_cast<const uint8_t*>(host_.data()), bytes_));
  }
  void download(hip::Stream& stream) {
    assert_ok(stream.download(host_.data(), hip::DevicePtr<const uint8_t>(device_.ptr()), bytes_));
  }
  void give_back() {
    for (int p = 0; p < picture_.format().planes(); p++)
      std::memcpy(picture_.data(p), host_.data() + offset_[p], bytes_of(p));
  }
  hip::DevicePtr<uint8_t> plane(int p) const { return device_.ptr() + static_cast<ptrdiff_t>(offset_[p]); }
  const ColorPicture& picture() const { return picture_; }

 private:
  size_t bytes_of(int p) const {
    return static_cast<size_t>(picture_.stride(p)) * static_cast<size_t>(picture_.format().plane_h(p));
  }

  const ColorPicture& picture_;
  size_t offset_[3] = {}, bytes_ = 0;
  hip::PinnedBuffer<uint8_t> host_;
  hip::DeviceBuffer<uint8_t> device_;
};

RecolorPicture work_of(const DevicePlanes& from, const DevicePlanes& to, unsigned wanted) {
  RecolorPicture work;
  for (int p = 0; p < from.picture().format().planes(); p++)
    work.from[p] = {from.plane(p), static_cast<int64_t>(from.picture().stride(p))};
  for (int p = 0; p < to.picture().format().planes(); p++) {
    if (!(wanted >> p & 1)) continue;
    work.to[p] = to.plane(p);
    work.to_stride[p] = to.picture().stride(p);
  }
  return work;
}

/* Converts `count` pictures in one launch; planes that are not wanted stay as they are. */
void check_kernel(const hip::OpenedDevice& device, const VideoFormat& from, const VideoFormat& to, int count = 1,
                  unsigned wanted = kAllPlanes, const ColorRules& rules = {}) {
  const auto recolorer = take(Recolorer::create(from, to, rules));
  const DeviceRecolorer kernel = take(DeviceRecolorer::load(device, *recolorer));
  hip::Stream stream = take(hip::Stream::create(device.context));
  std::vector<ColorPicture> in, got;
  std::vector<DevicePlanes> sources, targets;
  std::vector<RecolorPicture> work;
  for (int i = 0; i < count; i++) {
    in.push_back(random_picture(from, static_cast<uint32_t>(from.w * 131 + from.h + i)));
    got.emplace_back(to);
  }
  for (int i = 0; i < count; i++) {
    sources.emplace_back(device, in[static_cast<size_t>(i)]).upload(stream);
    targets.emplace_back(device, got[static_cast<size_t>(i)]).upload(stream);
    work.push_back(work_of(sources.back(), targets.back(), wanted));
  }
  assert_ok(kernel.launch(stream, work));
  for (DevicePlanes& planes : targets) planes.download(stream);
  assert_ok(stream.drain());
  const TestScratch scratch(recolorer->scratch_bytes());
  for (int i = 0; i < count; i++) {
    targets[static_cast<size_t>(i)].give_back();
    ColorPicture want(to);
    RecolorOutput out = want.output();
    for (int p = 0; p < 3; p++)
      if (!(wanted >> p & 1)) out.data[p] = nullptr;
    recolorer->plain(in[static_cast<size_t>(i)].picture(), out, {0, from.h}, scratch.get());
    ck_assert_msg(got[static_cast<size_t>(i)] == want,
                  "%dx%d, %d to %d bits, chroma %d to %d, transfer %d to %d, picture %d of %d", from.w, from.h,
                  from.bpc, to.bpc, static_cast<int>(from.chroma), static_cast<int>(to.chroma), from.color.transfer,
                  to.color.transfer, i, count);
  }
}

}  // namespace

START_TEST(kernel_equals_plain) {
  const hip::OpenedDevice device = open_test_device();
  /* VMAFX_TEST_CASES=smallest: for devices that are slow. */
  const int step = std::getenv("VMAFX_TEST_CASES") ? 3 : 1;
  int number = 0;
  for_each_conversion([&](const VideoFormat& from, const VideoFormat& to) {
    if (number++ % step == 0) check_kernel(device, from, to);
  });
}
END_TEST

/* Sizes around those of a tile, and what users ask for. */
START_TEST(tiles) {
  const hip::OpenedDevice device = open_test_device();
  for (const auto& [w, h] : {std::pair{63, 15}, {64, 16}, {65, 17}, {66, 18}, {129, 33}}) {
    check_kernel(device, format_of(kPq, w, h, 10, Chroma::k420), format_of(kBt709, w, h, 8, Chroma::k420));
    check_kernel(device, format_of(kHlg, w, h, 10, Chroma::k420), format_of(kPq, w, h, 10, Chroma::k422));
  }
  check_kernel(device, format_of(kP3, 65, 17, 12, Chroma::k444), format_of(kPq, 65, 17, 16, Chroma::k420));
  check_kernel(device, format_of(kPq, 65, 17, 10, Chroma::k420), format_of(kIctcpOfPq, 65, 17, 12, Chroma::k444), 1,
               kAllPlanes, {.white = 100, .maps_tones = false});
}
END_TEST

START_TEST(pictures_and_planes) {
  const hip::OpenedDevice device = open_test_device();
  const VideoFormat from = format_of(kPq, 33, 9, 10, Chroma::k420), to = format_of(kBt709, 33, 9, 8, Chroma::k420);
  check_kernel(device, from, to, kMostRecolored + 1);
  for (const unsigned wanted : {1u, 2u, 5u, 6u}) check_kernel(device, from, to, 2, wanted);
}
END_TEST

int main() {
  return run_suite_on_device(
      "recolor_hip",
      {{"kernel_equals_plain", kernel_equals_plain}, {"tiles", tiles}, {"pictures_and_planes", pictures_and_planes}});
}
