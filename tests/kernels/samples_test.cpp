/* No metric ignores a sample that it is given: each sample of luma and chroma changes its score, of either picture, in
 * 4:2:0, 4:2:2 and 4:4:4, at even and odd sizes, whose chroma is rounded up for metrics that take it so. A defect that
 * skips rows or columns of a plane shows here. CK_RUN_CASE=ciede is one metric. */
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "kernels/registry/registry.h"
#include "tests/support/check_main.h"
#include "tests/support/converted.h"
#include "tests/support/parity.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/test_picture.h"

#include <check.h>

using namespace vmafx;
using namespace vmafx::test;

namespace {

/* All scores of one frame, or of the second frame of two where the metric needs the one before. */
std::vector<double> scores_of(const Extractor& extractor, const Picture& ref, const Picture& dist,
                              const Picture& before) {
  const TestScratch scratch(extractor.scratch_bytes());
  const AlignedBytes sums = allocate_aligned(extractor.sums_bytes());
  const bool has_before = extractor.reads().history > 0;
  FrameSet frames;
  frames.index = has_before;
  frames.ref = ref;
  frames.dist = dist;
  if (has_before) frames.earlier_ref[0] = frames.earlier_dist[0] = before;
  const ConvertedFrame converted(extractor, {{ref}}, {{dist}});
  converted.show(frames);
  std::vector<double> all;
  const auto scorer = extractor.make_scorer();
  Scores scores(extractor);
  for (int64_t index = 0; index <= frames.index; index++) {
    std::memset(sums.get(), 0, extractor.sums_bytes());
    FrameSet of = frames;
    if (index < frames.index) {
      of = {};
      of.ref = of.dist = before;
    }
    of.index = index;
    extractor.extract(of, scratch.get(), sums.get());
    scorer->finalize(index, sums.get(), scores);
  }
  ck_assert(scorer->flush(scores).ok());
  for (const auto& [key, score] : scores.of) all.push_back(score);
  return all;
}

/* Samples of colors inside the gamut, so that none is cut off, and changed ones, too. */
template <class T>
void paint(TestPicture<T>& picture, const VideoFormat& format, uint32_t seed) {
  fill(picture, Fill::kRandom, format.bpc, seed);
  for (int p = 0; p < picture.planes(); p++)
    for (int y = 0; y < format.plane_h(p); y++)
      for (int x = 0; x < format.plane_w(p); x++) {
        T& sample = picture.plane(p).at(x, y);
        sample = static_cast<T>((110 << (format.bpc - 8)) + sample % (32 << (format.bpc - 8)));
      }
}

template <class T>
void check(const ExtractorInfo& info, const ChromaCase& metric, const VideoFormat& format) {
  TestPicture<T> ref(format, false), dist(format, false), before(format, false);
  paint(ref, format, 5);
  paint(dist, format, 5);
  paint(before, format, 50);
  const auto scores = [&] {
    return scores_of(*make_extractor(info, format, metric.options), ref.view(), dist.view(), before.view());
  };
  const std::vector<double> equal = scores();
  const int every = every_under_sanitizers(5);
  const Reads reads = make_extractor(info, format, metric.options)->reads();
  for (const bool of_ref : {false, true})
    for (int p = 0; p < 3; p++) {
      if (!((of_ref ? reads.ref : reads.dist) >> p & 1)) continue;
      for (int y = 0; y < metric.covered(format.plane_h(p)); y++)
        for (int x = y % every; x < metric.covered(format.plane_w(p)); x += every) {
          T& sample = (of_ref ? ref : dist).plane(p).at(x, y);
          const T kept = sample;
          sample = static_cast<T>(sample + (24 << (format.bpc - 8)));
          ck_assert_msg(scores() != equal, "%s, %dx%d %d bit, chroma %d: sample (%d, %d) of plane %d of %s is ignored",
                        info.name, format.w, format.h, format.bpc, static_cast<int>(format.chroma), x, y, p,
                        of_ref ? "ref" : "dist");
          sample = kept;
        }
    }
}

}  // namespace

/* Checks the chroma case number _i. */
START_TEST(each_sample_counts) {
  const ChromaCase& metric = chroma_cases()[static_cast<size_t>(_i)];
  const ExtractorInfo& info = *find_extractor(metric.metric).info;
  int turn = _i;
  for (const Chroma chroma : {Chroma::k420, Chroma::k422, Chroma::k444})
    for (const bool odd_w : {false, true})
      for (const bool odd_h : {false, true}) {
        const int least = metric.least + metric.least % 2;
        const VideoFormat format = info.seen({.w = least + 2 + odd_w,
                                              .h = least + odd_h,
                                              .bpc = turn++ % 2 ? 10 : 8,
                                              .chroma = chroma,
                                              .fps = 25,
                                              .whole_chroma = true});
        ck_assert(make_extractor(info, format, metric.options)->reads().whole_chroma == format.whole_chroma);
        with_sample_type(format.bpc, [&]<class T>(T) { check<T>(info, metric, format); });
      }
}
END_TEST

/* Among the metrics that read chroma, speed_chroma alone has no case: it takes every 16th sample under a window of nine
 * (speed.h). */
START_TEST(each_metric_of_chroma_has_a_case) {
  const VideoFormat format = {.w = 256, .h = 256, .bpc = 8, .chroma = Chroma::k420, .fps = 25};
  for (const ExtractorInfo* info : extractors()) {
    const Reads reads = make_extractor(*info, format)->reads();
    const bool has_case = std::ranges::any_of(
        chroma_cases(), [&](const ChromaCase& of) { return std::strcmp(of.metric, info->name) == 0; });
    if ((reads.ref | reads.dist) > 1 && std::strcmp(info->name, "speed_chroma") != 0)
      ck_assert_msg(has_case, "%s reads chroma: register its MetricSamples", info->name);
  }
}
END_TEST

int main() {
  std::vector<NamedTest> tests = {{"listed", each_metric_of_chroma_has_a_case}};
  for (const ChromaCase& metric : chroma_cases())
    tests.push_back({metric.metric, each_sample_counts, static_cast<int>(tests.size()) - 1});
  return run_suite("samples", tests);
}
