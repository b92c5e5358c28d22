#include "engine/look/look.h"

#include <algorithm>

#include "engine/look/cell_means.h"
#include "engine/look/chroma_place.h"
#include "engine/look/geometry.h"
#include "engine/look/levels.h"
#include "engine/look/lost_field.h"
#include "engine/look/settle.h"
#include "engine/look/structure.h"
#include "engine/look/timing.h"

namespace vmafx::look {

/* The parts of the look, in the order of their kinds. Each has a constructor of the format, add() and finish(), but for
 * the lost field: that is looked for with what chroma's place knows, where no part has found anything of fields. */
class Look::Parts {
 public:
  explicit Parts(const VideoFormat& format)
      : cells_(format), timing_(format), geometry_(format), levels_(format), chroma_place_(format), structure_(format) {
  }

  void add(int64_t frame, const SignatureSums& sums) {
    if (first_ < 0) first_ = frame;
    last_ = frame;
    cells_.pair(sums, means_);
    breaks_.add(frame, means_);
    timing_.add(frame, sums);
    geometry_.add(frame, sums, means_);
    levels_.add(frame, sums, means_);
    chroma_place_.add(frame, sums);
    structure_.add(frame, sums, means_);
    lost_field_.add(frame, sums);
  }

  void finish(std::vector<Finding>* findings) {
    timing_.finish(findings);
    for (const std::vector<Finding>& found :
         {geometry_.finish(), levels_.finish(), chroma_place_.finish(), structure_.finish()})
      findings->insert(findings->end(), found.begin(), found.end());
    for (Finding& found : *findings) place(found);
    const auto told = std::ranges::stable_partition(*findings, &Finding::brief).begin();
    brief_.assign(findings->begin(), told);
    findings->erase(findings->begin(), told);
    settle_colors(findings);
    const auto of_fields = [](const Finding& found) { return found.kind >= Kind::kCombed; };
    if (std::ranges::any_of(*findings, of_fields)) return;
    const auto found = lost_field_.find(chroma_place_.luma(ChromaPlace::kX), chroma_place_.luma(ChromaPlace::kY),
                                        chroma_place_.chroma(ChromaPlace::kY));
    if (found) findings->push_back(*found);
  }

  const Breaks& breaks() const { return breaks_; }
  const std::vector<Finding>& brief() const { return brief_; }

 private:
  /* Colors of pictures that may be others are not sure to be changed. Where an encode stands still, its samples are
   * those of what was there some time ago: only what all of them have in common tells. */
  void settle_colors(std::vector<Finding>* findings) const {
    std::erase_if(*findings, [&](const Finding& found) {
      const bool of_all = found.kind == Kind::kChromaSwapped || found.kind == Kind::kGray;
      const bool of_places = is_level(found.kind) && !of_all && found.certainty != Certainty::kSure;
      return of_places && geometry_.stands_still({found.from, found.end});
    });
    for (Finding& found : *findings) {
      const Pairs pairs{found.from, found.end};
      if (is_level(found.kind) && (geometry_.stands_still(pairs) || !geometry_.belong(pairs)))
        found.certainty = std::min(found.certainty, Certainty::kLikely);
    }
  }

  /* Findings of a part of the stream begin and end with chapters: breaks near there are where they do. */
  void place(Finding& found) const {
    if (!breaks_show(found.kind)) return;
    const int64_t near = geometry_.chapter_length();
    const auto placed = [&](int64_t at) { return breaks_.largest(at - near, at + near).value_or(at); };
    const int64_t from = found.from > first_ ? placed(found.from) : found.from;
    const int64_t end = found.end <= last_ ? placed(found.end) : found.end;
    if (from < end) found.from = from, found.end = end;
  }

  int64_t first_ = -1, last_ = -1;
  CellMeans cells_;
  Breaks breaks_;
  std::vector<Finding> brief_;
  PairMeans means_;  // of the pair that is added
  Timing timing_;
  Geometry geometry_;
  Levels levels_;
  ChromaPlace chroma_place_;
  Structure structure_;
  LostField lost_field_;
};

Look::Look(const VideoFormat& format) : parts_(std::make_unique<Parts>(format)) {}

Look::~Look() = default;

const Breaks& Look::breaks() const { return parts_->breaks(); }

const std::vector<Finding>& Look::brief() const { return parts_->brief(); }

void Look::add(int64_t frame, const SignatureSums& sums) { parts_->add(frame, sums); }

std::vector<Finding> Look::finish() { return findings_of(*parts_); }

std::vector<Finding> Look::so_far() const {
  Parts copy(*parts_);
  return findings_of(copy);
}

std::vector<Finding> Look::findings_of(Parts& parts) {
  std::vector<Finding> findings;
  parts.finish(&findings);
  settle(&findings);
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.from < b.from;
  });
  return findings;
}

}  // namespace vmafx::look
