#include "bench/device_session.h"

#include <cstdio>
#include <vector>

#include "bench/clip.h"
#include "bench/die.h"
#include "tests/support/params.h"

namespace bench {

using namespace vmafx;

namespace {

void print_message(void*, VmafxLogLevel level, const char* message) {
  if (level <= VMAFX_LOG_WARNING) std::fprintf(stderr, "bench/device: %s\n", message);
}

void need(int ret, const char* call) {
  if (ret < 0) die(std::string(call) + " failed");
}

VmafxContext* open_session(const std::string& row, test::Params params, const VmafxFormat& format,
                           const VmafxKeptReference* against = nullptr) {
  const std::string models = model_option(row);
  params.model = models.c_str();
  params.backend = "hip";
  params.log = print_message;
  VmafxContext* context = nullptr;
  need(test::open_context(&context, params), "vmafx_open");
  const std::vector<VmafxFormat> dist(static_cast<size_t>(params.encodes), format);
  need(against ? vmafx_configure_against(context, against, dist.data(), params.encodes)
               : vmafx_configure(context, &format, &format),
       "vmafx_configure");
  return context;
}

}  // namespace

bool takes_device_memory(const hip::OpenedDevice& device) { return device.context->native(); }

DeviceSession::DeviceSession(const std::string& model, const DeviceFrames& frames, const hip::OpenedDevice& device,
                             const Kind& kind)
    : frames_(frames), memory_(kind.memory), encodes_(kind.encodes) {
  test::Params params;
  params.encodes = kind.encodes;
  params.check = kind.check;
  params.result_maps = kind.maps;
  if (takes_device_memory(device) && !kind.stays) {
    params.device_platform = VMAFX_PLATFORM_CUDA;
    params.device_context = device.context->native();
  }
  VmafxFormat format = {};
  format.width = frames.format().w;
  format.height = frames.format().h;
  format.chroma = VMAFX_CHROMA_420;
  format.bits = frames.format().bpc;
  format.memory = kind.memory;
  format.drm_fd = -1;
  format.spare_pictures = UINT64_MAX;  // they come again unchanged
  if (kind.stays) {
    const VmafxKeptReferenceParams plenty{.device_budget = uint64_t{1} << 40};
    need(vmafx_kept_reference_open(&reference_, &format, &plenty), "vmafx_kept_reference_open");
    for (int i = 0; i < frames.count(); i++) {
      const VmafxPicture ref = picture(hip::Side::kRef, i);
      need(vmafx_kept_reference_add(reference_, &ref), "vmafx_kept_reference_add");
    }
  }
  context_ = open_session(model, params, format, reference_);
}

VmafxPicture DeviceSession::picture(hip::Side side, int64_t frame) const {
  VmafxPicture picture = {};
  const Picture host = frames_.picture(side, frame);
  for (int p = 0; p < 3; p++) {
    const uint64_t address = frames_.device_plane(side, frame, p).data.address();
    picture.data[p] = memory_ == VMAFX_MEMORY_DEVICE ? reinterpret_cast<const uint8_t*>(address)
                                                     : static_cast<const uint8_t*>(host.plane[p].data);
    picture.stride[p] = host.plane[p].stride;
  }
  return picture;
}

void DeviceSession::submit() {
  VmafxPicture dist[VMAFX_MOST_ENCODES];
  const VmafxPicture* given[VMAFX_MOST_ENCODES];
  for (int i = 0; i < encodes_; i++) {
    dist[i] = picture(hip::Side::kDist, submitted_ + i);
    given[i] = &dist[i];
  }
  if (reference_) {
    need(vmafx_submit_against(context_, submitted_ % frames_.count(), given, encodes_), "vmafx_submit_against");
  } else {
    const VmafxPicture ref = picture(hip::Side::kRef, submitted_);
    need(vmafx_submit_encodes(context_, &ref, given, encodes_), "vmafx_submit_encodes");
  }
  submitted_++;
}

void DeviceSession::receive(bool wait) {
  VmafxFrameResult result;
  while ((wait ? vmafx_receive_wait(context_, &result) : vmafx_receive(context_, &result)) == 0) received_++;
}

Pace DeviceSession::pace(double milliseconds) {
  constexpr int kWarmUp = 64;  // frames
  for (int i = 0; i < kWarmUp; i++) submit();
  receive(true);
  const int64_t before = received_;
  const Stopwatch wall(false), cpu(true);
  while (wall.elapsed() < milliseconds) {
    submit();
    receive(false);
  }
  receive(true);
  const double frames = static_cast<double>(received_ - before);
  return {wall.elapsed() * 1e3 / frames, cpu.elapsed() * 1e3 / frames};
}

double first_score(const std::string& model, const std::string& device, Size size) {
  constexpr int kFrames = 2;  // motion looks one ahead
  const ClipFormat clip = {.w = size.w, .h = size.h, .bits = 8, .frames = kFrames};
  const Clip ref = Clip::reference(clip), dist = Clip::distorted(clip);
  const Stopwatch stopwatch(false);
  test::Params params;
  params.device = device.c_str();
  VmafxContext* context = open_session(model, params, {size.w, size.h, VMAFX_CHROMA_420, 8});
  for (int i = 0; i < kFrames; i++) {
    const VmafxPicture ref_picture = ref.picture(i), dist_picture = dist.picture(i);
    need(vmafx_submit(context, &ref_picture, &dist_picture), "vmafx_submit");
  }
  VmafxFrameResult result;
  need(vmafx_receive_wait(context, &result), "vmafx_receive_wait");
  const double time = stopwatch.elapsed();
  vmafx_close(&context);
  return time;
}

}  // namespace bench
