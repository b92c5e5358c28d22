#include "engine/colour.h"

namespace vmafx {
namespace {

constexpr int kBt709 = 1, kBt601 = 6;  // code points of matrices
constexpr int kMostRowsOfSd = 576;

int code_point(int given) { return given > 0 ? given : Colour::kUnspecified; }

/* An enumerator, or the first one for a number that is none. */
template <class Enum>
Enum enumerator(int given, Enum last) {
  return given < 0 || given > static_cast<int>(last) ? Enum{} : static_cast<Enum>(given);
}

template <class Field>
Field common(Field ref, Field dist, Field open, const char* name, std::string* differ) {
  if (ref != open && dist != open && ref != dist) *differ += (differ->empty() ? "" : ", ") + std::string(name);
  return ref == open ? dist : ref;
}

}  // namespace

Colour described_colour(const VmafxColour& colour) {
  return {.matrix = code_point(colour.matrix),
          .transfer = code_point(colour.transfer),
          .primaries = code_point(colour.primaries),
          .range = enumerator(colour.range, Colour::Range::kFull),
          .chroma_location = enumerator(colour.chroma_location, Colour::ChromaLocation::kBottom)};
}

Colour common_colour(const Colour& ref, const Colour& dist, std::string* differ) {
  const Colour open;
  Colour both;
  both.range = common(ref.range, dist.range, open.range, "range", differ);
  both.matrix = common(ref.matrix, dist.matrix, open.matrix, "matrix", differ);
  both.transfer = common(ref.transfer, dist.transfer, open.transfer, "transfer", differ);
  both.primaries = common(ref.primaries, dist.primaries, open.primaries, "primaries", differ);
  both.chroma_location =
      common(ref.chroma_location, dist.chroma_location, open.chroma_location, "chroma location", differ);
  return both;
}

std::string assume_colour(VideoFormat& format) {
  std::string assumed;
  Colour& colour = format.colour;
  if (colour.matrix == Colour::kUnspecified) {
    const bool hd = format.h > kMostRowsOfSd;
    colour.matrix = hd ? kBt709 : kBt601;
    assumed = hd ? "the matrix of BT.709" : "the matrix of BT.601";
  }
  if (colour.range == Colour::Range::kUnspecified) {
    colour.range = Colour::Range::kLimited;
    assumed += (assumed.empty() ? "" : " and ") + std::string("limited range");
  }
  return assumed;
}

}  // namespace vmafx
