/* Plan: where metrics run, which of them share the making of raw sums, and their extractors. */
#include <algorithm>
#include <cerrno>

#include "engine/plan.h"
#include "engine/plan_errors.h"

namespace vmafx {
namespace {

/* Fails with the reason why the CPU must run this metric, although it has kernels. */
Status fits_device(const PlannedExtractor& planned, const VideoFormat& format) {
  return planned.info->fits_device ? planned.info->fits_device(planned.options, format) : Status();
}

std::string kept_by_cpu(const PlannedExtractor& planned, const Status& reason) {
  return format_text("%s runs on the CPU: %s", planned.info->name, reason.message().c_str());
}

/* The planes of both pictures that a metric reads, as a mask. */
unsigned common_planes(const Extractor& extractor) { return extractor.reads().ref & extractor.reads().dist; }

}  // namespace

Status choose_placement(PlannedExtractor& planned, const VideoFormat& format, Log& log) {
  if (planned.placement == Placement::kCpu) return {};
  const Status fits = fits_device(planned, format);
  if (fits.ok()) return {};
  if (planned.device_only) return no_extractor(name_of(planned), fits.message());
  log.info(kept_by_cpu(planned, fits));
  planned.placement = Placement::kCpu;
  return {};
}

/* -- Sharing ------------------------------------------------------------------------------------------------------- */

void Plan::share_extractions() {
  for (size_t i = 0; i < extractors_.size(); i++) {
    if (extractors_[i].looks) continue;
    auto extraction = std::ranges::find_if(extractions_, [&](PlannedExtraction& other) { return join(other, i); });
    if (extraction == extractions_.end())
      extraction = extractions_.insert(extraction, PlannedExtraction{.of = {i}, .variants = {i}, .shared = nullptr});
    extractors_[i].extraction = static_cast<size_t>(extraction - extractions_.begin());
  }
}

/* Has an extractor take part in an extraction; false: it cannot. */
bool Plan::join(PlannedExtraction& extraction, size_t i) const {
  const PlannedExtractor &first = extractors_[extraction.of.front()], &planned = extractors_[i];
  if (planned.info != first.info || planned.placement != first.placement) return false;
  if (first.options.write() || planned.options.write()) return false;
  if (!first.options.equal_before(OptionStage::kLate, planned.options)) return false;
  if (variant_of(extraction, planned) == extraction.variants.size()) {
    if (!planned.info->create_shared || extraction.variants.size() == kMostVariants) return false;
    if (planned.needs_mapping()) return false;
    extraction.variants.push_back(i);
  }
  extraction.of.push_back(i);
  return true;
}

/* The variant whose sums an extractor has; their number: none. */
size_t Plan::variant_of(const PlannedExtraction& extraction, const PlannedExtractor& planned) const {
  const auto same_sums = [&](size_t variant) {
    return extractors_[variant].options.equal_before(OptionStage::kScores, planned.options);
  };
  return static_cast<size_t>(std::ranges::find_if(extraction.variants, same_sums) - extraction.variants.begin());
}

std::string Plan::key(const PlannedExtraction& extraction) const {
  std::string key;
  for (const size_t variant : extraction.variants) key += (key.empty() ? "" : "\n") + extractors_[variant].key();
  return key;
}

/* -- Making -------------------------------------------------------------------------------------------------------- */

Status Plan::make_extractor(PlannedExtractor& planned, const VideoFormat& format, int encodes, Placement placement) {
  for (const OptionInfo& option : planned.info->options)
    if (option.writes && encodes > 1 && planned.given.contains(option.name))
      return error(EINVAL, "%s of %s writes files of one encode, and there are %d: score that encode alone",
                   option.name, planned.info->name, encodes);
  auto made = planned.info->create(planned.options, planned.info->seen(format), placement);
  if (!made.ok()) return no_extractor(name_of(planned), made.status().message());
  planned.extractor = std::move(made.value());
  return {};
}

/* The extractor of several variants. */
StatusOr<std::unique_ptr<Extractor>> Plan::make_shared(const PlannedExtraction& extraction, const VideoFormat& format,
                                                       Placement placement) const {
  std::vector<Options> variants;
  for (const size_t variant : extraction.variants) variants.push_back(extractors_[variant].options);
  const ExtractorInfo& info = *extractors_[extraction.of.front()].info;
  return info.create_shared(variants, info.seen(format), placement);
}

/* Extractors whose sums another one makes need no kernels. */
Status Plan::make_extractors(PlannedExtraction& extraction, const VideoFormat& format, int encodes) {
  const bool several = extraction.variants.size() > 1;
  const PlannedExtractor& first = extractors_[extraction.of.front()];
  for (const size_t i : extraction.of) {
    PlannedExtractor& planned = extractors_[i];
    const bool makes_sums = &planned == &first && !several && !first.needs_mapping();
    VMAFX_TRY(make_extractor(planned, format, encodes, makes_sums ? planned.placement : Placement::kCpu));
  }
  if (first.needs_mapping()) {
    auto mapping = first.info->create_mapping(first.options, first.info->seen(format), first.placement);
    if (!mapping.ok()) return no_extractor(name_of(first), mapping.status().message());
    extraction.shared = std::move(mapping.value());
  }
  if (!several) return {};
  auto shared = make_shared(extraction, format, first.placement);
  if (!shared.ok()) return no_extractor(name_of(first), shared.status().message());
  extraction.shared = std::move(shared.value());
  for (const size_t i : extraction.of)
    extractors_[i].sums_offset = extraction.shared->sums_offset(variant_of(extraction, extractors_[i]));
  return {};
}

/* -- The look ------------------------------------------------------------------------------------------------------ */

/* A video's format without chroma, where the look must do without these planes. */
VideoFormat Plan::seen_by_look(VideoFormat format, unsigned planes) {
  if ((planes & 6) != 6) format.chroma = Chroma::k400;
  return format;
}

/* The planes that metrics read of both pictures, at any place or on the device. */
unsigned Plan::planes_of_both(bool on_device) const {
  unsigned planes = 0;
  for (const PlannedExtractor& planned : extractors_)
    if (!planned.looks && (!on_device || planned.placement == Placement::kDevice))
      planes |= common_planes(*planned.extractor);
  return planes;
}

/* Makes the signatures where metrics read the pictures already: for the look alone no plane is needed, and none is
 * taken to a GPU. */
Status Plan::settle_look(const VideoFormat& format, Log& log) {
  if (!looks()) return {};
  if (!(planes_of_both(false) & 1)) {
    extractors_.pop_back();
    return {};
  }
  PlannedExtractor& signature = extractors_.back();
  if (!(planes_of_both(true) & 1)) signature.placement = Placement::kCpu;
  VMAFX_TRY(choose_placement(signature, format, log));
  const bool on_device = signature.placement == Placement::kDevice;
  VMAFX_TRY(make_extractor(signature, seen_by_look(format, on_device ? planes_of_both(true) : planes_read()), 1,
                           signature.placement));
  const size_t place = extractors_.size() - 1;
  signature.extraction = extractions_.size();
  extractions_.push_back({.of = {place}, .variants = {place}, .shared = nullptr});
  return {};
}

/* -- A GPU that joins ---------------------------------------------------------------------------------------------- */

/* The extractor that makes an extraction's sums on a device; null: the CPU keeps it, for the reason added to `kept`. */
StatusOr<std::unique_ptr<Extractor>> Plan::make_device_extractor(const PlannedExtraction& extraction,
                                                                 const VideoFormat& format,
                                                                 std::vector<std::string>& kept) const {
  for (const size_t i : extraction.of)
    if (const Status fits = fits_device(extractors_[i], format); !fits.ok()) {
      kept.push_back(kept_by_cpu(extractors_[i], fits));
      return std::unique_ptr<Extractor>();
    }
  const PlannedExtractor& first = extractors_[extraction.of.front()];
  if (first.needs_mapping())
    return first.info->create_mapping(first.options, first.info->seen(format), Placement::kDevice);
  if (extraction.shared) return make_shared(extraction, format, Placement::kDevice);
  return first.info->create(first.options, first.info->seen(format), Placement::kDevice);
}

StatusOr<DeviceExtractors> Plan::make_device_extractors(const VideoFormat& format) const {
  DeviceExtractors made;
  unsigned on_device = 0;
  for (const PlannedExtraction& extraction : extractions_) {
    const PlannedExtractor& first = extractors_[extraction.of.front()];
    made.of_plan.emplace_back();
    if (!(first.info->flags & kHip) || (first.looks && !(on_device & 1))) continue;
    const VideoFormat seen = first.looks ? seen_by_look(format, on_device) : format;
    VMAFX_ASSIGN(made.of_plan.back(), make_device_extractor(extraction, seen, made.kept));
    if (made.of_plan.back()) on_device |= common_planes(*made.of_plan.back());
  }
  return made;
}

}  // namespace vmafx
