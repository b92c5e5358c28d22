#include "kernels/siti/siti.h"

#include <check.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

bool operator==(const SitiSums& a, const SitiSums& b) {
  return a.gradients == b.gradients && a.gradient_squares == b.gradient_squares && a.changes == b.changes &&
         a.change_squares == b.change_squares;
}

VideoFormat format_of(int w, int h, int bpc = 8) { return {.w = w, .h = h, .bpc = bpc, .chroma = Chroma::k400}; }

/* The scores of a stream of pairs of lumas. */
Scores score(const VideoFormat& format, const std::vector<std::pair<SamplePlane, SamplePlane>>& pairs) {
  const auto siti = make_extractor(kSitiExtractor, format);
  const auto scorer = siti->make_scorer();
  Scores scores(*siti);
  for (size_t n = 0; n < pairs.size(); n++) {
    FrameSet frames;
    frames.index = static_cast<int64_t>(n);
    frames.ref = {format.bpc, {pairs[n].first}};
    frames.dist = {format.bpc, {pairs[n].second}};
    if (n) {
      frames.earlier_ref[0] = {format.bpc, {pairs[n - 1].first}};
      frames.earlier_dist[0] = {format.bpc, {pairs[n - 1].second}};
    }
    SitiPair sums = {};
    siti->extract(frames, nullptr, &sums);
    scorer->finalize(frames.index, &sums, scores);
  }
  ck_assert(scorer->flush(scores).ok());
  return scores;
}

}  // namespace

START_TEST(simd_equals_plain) {
  for_each_cpu_target([](const std::string& target) {
    for (int bpc = 8; bpc <= 16; bpc++)
      with_sample_type(bpc, [&]<class T>(T) {
        for (int w = 1; w <= 134; w++) {
          TestPlane<T> now(w, 1 + w % 5, w % 5, w % 3, w % 2), before(w, 1 + w % 5, w % 3);
          for (const Fill fill : kFills) {
            now.fill(fill, bpc, w);
            before.fill(w % 2 ? Fill::kRandom : Fill::kMax, bpc, w + 1);
            for (const bool first : {false, true}) {
              const SamplePlane earlier = first ? SamplePlane() : before.sample_plane();
              ck_assert_msg(siti_simd(now.sample_plane(), earlier, bpc) == siti_plain(now.sample_plane(), earlier, bpc),
                            "%s, width %d, %d bit, %s", target.c_str(), w, bpc, fill_name(fill));
            }
          }
        }
      });
  });
}
END_TEST

/* The largest gradients and changes, in a picture so long that sums of 32 bits would wrap. */
START_TEST(largest_values) {
  static constexpr int kW = 70000;
  for_each_cpu_target([](const std::string& target) {
    for (const int bpc : {8, 12, 14, 16})
      with_sample_type(bpc, [&]<class T>(T) {
        TestPlane<T> now(kW, 3), before(kW, 3);
        now.fill(Fill::kZero, bpc, 1);
        before.fill(Fill::kMax, bpc, 1);
        const int64_t most = (1 << bpc) - 1;
        for (int y = 0; y < 3; y++)
          for (int x = 0; x < kW; x++)
            if (x / 2 % 2) now.at(x, y) = static_cast<T>(most);
        const SitiSums sums = siti_simd(now.sample_plane(), before.sample_plane(), bpc);
        const uint64_t edge = static_cast<uint64_t>(4 * most);  // every sample lies beside one
        ck_assert_msg(sums.gradient_squares == (kW - 2) * edge * edge, "%s, %d bit", target.c_str(), bpc);
        ck_assert_uint_eq(sums.gradients, (kW - 2) * edge << (28 - bpc));
        ck_assert_int_eq(sums.changes, -most * 3 * kW / 2);
        ck_assert_uint_eq(sums.change_squares, static_cast<uint64_t>(most * most * 3 * kW / 2));
      });
  });
}
END_TEST

/* A corner of height 10 in a picture of 4x4, which has four samples with all neighbors. */
START_TEST(scores_by_hand) {
  TestPlane<uint8_t> flat(4, 4), corner(4, 4);
  flat.fill(Fill::kZero, 8, 1);
  corner.fill(Fill::kZero, 8, 1);
  corner.at(3, 3) = 10;
  Scores scores = score(format_of(4, 4), {{flat.sample_plane(), flat.sample_plane()},
                                          {flat.sample_plane(), corner.sample_plane()},
                                          {flat.sample_plane(), flat.sample_plane()}});
  const double magnitude = std::sqrt(200.), mean = magnitude / 4;  // (10, 10) at one of the four
  scores.expect("si_distorted 0", 0);
  scores.expect("ti_distorted 0", 0);
  scores.expect("si_distorted 1", std::sqrt(200. / 4 - mean * mean), 1e-6);
  scores.expect("ti_distorted 1", std::sqrt(100. / 16 - 10. / 16 * 10. / 16), 1e-12);
  scores.expect("ti_distorted 2", scores.of.at("ti_distorted 1"));
  for (const char* key : {"si_reference 1", "ti_reference 1", "ti_reference 2"}) scores.expect(key, 0);
}
END_TEST

/* The scale is that of 8 bit, and pictures without inner samples have no spatial information. */
START_TEST(depths_and_small_pictures) {
  TestPlane<uint8_t> bytes(40, 30);
  bytes.fill(Fill::kRandom, 8, 5);
  const double wanted = score(format_of(40, 30), {{bytes.sample_plane(), bytes.sample_plane()}}).of["si_reference 0"];
  ck_assert_double_gt(wanted, 10);
  for (const int bpc : {10, 12, 16}) {
    TestPlane<uint16_t> words(40, 30);
    for (int y = 0; y < 30; y++)
      for (int x = 0; x < 40; x++) words.at(x, y) = static_cast<uint16_t>(bytes.at(x, y) << (bpc - 8));
    score(format_of(40, 30, bpc), {{words.sample_plane(), words.sample_plane()}})
        .expect("si_reference 0", wanted, 1e-5);
  }
  TestPlane<uint8_t> thin(40, 2), other(40, 2);
  thin.fill(Fill::kRandom, 8, 1);
  other.fill(Fill::kRandom, 8, 2);
  Scores scores = score(format_of(40, 2),
                        {{thin.sample_plane(), thin.sample_plane()}, {other.sample_plane(), other.sample_plane()}});
  scores.expect("si_distorted 1", 0);
  ck_assert_double_gt(scores.of["ti_distorted 1"], 10);
}
END_TEST

START_TEST(facts) {
  const auto siti = make_extractor(kSitiExtractor, format_of(16, 16));
  const Reads reads = siti->reads();
  ck_assert_int_eq(reads.history, 1);
  ck_assert_int_eq(reads.reach.before, 1);
  ck_assert_int_eq(reads.reach.after, 0);
  for (const FeatureInfo& feature : siti->features()) ck_assert(feature.worse == Worse::kNeither);
}
END_TEST

int main() {
  return run_suite("siti", {{"simd_equals_plain", simd_equals_plain},
                            {"largest_values", largest_values},
                            {"scores", scores_by_hand},
                            {"depths", depths_and_small_pictures},
                            {"facts", facts}});
}
