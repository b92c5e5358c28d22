/* Maps of all metrics that have them: their sums begin with the metric's own, those of the blocks add up to them, all
 * CPU twins make the same, and damage is where a map says it is. CK_RUN_CASE=sums_begin_with_the_metrics picks one. */
#include "kernels/maps.h"

#include <check.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "kernels/adm/adm.h"
#include "kernels/adm/float_adm_math.h"
#include "kernels/arithmetic/fixed.h"
#include "kernels/ciede/ciede_math.h"
#include "kernels/psnr/psnr_math.h"
#include "kernels/psnr_hvs/psnr_hvs_math.h"
#include "kernels/registry/registry.h"
#include "kernels/ssim/ssim_math.h"
#include "kernels/steps/row_sums.h"
#include "kernels/vif/float_vif_math.h"
#include "kernels/vif/vif.h"
#include "tests/kernels/cases.h"
#include "tests/support/check_main.h"
#include "tests/support/converted.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

using Sums = std::vector<uint64_t>;

Options options_of(const ExtractorInfo& info, const OptionTexts& given) {
  auto options = Options::resolve(info.name, info.options, given);
  ck_assert_msg(options.ok(), "%s", options.status().message().c_str());
  return options.value();
}

Sums extract(const Extractor& extractor, FrameSet frame) {
  const ConvertedFrame converted(extractor, {{frame.ref}}, {{frame.dist}});
  converted.show(frame);
  const TestScratch scratch(extractor.scratch_bytes());
  const AlignedBytes memory = allocate_aligned(extractor.sums_bytes());
  std::memset(memory.get(), 0, extractor.sums_bytes());
  extractor.extract(frame, scratch.get(), memory.get());
  Sums sums(extractor.sums_bytes() / sizeof(uint64_t));
  std::memcpy(sums.data(), memory.get(), extractor.sums_bytes());
  return sums;
}

std::vector<double> values_of(const Extractor& extractor, const Sums& sums, size_t map) {
  const MapInfo& info = extractor.maps()[map];
  std::vector<double> values(static_cast<size_t>(info.w) * static_cast<size_t>(info.h));
  extractor.read_map(sums.data(), map, values);
  return values;
}

double total(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

std::vector<const ExtractorInfo*> with_maps() {
  std::vector<const ExtractorInfo*> metrics;
  for (const ExtractorInfo* info : extractors())
    if (info->flags & kMaps) metrics.push_back(info);
  return metrics;
}

/* Runs `body` with the pictures of a metric's cases, every `step`th of them from `first` on. */
void for_cases(const ExtractorInfo& info, size_t first, size_t step,
               const std::function<void(const ParityCase&, const FrameSet&)>& body) {
  const ParityCases cases = cases_of(info.name);
  for (size_t i = first; i < cases.size(); i += step) {
    if (!cases[i].also.empty()) continue;
    TestPictures pictures(cases[i].format, cases[i].frames);
    cases[i].paint(pictures);
    const std::vector<PicturePair> pairs = pictures.pairs();
    for (size_t frame = 0; frame < pairs.size(); frame++) body(cases[i], frame_of(pairs, frame));
  }
}

std::string told(const ExtractorInfo& info, const ParityCase& given) {
  return format_text("%s, %dx%d %d bit", name_of(info.name, given).c_str(), given.format.w, given.format.h,
                     given.format.bpc);
}

/* -- The sums of the blocks, without read_map() -------------------------------------------------------------------- */

/* Adds the words of blocks up, `words` for each block. */
Sums added_up(const Sums& sums, size_t first, size_t blocks, size_t words) {
  Sums added(words);
  for (size_t i = 0; i < blocks * words; i++) added[i % words] += sums[first + i];
  return added;
}

void assert_psnr_adds_up(const Extractor& psnr, const Sums& sums, const std::string& what) {
  size_t first = sizeof(PsnrSums) / sizeof(uint64_t);
  for (size_t p = 0; p < psnr.maps().size(); p++) {
    const std::vector<double> values = values_of(psnr, sums, p);
    ck_assert_msg(added_up(sums, first, values.size(), 1)[0] == sums[p], "%s: plane %zu", what.c_str(), p);
    ck_assert_msg(total(values) == static_cast<double>(sums[p]), "%s: values of plane %zu", what.c_str(), p);
    first += values.size();
  }
}

void assert_vif_adds_up(const Extractor& vif, const Sums& sums, const std::string& what) {
  VifSums of_frame;
  std::memcpy(&of_frame, sums.data(), sizeof of_frame);
  const size_t skipped = kVifScales - vif.maps().size(), words = sizeof(VifScaleSums) / sizeof(uint64_t);
  for (size_t map = 0; map < vif.maps().size(); map++) {
    const std::vector<double> values = values_of(vif, sums, map);
    const size_t scale = map + skipped, first = kVifScales * words + scale * values.size() * words;
    const Sums added = added_up(sums, first, values.size(), words);
    ck_assert_msg(!std::memcmp(added.data(), &of_frame.scale[scale], sizeof(VifScaleSums)), "%s: scale %zu",
                  what.c_str(), scale);
    const VifScaleSums& s = of_frame.scale[scale];
    const double lost = static_cast<double>(s.den_log - s.num_log) / 2048 + s.num_non_log / 16384.0 / 65025;
    ck_assert_msg(std::abs(total(values) - lost) <= 1e-12 * std::max(1.0, s.den_log / 2048.0), "%s: %.17g, not %.17g",
                  what.c_str(), total(values), lost);
  }
}

void assert_adm_adds_up(const Extractor& adm, const Sums& sums, const std::string& what) {
  AdmSums of_frame;
  std::memcpy(&of_frame, sums.data(), sizeof of_frame);
  constexpr size_t kWords = sizeof(AdmBlockSums) / sizeof(uint64_t);
  const bool with_added = std::string(adm.maps().back().name).ends_with("added");
  const size_t kinds = with_added ? 2 : 1, skipped = kAdmScales - adm.maps().size() / kinds;
  size_t end = sums.size();
  for (size_t map = adm.maps().size(); map > 0; map -= kinds) {  // the blocks of the last scale are the last ones
    const size_t scale = (map - 1) / kinds + skipped, blocks = values_of(adm, sums, map - 1).size();
    const Sums added = added_up(sums, end - blocks * kWords, blocks, kWords);
    ck_assert_msg(!std::memcmp(&added[0], of_frame.dlm[scale], sizeof of_frame.dlm[scale]) &&
                      !std::memcmp(&added[kAdmBands], of_frame.aim[scale], sizeof of_frame.aim[scale]) &&
                      !std::memcmp(&added[2 * kAdmBands], of_frame.csf_den[scale], sizeof of_frame.csf_den[scale]),
                  "%s: scale %zu", what.c_str(), scale);
    end -= blocks * kWords;
  }
}

/* The scores of a frame, made by an extractor of the case; of a stream's second frame, where the first one is held
 * back. */
double score_of(const Extractor& extractor, const Sums& sums, const std::string& key, int frames = 1) {
  const auto scorer = extractor.make_scorer();
  Scores scores(extractor);
  for (int frame = 0; frame < frames; frame++) scorer->finalize(frame, sums.data(), scores);
  return scores.of.at(Scores::name(key.c_str(), frames - 1));
}

void assert_close(double got, double want, double within, const std::string& what) {
  ck_assert_msg(got == want || std::abs(got - want) <= within, "%s: %.17g, not %.17g", what.c_str(), got, want);
}

/* The sum of what all maps say that a score lacks to its best; nullopt: none of them says anything. */
std::optional<double> deviation_of(const Extractor& metric, const Extractor& mapping, const Sums& sums, ScoreId score) {
  std::optional<double> lacks;
  for (size_t map = 0; map < mapping.maps().size(); map++) {
    std::vector<double> values = values_of(mapping, sums, map);
    if (metric.read_deviation(sums.data(), score, map, values)) lacks = lacks.value_or(0) + total(values);
  }
  return lacks;
}

/* xpsnr's blocks are its raw sums; the weighted ones add up to what the score is made of. */
void assert_xpsnr_adds_up(const Extractor& xpsnr, const Sums& sums, const VideoFormat& format,
                          const std::string& what) {
  for (size_t p = 0; p < xpsnr.maps().size(); p++) {
    const double peak = (1 << format.bpc) - 1, samples = static_cast<double>(format.plane_w(static_cast<int>(p))) *
                                                         format.plane_h(static_cast<int>(p));
    const double wsse = std::floor(total(values_of(xpsnr, sums, p)) + 0.5);
    assert_close(score_of(xpsnr, sums, xpsnr.maps()[p].name), 10 * std::log10(peak * peak * samples / wsse), 1e-9,
                 what + ", " + xpsnr.maps()[p].name);
  }
}

/* Sums that are all of one scale, which those of the blocks follow. */
void assert_words_add_up(const Extractor& metric, const Sums& sums, size_t words, const std::string& what) {
  const size_t blocks = values_of(metric, sums, 0).size();
  const Sums added = added_up(sums, words, blocks, words);
  ck_assert_msg(std::equal(added.begin(), added.end(), sums.begin()), "%s", what.c_str());
}

void assert_ciede_adds_up(const Extractor& ciede, const Sums& sums, const std::string& what) {
  assert_words_add_up(ciede, sums, 1, what);
  ck_assert_msg(total(values_of(ciede, sums, 0)) == from_fixed<kCiedeSumBits>(static_cast<int64_t>(sums[0])),
                "%s: values", what.c_str());
}

/* What the windows lack is what the score, a float, lacks. */
void assert_ssim_adds_up(const Extractor& ssim, const Sums& sums, const std::string& what) {
  assert_words_add_up(ssim, sums, sizeof(SsimSums) / sizeof(uint64_t), what);
  SsimSums of_frame;
  std::memcpy(&of_frame, sums.data(), sizeof of_frame);
  const double lacking = total(values_of(ssim, sums, 0)), lcs = from_fixed<kSsimBits>(of_frame.lcs);
  const double windows = std::round(lacking + lcs);
  ck_assert_msg(of_frame.different ? std::abs(windows - lcs - lacking) <= 1e-9 * windows : lacking == 0, "%s: values",
                what.c_str());
}

/* Values of blocks are doubles; libvmaf adds its floats up as floats. */
constexpr double kFloatSums = 3e-5;

void assert_float_vif_adds_up(const Extractor& vif, const Sums& sums, const std::string& what) {
  const size_t skipped = kFloatVifScales - vif.maps().size();
  for (size_t map = 0; map < vif.maps().size(); map++) {
    const double num = static_cast<double>(sum_of_word(sums[2 * (map + skipped)])),
                 den = static_cast<double>(sum_of_word(sums[2 * (map + skipped) + 1]));
    assert_close(total(values_of(vif, sums, map)), den - num, kFloatSums * den, what);
  }
}

void assert_float_adm_adds_up(const Extractor& adm, const Sums& sums, const std::string& what) {
  const size_t skipped = kAdmScales - adm.maps().size() / 2;
  for (size_t map = 0; map < adm.maps().size(); map++) {
    const int scale = static_cast<int>(map / 2 + skipped);
    const auto sum_of = [&](int kind) {
      double sum = 0;
      for (int band = 0; band < kAdmBands; band++)
        sum += static_cast<double>(sum_of_word(sums[static_cast<size_t>(float_adm_sum_index(kind, scale, band))]));
      return sum;
    };
    const double want = map % 2 ? sum_of(kFloatAdmAim) : sum_of(kFloatAdmDen) - sum_of(kFloatAdmDlm);
    const double most = std::max(sum_of(kFloatAdmDen), sum_of(map % 2 ? kFloatAdmAim : kFloatAdmDlm));
    assert_close(total(values_of(adm, sums, map)), want, kFloatSums * most, what);
  }
}

void assert_ansnr_adds_up(const Extractor& ansnr, const Sums& sums, const std::string& what) {
  const double noise = static_cast<double>(sum_of_word(sums[1]));
  assert_close(total(values_of(ansnr, sums, 0)), noise, kFloatSums * noise, what);
}

void assert_psnr_hvs_adds_up(const Extractor& psnr_hvs, const Sums& sums, const std::string& what) {
  constexpr size_t kWords = sizeof(PsnrHvsSum) / sizeof(uint64_t);
  size_t first = 3 * kWords;
  for (size_t p = 0; p < 3; p++) {
    const std::vector<double> values = values_of(psnr_hvs, sums, p);
    const Sums added = added_up(sums, first, values.size(), kWords);
    ck_assert_msg(std::equal(added.begin(), added.end(), sums.begin() + static_cast<ptrdiff_t>(p * kWords)),
                  "%s: plane %zu", what.c_str(), p);
    first += values.size() * kWords;
  }
}

void assert_ms_ssim_adds_up(const Extractor& mapping, const Extractor& metric, const Sums& sums, bool in_db,
                            const std::string& what) {
  constexpr size_t kWords = sizeof(SsimSums) / sizeof(uint64_t);
  const size_t blocks = values_of(mapping, sums, 0).size();
  for (size_t scale = 0; scale < kMsSsimScales; scale++) {
    const Sums added = added_up(sums, (kMsSsimScales + scale * blocks) * kWords, blocks, kWords);
    ck_assert_msg(std::equal(added.begin(), added.end(), sums.begin() + static_cast<ptrdiff_t>(scale * kWords)),
                  "%s: scale %zu", what.c_str(), scale);
  }
  if (!in_db) assert_close(total(values_of(mapping, sums, 0)), 1 - score_of(metric, sums, "float_ms_ssim"), 1e-6, what);
}

void assert_butteraugli_adds_up(const Extractor& mapping, const Extractor& metric, const Sums& sums,
                                const std::string& what) {
  const std::vector<double> most = values_of(mapping, sums, 0);
  assert_close(*std::ranges::max_element(most), score_of(metric, sums, "butteraugli"), 0, what);
  const double norm = score_of(metric, sums, "butteraugli_pnorm");
  assert_close(total(values_of(mapping, sums, 1)), norm, 1e-9 * norm, what);
}

/* The formula of docs/maps.md. */
double ssimulacra2_of(double errors) {
  const double e = errors * 0.9562382616834844;
  const double bent = 2.326765642916932 * e - 0.020884521182843837 * e * e + 6.248496625763138e-05 * e * e * e;
  return bent > 0 ? 100 - 10 * std::pow(bent, 0.6276336467831387) : 100;
}
double jod_of(double difference) {
  constexpr double kScale = 0.0439569391310215, kPower = 0.9302042722702026, kLinear = 0.1;
  return 10 -
         kScale * (difference < kLinear ? std::pow(kLinear, kPower - 1) * difference : std::pow(difference, kPower));
}

void assert_adds_up(const ExtractorInfo& info, const Extractor& mapping, const Sums& sums, const ParityCase& given) {
  const std::string name = info.name, what = told(info, given);
  const auto values_total = [&] { return total(values_of(mapping, sums, 0)); };
  if (mapping.maps().empty()) return;
  if (name == "psnr" || name == "float_psnr") return assert_psnr_adds_up(mapping, sums, what);
  if (name == "ciede") return assert_ciede_adds_up(mapping, sums, what);
  if (name == "float_ssim") return assert_ssim_adds_up(mapping, sums, what);
  if (name == "vif") return assert_vif_adds_up(mapping, sums, what);
  if (name == "adm") return assert_adm_adds_up(mapping, sums, what);
  if (name == "xpsnr") return assert_xpsnr_adds_up(mapping, sums, given.format, what);
  if (name == "float_vif") return assert_float_vif_adds_up(mapping, sums, what);
  if (name == "float_adm") return assert_float_adm_adds_up(mapping, sums, what);
  if (name == "float_ansnr") return assert_ansnr_adds_up(mapping, sums, what);
  if (name == "psnr_hvs") return assert_psnr_hvs_adds_up(mapping, sums, what);
  const auto metric = make_extractor(info, given.format, given.options);
  if (name == "float_ms_ssim")
    return assert_ms_ssim_adds_up(mapping, *metric, sums, given.options.contains("enable_db"), what);
  if (name == "butteraugli") return assert_butteraugli_adds_up(mapping, *metric, sums, what);
  if (name == "cambi") {
    const bool clipped = given.options.contains("cambi_max_val");
    const double score = score_of(*metric, sums, "cambi");
    return assert_close(clipped ? std::min(score, values_total()) : values_total(), score, 1e-9 * score, what);
  }
  if (name == "ssimulacra2")
    return assert_close(ssimulacra2_of(values_total()), score_of(*metric, sums, "ssimulacra2"), 1e-7, what);
  if (name == "cvvdp") return assert_close(jod_of(values_total()), score_of(*metric, sums, "cvvdp", 2), 1e-9, what);
  ck_abort_msg("%s has maps, and this test does not know what they add up to", info.name);
}

/* -- Damage -------------------------------------------------------------------------------------------------------- */

constexpr int kSize = 512;
constexpr int kDamage = 128;  // side
constexpr int kBlur = 8;      // samples to each side

/* Picture pairs without color that are equal but for a square of damage. */
class Damaged {
 public:
  Damaged(int x, int y) : x0_(x), y0_(y), ref_(kSize, kSize), dist_(kSize, kSize), chroma_(kSize, kSize) {
    for (int row = 0; row < kSize; row++)
      for (int column = 0; column < kSize; column++) chroma_.at(column, row) = 128;
    std::mt19937 random(7);
    for (int row = 0; row < kSize; row++)
      for (int column = 0; column < kSize; column++)
        ref_.at(column, row) =
            static_cast<uint8_t>(128 + 30 * std::sin(column * 0.5) * std::cos(row * 0.4) +
                                 30 * std::sin(column * 0.15 + row * 0.1) + static_cast<int>(random() % 24) - 12);
    copy();
  }

  void blur() {
    each([&](int x, int y) {
      int sum = 0;
      for (int dy = -kBlur; dy <= kBlur; dy++)
        for (int dx = -kBlur; dx <= kBlur; dx++)
          sum += ref_.at(std::clamp(x + dx, 0, kSize - 1), std::clamp(y + dy, 0, kSize - 1));
      return sum / ((2 * kBlur + 1) * (2 * kBlur + 1));
    });
  }
  void add_noise() {
    std::mt19937 random(8);
    each([&](int x, int y) { return ref_.at(x, y) + static_cast<int>(random() % 61) - 30; });
  }
  /* A slow gradient in the place of the texture, and in the distorted picture a strip of bands. */
  void add_bands() {
    for (int y = y0_; y < y0_ + kDamage; y++)
      for (int x = x0_; x < x0_ + kDamage; x++)
        ref_.at(x, y) = static_cast<uint8_t>(96 + (x - x0_) / 4 + static_cast<int>((x * 7u + y * 13u) % 3));
    copy();
    each([&](int x, int) { return 96 + (x - x0_) / 4 / 8 * 8; });
  }

  FrameSet frame() {
    FrameSet set;
    set.ref.plane[0] = ref_.sample_plane();
    set.dist.plane[0] = dist_.sample_plane();
    for (int p = 1; p < 3; p++) set.ref.plane[p] = set.dist.plane[p] = chroma_.sample_plane();
    return set;
  }

  /* Whether a block has samples of the damage. */
  bool is_in(const MapInfo& map, size_t block) const {
    const int x = static_cast<int>(block) % map.w * map.block_w, y = static_cast<int>(block) / map.w * map.block_h;
    return x < x0_ + kDamage && x + map.block_w > x0_ && y < y0_ + kDamage && y + map.block_h > y0_;
  }

 private:
  template <class Value>
  void each(Value value) {
    for (int y = y0_; y < y0_ + kDamage; y++)
      for (int x = x0_; x < x0_ + kDamage; x++)
        dist_.at(x, y) = static_cast<uint8_t>(std::clamp(static_cast<int>(value(x, y)), 0, 255));
  }
  void copy() {
    for (int y = 0; y < kSize; y++)
      for (int x = 0; x < kSize; x++) dist_.at(x, y) = ref_.at(x, y);
  }

  int x0_, y0_;
  TestPlane<uint8_t> ref_, dist_, chroma_;
};

VideoFormat damaged_format(const ExtractorInfo& info) {
  const std::string name = info.name;
  const bool has_color = name == "ciede" || name == "psnr_hvs";  // they refuse gray
  VideoFormat format = {.w = kSize, .h = kSize, .bpc = 8, .chroma = has_color ? Chroma::k444 : Chroma::k400};
  format.color = {.matrix = 1, .transfer = 1, .primaries = 1, .range = Color::Range::kLimited};
  format.fps = 25;
  return format;
}

/* The maps whose largest value is not in the damage. */
std::set<std::string> lost_sight(const ExtractorInfo& info, Damaged& damaged) {
  std::set<std::string> names;
  const auto mapping = make_mapping(info, damaged_format(info));
  const Sums sums = extract(*mapping, damaged.frame());
  for (size_t map = 0; map < mapping->maps().size(); map++) {
    const std::vector<double> values = values_of(*mapping, sums, map);
    const size_t most = static_cast<size_t>(std::ranges::max_element(values) - values.begin());
    if (!damaged.is_in(mapping->maps()[map], most) || !(values[most] > 0)) names.insert(mapping->maps()[map].name);
  }
  return names;
}

/* `blind`: the maps of metrics that cannot see this damage. */
void assert_found(const char* what, Damaged& damaged, const std::set<std::string>& blind) {
  std::set<std::string> lost;
  for (const ExtractorInfo* info : with_maps()) lost.merge(lost_sight(*info, damaged));
  std::string all;
  for (const std::string& name : lost) all += " " + name;
  ck_assert_msg(lost == blind, "%s: the largest value is elsewhere in:%s", what, all.c_str());
}

}  // namespace

START_TEST(sums_begin_with_the_metrics) {
  for (const ExtractorInfo* info : with_maps()) {
    if (!info->create_mapping) continue;
    size_t turn = 0;
    for_each_cpu_target([&](const std::string& target) {
      const size_t targets = runnable_cpu_targets().size();
      for_cases(*info, turn++ % targets, 2 * targets * static_cast<size_t>(every_under_sanitizers(4)),
                [&](const ParityCase& given, const FrameSet& frame) {
                  const Sums own = extract(*make_extractor(*info, given.format, given.options), frame);
                  const Sums mapped = extract(*make_mapping(*info, given.format, given.options), frame);
                  ck_assert_msg(mapped.size() >= own.size() && std::equal(own.begin(), own.end(), mapped.begin()),
                                "%s, %s: other sums than without maps", told(*info, given).c_str(), target.c_str());
                });
    });
  }
}
END_TEST

START_TEST(blocks_add_up) {
  for (const ExtractorInfo* info : with_maps())
    for_cases(*info, 0, static_cast<size_t>(every_under_sanitizers(4)),
              [&](const ParityCase& given, const FrameSet& frame) {
                const auto mapping = make_mapping(*info, given.format, given.options);
                assert_adds_up(*info, *mapping, extract(*mapping, frame), given);
              });
}
END_TEST

START_TEST(all_instruction_sets_make_the_same) {
  for (const ExtractorInfo* info : with_maps())
    for_cases(*info, 0, 3 * static_cast<size_t>(every_under_sanitizers(4)),
              [&](const ParityCase& given, const FrameSet& frame) {
                const auto mapping = make_mapping(*info, given.format, given.options);
                const Sums want = extract(*mapping, frame);
                for_each_cpu_target([&](const std::string& target) {
                  ck_assert_msg(extract(*mapping, frame) == want, "%s: %s", told(*info, given).c_str(), target.c_str());
                });
              });
}
END_TEST

/* Blocks of a picture that was scaled first are a rounded number of samples wide: the last one may begin at its
 * end. */
START_TEST(all_of_a_block_is_spread) {
  for (const int side : {48, 49, 50}) {
    const BlockGrid grid = block_grid(1519, 64, 32);
    std::vector<double> spread(grid.blocks());
    spread_blocks({1519, 64, 32, side, 64}, std::vector<double>(32, 1.0), grid, spread);
    ck_assert_double_eq_tol(total(spread), 32, 1e-9);
  }
}
END_TEST

/* The values of a score's maps add up to what it lacks to its best, where no option limits it. */
START_TEST(deviations_explain_scores) {
  for (const char* const name : {"adm", "float_adm", "vif", "float_vif"}) {
    const ExtractorInfo& info = *find_extractor(name).info;
    int checked = 0;
    for_cases(info, 0, 3 * static_cast<size_t>(every_under_sanitizers(4)),
              [&](const ParityCase& given, const FrameSet& frame) {
                if (!given.options.empty()) return;
                const auto mapping = make_mapping(info, given.format), metric = make_extractor(info, given.format);
                const Sums sums = extract(*mapping, frame);
                bool limited = false;  // aim is at its end, and adm3 with it
                for (const FeatureInfo& feature : metric->features()) {
                  const auto lacks = deviation_of(*metric, *mapping, sums, feature.score);
                  limited |= std::abs(lacks.value_or(0)) > 1;
                  if (!lacks || limited) continue;
                  assert_close(*lacks, feature.best - score_of(*metric, sums, feature.key), 1e-4,
                               told(info, given) + ", " + feature.key);
                  checked++;
                }
              });
    ck_assert_msg(checked > 10, "%s: %d scores", name, checked);
  }
}
END_TEST

/* Flat pictures have no detail at all, once there is no noise floor. */
START_TEST(flat_pictures_lack_nothing) {
  for (const char* const name : {"adm", "float_adm"}) {
    const ExtractorInfo& info = *find_extractor(name).info;
    const VideoFormat format = {.w = 96, .h = 64, .bpc = 8, .chroma = Chroma::k400};
    const OptionTexts options = {{"adm_noise_weight", "0"}};
    TestPlane<uint8_t> flat(format.w, format.h);
    flat.fill(Fill::kZero, format.bpc, 1);
    FrameSet frame;
    frame.ref = frame.dist = {format.bpc, {flat.sample_plane()}};
    const auto mapping = make_mapping(info, format, options), metric = make_extractor(info, format, options);
    const Sums sums = extract(*mapping, frame);
    for (const FeatureInfo& feature : metric->features()) {
      const double lacks = deviation_of(*metric, *mapping, sums, feature.score).value_or(0);
      ck_assert_msg(lacks == 0, "%s: %s lacks %g", name, feature.key, lacks);
    }
  }
}
END_TEST

/* Runs the definitions in the places of the twins. */
START_TEST(vif_is_as_defined) {
  const ExtractorInfo& info = *find_extractor("vif").info;
  for_cases(info, 0, 5, [&](const ParityCase& given, const FrameSet& frame) {
    if (!given.options.empty()) return;
    const auto mapping = make_mapping(info, given.format);
    const VifParams params = {given.format.w, given.format.h, given.format.bpc};
    const TestScratch scratch(vif_scratch_bytes_plain(params));
    Sums sums(mapping->sums_bytes() / sizeof(uint64_t));
    auto& of_frame = *reinterpret_cast<VifSums*>(sums.data());
    VifBlocks blocks = {{}, block_grid(params.w, params.h, kVifBlockSide)};
    for (size_t s = 0; s < kVifScales; s++)
      blocks.scale[s] = reinterpret_cast<VifScaleSums*>(&of_frame + 1) + s * blocks.grid.blocks();
    vif_mapped_plain(params, frame.ref.plane[0], frame.dist.plane[0], scratch.get(), of_frame, blocks);
    ck_assert_msg(sums == extract(*mapping, frame), "%s", told(info, given).c_str());
  });
}
END_TEST

START_TEST(adm_is_as_defined) {
  const ExtractorInfo& info = *find_extractor("adm").info;
  for_cases(info, 0, 5, [&](const ParityCase& given, const FrameSet& frame) {
    const auto mapping = make_mapping(info, given.format, given.options);
    const Options options = options_of(info, given.options);
    const auto params = adm_params({&options, 1}, given.format);
    ck_assert(params.ok());
    const TestScratch scratch(adm_scratch_bytes_plain(params.value()));
    Sums sums(mapping->sums_bytes() / sizeof(uint64_t));
    auto& of_frame = *reinterpret_cast<AdmSums*>(sums.data());
    AdmBlocks blocks;
    auto* first = reinterpret_cast<AdmBlockSums*>(&of_frame + 1);
    for (int s = 0; s < kAdmScales; s++) {
      blocks.scale[s] = first;
      first += AdmBlocks::grid(params.value().scale[s], s).blocks();
    }
    adm_mapped_plain(params.value(), frame.ref.plane[0], frame.dist.plane[0], scratch.get(), of_frame, blocks);
    ck_assert_msg(sums == extract(*mapping, frame), "%s", told(info, given).c_str());
  });
}
END_TEST

/* The outermost tenth of a picture is out of adm's sight, so the damage is a little inside of the corner. */
START_TEST(damage_is_found) {
  Damaged blurred(kSize - kDamage - 52, kSize - kDamage - 52);
  blurred.blur();
  const std::set<std::string> no_color = {"psnr_hvs_cb", "psnr_hvs_cr"};
  std::set<std::string> not_seen = {"adm_scale3_added", "float_adm_scale3_added",  // below the threshold
                                    "cambi"};                                      // texture has no bands
  not_seen.insert(no_color.begin(), no_color.end());
  assert_found("blur", blurred, not_seen);
  Damaged noisy(64, 256);
  noisy.add_noise();
  assert_found("noise", noisy, not_seen);
  Damaged banded(256, 100);
  banded.add_bands();
  std::set<std::string> nothing_to_lose = {"adm_scale2_lost",  "float_adm_scale2_lost",  // where it is flat
                                           "vif_scale2",       "vif_scale3",
                                           "float_vif_scale2", "float_vif_scale3"};
  nothing_to_lose.insert(no_color.begin(), no_color.end());
  assert_found("bands", banded, nothing_to_lose);
}
END_TEST

int main() {
  return run_suite("maps", {{"sums_begin_with_the_metrics", sums_begin_with_the_metrics},
                            {"blocks_add_up", blocks_add_up},
                            {"all_instruction_sets_make_the_same", all_instruction_sets_make_the_same},
                            {"all_of_a_block_is_spread", all_of_a_block_is_spread},
                            {"deviations_explain_scores", deviations_explain_scores},
                            {"flat_pictures_lack_nothing", flat_pictures_lack_nothing},
                            {"vif_is_as_defined", vif_is_as_defined},
                            {"adm_is_as_defined", adm_is_as_defined},
                            {"damage_is_found", damage_is_found}});
}
