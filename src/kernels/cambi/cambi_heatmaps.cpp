#include "kernels/cambi/cambi_heatmaps.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace vmafx {
namespace {

constexpr int kMostSample = 65535;

/* 0 or the errno of the part that cannot be made. */
int make_folders(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    if (mkdir(path.substr(0, end).c_str(), 0770) != 0 && errno != EEXIST) return errno;
    if (end == std::string::npos) return 0;
  }
}

float c_of(int32_t key) { return key ? std::bit_cast<float>(static_cast<uint32_t>(key) + kCambiNoKey) : 0; }

int write_all(int descriptor, const void* data, size_t bytes, off_t at) {
  for (const char* from = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t written = pwrite(descriptor, from, bytes, at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    from += written;
    at += written;
    bytes -= static_cast<size_t>(written);
  }
  return 0;
}

}  // namespace

StatusOr<std::unique_ptr<CambiHeatmaps>> CambiHeatmaps::create(WritePath path, const CambiParams& params,
                                                               const CambiView& view) {
  const std::string folder(path);
  std::unique_ptr<CambiHeatmaps> maps(new CambiHeatmaps);
  if (const int failed = make_folders(folder))
    return error(failed, "heatmaps_path=%s: the folder cannot be made: %s", folder.c_str(), std::strerror(failed));
  const int samples = view.window * view.window;
  const int most = std::max(1, static_cast<int>(kCambiWeights[params.levels.diffs - 1]) * samples / 4);
  maps->scale_ = static_cast<double>(kMostSample) / most;
  for (int scale = 0; scale < kCambiScales; scale++) {
    File& file = maps->files_[scale];
    const int w = view.scale_w(params, scale);
    file.h = view.scale_h(params, scale);
    file.path = folder + format_text("/cambi_heatmap_scale_%d_%dx%d_16b.gray", scale, w, file.h);
    file.descriptor = open(file.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file.descriptor < 0)
      return error(errno, "heatmaps_path: %s cannot be written: %s", file.path.c_str(), std::strerror(errno));
  }
  return maps;
}

CambiHeatmaps::~CambiHeatmaps() { close().ok(); }

void CambiHeatmaps::put(int64_t frame, int scale, int y, std::span<const int32_t> keys) {
  std::vector<uint16_t> samples;
  for (const int32_t key : keys)
    samples.push_back(static_cast<uint16_t>(std::min<double>(scale_ * c_of(key), kMostSample)));
  const size_t bytes = samples.size() * sizeof(uint16_t);
  const off_t at = (frame * files_[scale].h + y) * static_cast<off_t>(bytes);
  if (const int failed = write_all(files_[scale].descriptor, samples.data(), bytes, at)) fail(scale, failed);
}

void CambiHeatmaps::fail(int scale, int errno_value) {
  const std::lock_guard lock(mutex_);
  if (failure_.ok())
    failure_ =
        error(errno_value, "cambi: writing %s failed: %s", files_[scale].path.c_str(), std::strerror(errno_value));
}

Status CambiHeatmaps::close() {
  for (int scale = 0; scale < kCambiScales; scale++) {
    int& descriptor = files_[scale].descriptor;
    if (descriptor >= 0 && ::close(descriptor) != 0) fail(scale, errno);
    descriptor = -1;
  }
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace vmafx
