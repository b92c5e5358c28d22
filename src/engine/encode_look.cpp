#include "engine/encode_look.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "base/cpu.h"
#include "engine/look/words.h"

namespace vmafx {
namespace {

constexpr unsigned kChromaPlanes = 6;

/* Early doubts cost a search in all pairs so far: it is done again after an eighth of them, and at least after so many
 * groups of kDetailPeriod pairs. */
constexpr int64_t kSeenAgain = 8, kLongestUnseen = 16;

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

double in_millionths(double value) { return std::round(value * 1e6) / 1e6; }

}  // namespace

EncodeLook::EncodeLook(LookThread& thread, size_t extractor, const VideoFormat& format, const InputFormat& ref,
                       const InputFormat& dist)
    : thread_(thread), extractor_(extractor), ref_reader_(chroma_of(ref)), dist_reader_(chroma_of(dist)),
      look_(format) {}

/* False: the picture has no chroma in host memory. */
bool EncodeLook::sum_chroma(HostReader& reader, HeldPicture& held, ChromaSums& sums) const {
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
  const auto sum_cells = use_plain_cpu() ? signature_chroma_plain : signature_chroma_simd;
  const auto sum_profiles = use_plain_cpu() ? signature_chroma_profiles_plain : signature_chroma_profiles_simd;
  for (int p = 1; p < 3; p++) {
    sum_cells(seen.plane[p], seen.bpc, sums.cells[p - 1]);
    sum_profiles(seen.plane[p], seen.bpc, sums.profiles[p - 1]);
  }
  return true;
}

void EncodeLook::meet(int64_t number, HeldPicture& ref, HeldPicture& dist) {
  if (!has_detail(number)) return;
  Chroma chroma{.number = number, .ref = {}, .dist = {}};
  if (sum_chroma(ref_reader_, ref, chroma.ref) && sum_chroma(dist_reader_, dist, chroma.dist))
    chroma_.push_back(chroma);
}

Status EncodeLook::add(int64_t number, const FinishedFrame& finished) {
  newly_sure_.clear();
  add_sums(number, finished);
  if (!tells_early_ || !has_detail(number + 1) || ++groups_ < next_seen_) return {};
  VMAFX_TRY(thread_.drain());
  see_so_far(number + 1);
  next_seen_ = groups_ + std::clamp<int64_t>(groups_ / kSeenAgain, 1, kLongestUnseen);
  return {};
}

void EncodeLook::put(const ChromaSums& sums, PictureSignature& picture) {
  std::memcpy(picture.chroma, sums.cells, sizeof sums.cells);
  std::memcpy(picture.chroma_profiles, sums.profiles, sizeof sums.profiles);
}

void EncodeLook::add_sums(int64_t number, const FinishedFrame& finished) {
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
    put(chroma_.front().ref, pair.ref);
    put(chroma_.front().dist, pair.dist);
    chroma_.pop_front();
  }
  thread_.add(look_, number);
}

/* Keeps what is sure by the pairs before `end` and goes on there; nothing is kept where the kinds stay the same. */
void EncodeLook::see_so_far(int64_t end) {
  std::vector<look::ToldFinding> sure;
  for (look::Finding& finding : look_.so_far()) {
    look::ToldFinding told(std::move(finding));
    const bool goes_on = told.finding().end > end - kDetailPeriod;
    if (!told.is_doubt() || told.finding().certainty != look::Certainty::kSure) continue;
    if (told_.insert(told.finding().kind).second) newly_sure_.emplace_back(told.finding());
    if (goes_on) sure.push_back(std::move(told));
  }
  const auto kind_of = [](const look::ToldFinding& told) { return told.finding().kind; };
  const bool is_known =
      sure_.empty() ? sure.empty() : std::ranges::equal(sure, sure_.back().findings, {}, kind_of, kind_of);
  if (!is_known) sure_.push_back({end, std::move(sure)});
}

std::span<const look::ToldFinding> EncodeLook::sure_before(int64_t number) const {
  const auto later = std::ranges::upper_bound(sure_, number, {}, &Sure::from);
  if (later == sure_.begin()) return {};
  return std::prev(later)->findings;
}

void EncodeLook::forget_before(int64_t number) {
  while (sure_.size() > 1 && sure_[1].from <= number) sure_.pop_front();
}

Status EncodeLook::finish() {
  VMAFX_TRY(thread_.drain());
  for (look::Finding& finding : look_.finish()) findings_.emplace_back(std::move(finding));
  return {};
}

Json EncodeLook::range_facts() const {
  Json breaks = Json::array(), ends = Json::array();
  for (const look::Break& found : look_.breaks().all())
    breaks.add(Json::object({{"pair", found.frame}, {"size", in_millionths(found.size)}}));
  for (const look::PairFit& fit : look_.breaks().ends())
    ends.add(Json::object({{"pair", fit.frame},
                           {"gain", in_millionths(fit.gain)},
                           {"offset", in_millionths(fit.offset)},
                           {"left", in_millionths(fit.left)}}));
  Json brief = Json::array();
  for (const look::Finding& found : look_.brief()) brief.add(doubt_json(look::in_words(found)));
  return Json::object({{"breaks", std::move(breaks)}, {"ends", std::move(ends)}, {"brief", std::move(brief)}});
}

}  // namespace vmafx
