/* Cases for the kernels of adm and float_adm (tests/support/parity.h). */
#include "kernels/adm/adm_scales.h"
#include "tests/kernels/adm/adm_options.h"
#include "tests/kernels/adm/float_adm_options.h"
#include "tests/support/parity.h"

namespace vmafx::test {
namespace {

/* The smallest there are, those whose coarse scales have no border, and rows of tiles with one column in the last. */
ParityCases adm_sizes() {
  const Paint usual = lumas({{Fill::kRandom, Fill::kRandom}, lookalike(Fill::kRandom, 0.9, 3)});
  ParityCases cases;
  for (int n = 0; n < 24; n++)
    cases.push_back({luma(kAdmMinSize + n, kAdmMinSize + n * 7 % 24, n % 2 ? 8 : 10), 2, 2, usual});
  for (const int bpc : {8, 16})
    cases = cases + sizes({luma(1, 1, bpc), 2, 2, usual},
                          {{37, 33}, {131, 67}, {153, 17}, {155, 40}, {157, 36}, {311, 34}, {390, 90}, {17, 300}});
  return cases;
}

/* Each fill against each other one at 8 and at 16 bit, and against some at each other depth. */
ParityCases adm_depths() {
  ParityCases cases;
  for (int bpc = 8; bpc <= 16; bpc++) {
    std::vector<LumaPair> pairs;
    for (size_t shift = 0; shift < std::size(kFills); shift++)
      for (size_t i = 0; i < std::size(kFills); i++)
        if (bpc == 8 || bpc == 16 || static_cast<int>(shift) == bpc - 8)
          pairs.push_back({kFills[i], kFills[(i + shift) % std::size(kFills)]});
    cases.push_back({luma(67, 51, bpc), static_cast<int>(pairs.size()), 8, lumas(pairs)});
  }
  return cases;
}

/* The cases that both forms have. */
ParityCases adm_cases_with(const std::vector<OptionTexts>& sets) {
  const Paint all_kinds = lumas({{Fill::kRandom, Fill::kRandom},
                                 {Fill::kSparse, Fill::kCheckerboard},
                                 lookalike(Fill::kRandom, 0.5, 0),
                                 lookalike(Fill::kRandom, 1.3, 3),
                                 lookalike(Fill::kGradient, 1.0, 5),
                                 lookalike(Fill::kSparse, 0.95, 5)});
  ParityCases cases = adm_sizes() + adm_depths() + option_sets({luma(99, 67), 6, 6, all_kinds}, sets);
  for (size_t i = 0; i < sets.size(); i++) cases.push_back({luma(99, 67, i % 2 ? 10 : 16), 6, 6, all_kinds, sets[i]});

  std::vector<LumaPair> stream;
  for (int i = 0; i < 11; i++) stream.push_back(lookalike(Fill::kRandom, 0.8 + 0.05 * i, i % 7));
  cases = cases + batches({luma(150, 70), 11, 1, lumas(stream)}, {1, 3, 8});
  /* Several tiles across and down at scale 0, some without a sample that counts, and more than one at scale 2. */
  cases.push_back({luma(823, 361), 1, 1, lumas({lookalike(Fill::kRandom, 0.97, 3)})});
  return cases;
}

/* Every kind of block of up to 16 samples, of every strength: the largest coefficients that the transform can make,
 * alone and side by side. */
void paint_steep_blocks(TestPictures& pictures) {
  const VideoFormat& format = pictures.format();
  const int max = (1 << format.bpc) - 1;
  for (int frame = 0; frame < pictures.count() / 2; frame++) {
    std::mt19937 random(static_cast<uint32_t>(frame));
    const int block_size = 2 << frame % 4;
    std::vector<uint32_t> bits(static_cast<size_t>(format.w / block_size + 1));
    for (int y = 0; y < format.h; y++) {
      if (y % block_size == 0)
        for (uint32_t& b : bits) b = random();
      for (int x = 0; x < format.w; x++) {
        const uint32_t b = bits[static_cast<size_t>(x / block_size)];
        pictures.set(2 * frame, x, y, b & 1 ? max : 0);
        pictures.set(2 * frame + 1, x, y, b & 2 ? max : b & 4 ? 0 : max / 2 + (b & 1 ? max / 3 : 0));
      }
    }
  }
}

/* Blocks of 4x4 samples with the signs of the taps, so that scale 0's coefficients are the largest there are, and a
 * little larger still in the distorted picture: ratios right at 1, of reciprocals with few digits. Three frames of 16
 * bits. */
void paint_strongest_coefficients(TestPictures& pictures) {
  constexpr int kLow[4] = {1, 1, 1, -1}, kHigh[4] = {-1, -1, 1, -1};
  const std::pair<const int(&)[4], const int(&)[4]> signs[] = {{kHigh, kLow}, {kLow, kHigh}, {kHigh, kHigh}};
  std::mt19937 random(5);
  for (int frame = 0; frame < 3; frame++) {
    int strength[2] = {};
    for (int y = 0; y < pictures.format().h; y++)
      for (int x = 0; x < pictures.format().w; x++) {
        if ((x + 1) % 4 == 0 || x == 0) {
          strength[0] = 22000 + static_cast<int>(random() % 10000);
          strength[1] = std::min(strength[0] + static_cast<int>(random() % 100), 32767);
        }
        const int sign = signs[frame].first[(y + 1) % 4] * signs[frame].second[(x + 1) % 4];
        for (int side = 0; side < 2; side++) pictures.set(2 * frame + side, x, y, 32768 + sign * strength[side]);
      }
  }
}

/* Several ways of viewing at once. */
ParityCases adm_view_cases() {
  const Paint kinds = lumas({{Fill::kRandom, Fill::kRandom},
                             lookalike(Fill::kRandom, 1.3, 3),
                             {Fill::kSparse, Fill::kCheckerboard},
                             lookalike(Fill::kGradient, 1.0, 5)});
  ParityCases cases;
  for (const std::vector<OptionTexts>& sets : adm_view_sets())
    for (const int bpc : {8, 10})
      cases.push_back({luma(163, 85, bpc), 4, bpc == 8 ? 4 : 1, kinds, sets[0], {sets.begin() + 1, sets.end()}});
  return cases;
}

ParityCases adm_cases() {
  ParityCases cases =
      adm_cases_with(adm_option_sets()) + adm_view_cases() +
      values({luma(330, 66, 16), 3, 3, paint_strongest_coefficients}, "adm_enhn_gain_limit", {"1", "100"});
  for (const int bpc : {8, 16})
    cases = cases + values({luma(200, 60, bpc), 8, 8, paint_steep_blocks}, "adm_csf_mode", {"0", "1", "2"});
  return cases;
}

ParityCases float_adm_cases() {
  ParityCases cases = adm_cases_with(float_adm_option_sets());
  cases.push_back({luma(823, 361), 1, 1, lumas({lookalike(Fill::kRandom, 0.97, 3)}), {{"adm_skip_scale0", "true"}}});
  return cases;
}

const MetricCases kAdm("adm", adm_cases);
const MetricCases kFloatAdm("float_adm", float_adm_cases);

}  // namespace
}  // namespace vmafx::test
