/* Finding: what the look saw in the pictures of an encode and its reference that tags and times do not say. Findings
 * are data; engine/look/words.h renders them. */
#ifndef VMAFX_ENGINE_LOOK_FINDING_H
#define VMAFX_ENGINE_LOOK_FINDING_H

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vmafx::look {

/* The kinds of findings, by what is compared. The reference is right by definition: a finding says what the distorted
 * pictures are, seen from it. */
enum class Kind {
  /* Time: how frames of the encode belong to frames of the reference. */
  kOffset,         // all frames show a neighbour: evidence "frames" says how many later (+) or earlier (-)
  kDropped,        // frames of the reference are missing from `from` on: "frames" says how many
  kDoubled,        // frames are shown twice, or added: "frames"
  kFrozen,         // the encode stands still while the reference moves, `from` to `end`
  kCadence,        // frames are repeated or left out in a pattern: "repeated", "of" frames (3:2 pulldown, 24 of 25)
  kBlended,        // frames are mixtures of two neighbours, as conversions of frame rates make them
  kSwapped,        // neighbours are in the other order
  kOtherPictures,  // no neighbour fits: the streams show something else

  /* Geometry. */
  kMirrored,  // left and right are exchanged
  kFlipped,   // top and bottom are exchanged
  kRotated,   // "degrees": 90, 180, 270 clockwise; with kMirrored, too: the mirrored picture was rotated
  kCropped,   // the encode shows a part: "left", "top", "right", "bottom": samples of the reference that it lacks
  kPadded,    // the encode has borders that the reference lacks: "left", "top", "right", "bottom", in its samples
  kScaled,    // it was scaled to another part of the picture: "x", "y": its scale against the reference's
  kShifted,   // "x", "y": samples that it lies further right and down
  kBars,      // both have black borders: the active area; a note, no doubt

  /* Levels. */
  kRange,          // "gain" near 255/219 or 219/255: limited and full range are mistaken
  kMatrix,         // chroma and luma fit through another matrix: "from", "to" are H.273 code points
  kPrimaries,      // as far as the fit tells
  kTransfer,       // luma follows another curve: PQ, HLG, gamma
  kBrightness,     // "gain", "offset": luma that was changed on purpose or by mistake. "range_error": so few levels
                   // at most from what kRange would be, where that is not excluded
  kChromaSwapped,  // Cb and Cr are exchanged
  kChromaShifted,  // the place of chroma samples differs
  kGray,           // a plane of the encode has no detail where the reference has: "plane"

  /* Structure. */
  kCombed,  // the encode is combed and the reference is not
  kReferenceCombed,
  kFieldOrder,     // its fields come in the other order
  kFieldsDropped,  // it has one of the reference's fields only
};

inline bool is_geometry(Kind kind) { return kind >= Kind::kMirrored && kind <= Kind::kShifted; }
inline bool is_level(Kind kind) { return kind >= Kind::kRange && kind <= Kind::kGray; }

/* Whether breaks, which luma alone shows, tell where such a finding begins and ends. */
inline bool breaks_show(Kind kind) {
  const bool of_chroma = kind == Kind::kMatrix || (kind >= Kind::kChromaSwapped && kind <= Kind::kGray);
  return kind >= Kind::kMirrored && !of_chroma;
}

/* How sure a finding is. Never wrong where it is kSure. */
enum class Certainty { kPossible, kLikely, kSure };

struct Finding {
  Kind kind = Kind::kOffset;
  Certainty certainty = Certainty::kPossible;
  int64_t from = 0, end = 0;                               // pairs that are concerned: from .. end-1
  std::vector<std::pair<std::string, double>> evidence{};  // numbers by name, as Kind says; "fit" and the like besides
  bool brief = false;  // at an end of a part of a stream: too few pairs, unless the neighboring part goes on with it

  /* Whether there is evidence of this name. */
  bool has(std::string_view name) const {
    return std::ranges::any_of(evidence, [&](const auto& number) { return number.first == name; });
  }

  /* The evidence of this name, or `otherwise` if there is none. */
  double value(std::string_view name, double otherwise = 0) const {
    for (const auto& [known, number] : evidence)
      if (known == name) return number;
    return otherwise;
  }
};

}  // namespace vmafx::look

#endif
