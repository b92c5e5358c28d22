#include "engine/look/look.h"

#include <algorithm>
#include <cstring>

namespace vmafx::look {
namespace {

/* The sum of absolute differences of two planes of chroma, as their cells have it. */
uint64_t difference(const uint32_t (&a)[kChromaRows][kChromaColumns],
                    const uint32_t (&b)[kChromaRows][kChromaColumns]) {
  uint64_t sum = 0;
  for (int j = 0; j < kChromaRows; j++)
    for (int i = 0; i < kChromaColumns; i++) sum += std::max(a[j][i], b[j][i]) - std::min(a[j][i], b[j][i]);
  return sum;
}

uint64_t difference_of_planes(const uint32_t (&a)[2][kChromaRows][kChromaColumns],
                              const uint32_t (&b)[2][kChromaRows][kChromaColumns], bool swapped) {
  return difference(a[0], b[swapped]) + difference(a[1], b[!swapped]);
}

}  // namespace

class Look::Parts {
 public:
  int64_t first = 0, end = 0;
  uint64_t straight = 0, swapped = 0;
};

Look::Look(const VideoFormat&) : parts_(std::make_unique<Parts>()) {}
Look::~Look() = default;

void Look::add(int64_t frame, const SignatureSums& sums) {
  if (!parts_->end) parts_->first = frame;
  parts_->end = frame + 1;
  parts_->straight += difference_of_planes(sums.ref.chroma, sums.dist.chroma, false);
  parts_->swapped += difference_of_planes(sums.ref.chroma, sums.dist.chroma, true);
}

std::vector<Finding> Look::finish() {
  if (parts_->straight <= 4 * parts_->swapped) return {};
  const double fit = 1 - static_cast<double>(parts_->swapped) / static_cast<double>(parts_->straight);
  return {{Kind::kChromaSwapped, Certainty::kSure, parts_->first, parts_->end, {{"fit", fit}}}};
}

}  // namespace vmafx::look
