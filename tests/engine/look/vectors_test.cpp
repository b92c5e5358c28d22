#include "engine/look/vectors.h"

#include <cmath>
#include <memory>
#include <string>

#include <check.h>  // after what includes streams: it defines a macro fail()

#include "engine/look/cell_means.h"
#include "tests/engine/look/painter.h"
#include "tests/support/check_main.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::look;
using namespace vmafx::test;

namespace {

/* The sum of term(k) over n numbers as vectors make it: in eight parts. */
template <class Term>
double in_parts(int n, Term term) {
  double parts[kParts] = {};
  for (int k = 0; k < n; k++) parts[k % kParts] += term(k);
  return ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
}

LumaMeans random_means(uint64_t seed) {
  Random random(seed);
  LumaMeans means;
  for (float& mean : means) mean = 256 * random();
  return means;
}

const LumaMeans kMeans[] = {random_means(1), random_means(2), random_means(3), random_means(4)};

/* Exactly equal: the order of additions is that of the parts. */
void assert_sums(const std::string& target) {
  const float *x = kMeans[0].data(), *y = kMeans[1].data();
  const PairSums pairs = sum_pairs(x, y, kCells);
  const auto square = [](double a) { return a * a; };
  ck_assert_msg(pairs.x == in_parts(kCells, [&](int k) { return x[k]; }) &&
                    pairs.y == in_parts(kCells, [&](int k) { return y[k]; }) &&
                    pairs.xx == in_parts(kCells, [&](int k) { return square(x[k]); }) &&
                    pairs.yy == in_parts(kCells, [&](int k) { return square(y[k]); }) &&
                    pairs.xy == in_parts(kCells, [&](int k) { return static_cast<double>(x[k]) * y[k]; }),
                "%s: sums of pairs", target.c_str());

  constexpr int kFirst = kSignatureColumns, n = kCells - 2 * kSignatureColumns;
  const float *after = kMeans[1].data() + kFirst, *even = kMeans[2].data() + kFirst, *odd = kMeans[3].data() + kFirst;
  x += kFirst;
  const FieldSums fields = sum_fields({x, after, even, odd}, kSignatureColumns, n);
  const auto motion = [&](int k) { return (after[k] - x[k]) / 2; };
  const auto slope = [&](int k) { return x[k + kSignatureColumns] - x[k - kSignatureColumns]; };
  const auto field = [&](int k) { return even[k] - odd[k]; };
  ck_assert_msg(fields.mm == in_parts(n, [&](int k) { return motion(k) * motion(k); }) &&
                    fields.gg == in_parts(n, [&](int k) { return slope(k) * slope(k); }) &&
                    fields.mg == in_parts(n, [&](int k) { return motion(k) * slope(k); }) &&
                    fields.dm == in_parts(n, [&](int k) { return field(k) * motion(k); }) &&
                    fields.dg == in_parts(n, [&](int k) { return field(k) * slope(k); }) &&
                    fields.dd == in_parts(n, [&](int k) { return field(k) * field(k); }),
                "%s: sums of fields", target.c_str());
}

/* Sums of 2 x 4 samples of 8 bits in each cell. */
std::unique_ptr<Cells> cells_of(uint64_t seed, const std::string& target) {
  Random random(seed);
  static uint32_t even[kCells], odd[kCells];
  static float scale[kCells];
  for (int k = 0; k < kCells; k++) {
    even[k] = static_cast<uint32_t>(4 * 256 * random());
    odd[k] = static_cast<uint32_t>(4 * 256 * random());
    scale[k] = kCellSteps / 8.F;
  }
  auto cells = std::make_unique<Cells>();
  convert_cells(even, odd, scale, cells.get());
  for (int block = 0; block < kBlocks; block++) {
    int values[kBlockCells], sum = 0;
    for (int k = 0; k < kBlockCells; k++) {
      const int row = block / kBlockColumns * kBlockHeight + k / kBlockWidth;
      const int cell = row * kSignatureColumns + block % kBlockColumns * kBlockWidth + k % kBlockWidth;
      values[k] = static_cast<int>(static_cast<float>(even[cell] + odd[cell]) * scale[cell] + 0.5F);
      sum += values[k];
    }
    for (int k = 0; k < kBlockCells; k++)
      ck_assert_msg(cells->value[block][k] == values[k] - (sum + kBlockCells / 2) / kBlockCells, "%s: cell %d of %d",
                    target.c_str(), k, block);
  }
  return cells;
}

void assert_cells(const std::string& target) {
  const auto a = cells_of(5, target), b = cells_of(6, target);
  BlockValues sums;
  products(*a, *b, &sums);
  for (int block = 0; block < kBlocks; block++) {
    int32_t sum = 0;
    for (int k = 0; k < kBlockCells; k++) sum += a->value[block][k] * b->value[block][k];
    ck_assert_msg(sums[block] == static_cast<float>(sum), "%s: products of block %d", target.c_str(), block);
  }
  LumaMeans means = kMeans[0];
  means[0] = -3;
  means[1] = 255.7F;
  int32_t levels[kCells];
  round_levels(means.data(), kCells, levels);
  ck_assert(levels[0] == 0 && levels[1] == 255);
  for (int k = 2; k < kCells; k++)
    ck_assert_msg(levels[k] == std::min(static_cast<int>(std::floor(means[k] + 0.5F)), 255), "%s: level %d",
                  target.c_str(), k);
}

}  // namespace

START_TEST(all_instruction_sets_make_the_same_sums) {
  for_each_cpu_target([](const std::string& target) {
    assert_sums(target);
    assert_cells(target);
  });
}
END_TEST

int main() { return run_suite("vectors", {{"sums", all_instruction_sets_make_the_same_sums}}); }
