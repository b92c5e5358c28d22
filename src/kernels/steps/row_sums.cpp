#include "kernels/steps/row_sums.h"

#include <algorithm>
#include <numeric>

#include "kernels/steps/rows.h"

namespace vmafx {
namespace {

template <int chains>
void add_rows(const float* const (&rows)[chains], int n, float (&sums)[chains]) {
  float sum[chains] = {};
  for (int x = 0; x < n; x++) {
    VMAFX_UNROLL
    for (int i = 0; i < chains; i++) sum[i] += rows[i][x];
  }
  std::ranges::copy(sum, sums);
}

}  // namespace

/* The fewest rows whose chains come out even. */
int RowStrip::rows_for(int quantities) { return kChains / std::gcd(kChains, quantities); }

size_t RowStrip::bytes(int quantities, int n) {
  return sizeof(float) * rows_for(quantities) * quantities * row_pitch(static_cast<size_t>(n));
}

RowStrip::RowStrip(int quantities, int n, std::byte* scratch, uint64_t* words)
    : quantities_(quantities), n_(n), rows_(rows_for(quantities)), pitch_(row_pitch(static_cast<size_t>(n))),
      values_(reinterpret_cast<float*>(scratch)), words_(words) {}

void RowStrip::add_up() {
  const int count = filled_ * quantities_;
  for (int i = 0; taker_ && i < count; i++)
    (*taker_)(i % quantities_, added_ + i / quantities_, {values_ + i * pitch_, static_cast<size_t>(n_)});
  for (int first = 0; first < count; first += kChains) {
    const float* rows[kChains];
    for (int i = 0; i < kChains; i++) rows[i] = values_ + std::min(first + i, count - 1) * pitch_;
    float sums[kChains];
    add_rows(rows, n_, sums);
    for (int i = first; i < std::min(first + kChains, count); i++) {
      uint64_t& word = words_[i % quantities_];
      word = word_of_sum(sum_of_word(word) + sums[i - first]);
    }
  }
  added_ += filled_;
  filled_ = 0;
}

}  // namespace vmafx
