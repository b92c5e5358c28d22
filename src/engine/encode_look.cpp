#include "engine/encode_look.h"

#include <cstring>
#include <optional>
#include <utility>

#include "base/cpu.h"

namespace vmafx {
namespace {

constexpr unsigned kChromaPlanes = 6;

InputFormat chroma_of(InputFormat format) {
  format.planes_read = format.scored.planes() > 1 ? kChromaPlanes : 0;
  return format;
}

/* The picture without its release callback: somebody else holds it. */
OwnedPicture borrow(VmafxPicture picture) {
  picture.release = nullptr;
  return OwnedPicture(picture);
}

bool has_samples(const Picture& picture) { return picture.plane[1].data && picture.plane[2].data; }

bool has_size(const Picture& picture) { return picture.plane[1].w > 0 && picture.plane[1].h > 0; }

}  // namespace

EncodeLook::EncodeLook(LookThread& thread, size_t extractor, const VideoFormat& format, const InputFormat& ref,
                       const InputFormat& dist)
    : thread_(thread), extractor_(extractor), ref_reader_(chroma_of(ref)), dist_reader_(chroma_of(dist)),
      look_(format) {}

/* False: the picture has no chroma in host memory. */
bool EncodeLook::sum_chroma(HostReader& reader, HeldPicture& held, Cells& cells) const {
  const HostPicture* const host = held.in_host();
  const InputFormat& format = reader.format();
  if (!host || !format.planes_read) return false;
  Picture seen = host->cropped;
  std::optional<HostPicture> read;  // holds samples that are copied
  if (!has_samples(seen)) {
    const VmafxPicture& picture = *host->memory;
    if (!picture.data[format.plane[1].source] || !picture.data[format.plane[2].source]) return false;
    auto planar = reader.read(borrow(picture));
    if (!planar.ok()) return false;
    seen = read.emplace(std::move(planar.value())).cropped;
  }
  if (!has_size(seen)) return false;
  const auto sum = use_plain_cpu() ? signature_chroma_plain : signature_chroma_simd;
  for (int p = 1; p < 3; p++) sum(seen.plane[p], seen.bpc, cells[p - 1]);
  return true;
}

void EncodeLook::meet(int64_t number, HeldPicture& ref, HeldPicture& dist) {
  if (!has_detail(number)) return;
  Chroma chroma{.number = number, .ref = {}, .dist = {}};
  if (sum_chroma(ref_reader_, ref, chroma.ref) && sum_chroma(dist_reader_, dist, chroma.dist))
    chroma_.push_back(chroma);
}

void EncodeLook::add(int64_t number, const FinishedFrame& finished) {
  const std::byte* const sums = finished.sums[extractor_];
  if (!sums) return;
  const auto& of_luma = *reinterpret_cast<const SignatureSums*>(sums);
  SignatureSums& pair = thread_.next();
  if (has_detail(number)) {
    pair = of_luma;
  } else {
    std::memcpy(pair.ref.luma, of_luma.ref.luma, sizeof pair.ref.luma);
    std::memcpy(pair.dist.luma, of_luma.dist.luma, sizeof pair.dist.luma);
  }
  if (!chroma_.empty() && chroma_.front().number == number) {
    std::memcpy(pair.ref.chroma, chroma_.front().ref, sizeof(Cells));
    std::memcpy(pair.dist.chroma, chroma_.front().dist, sizeof(Cells));
    chroma_.pop_front();
  }
  thread_.add(look_, number);
}

Status EncodeLook::finish() {
  VMAFX_TRY(thread_.drain());
  for (look::Finding& finding : look_.finish()) findings_.emplace_back(std::move(finding));
  return {};
}

}  // namespace vmafx
