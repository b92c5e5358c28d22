/* Several encodes of one reference at once, by the CPU twins of every metric: the raw sums of each one alone, to the
 * last bit, on every instruction set. CK_RUN_CASE=vif is one metric. */
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/aligned.h"
#include "kernels/registry/registry.h"
#include "tests/kernels/cases.h"
#include "tests/support/converted.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

#include <check.h>

using namespace vmafx;
using namespace vmafx::test;

namespace {

/* As many as one strip serves, one more, and more than any. */
constexpr size_t kEncodes[] = {2, 3, 5, 9};

using Sums = std::vector<std::byte>;

/* Frame `frame` of encode `encode`: the distorted pictures of another frame, or the reference's own. */
FrameSet frame_of(std::vector<PicturePair> pairs, size_t frame, size_t encode) {
  const std::vector<PicturePair> given = pairs;
  for (size_t i = 0; i < pairs.size(); i++)
    pairs[i].dist = encode == 1 ? given[i].ref : given[(i + encode) % given.size()].dist;
  return vmafx::test::frame_of(pairs, frame);
}

Sums alone(const Extractor& extractor, const FrameSet& frame) {
  const TestScratch scratch(extractor.scratch_bytes());
  const AlignedBytes sums = allocate_aligned(extractor.sums_bytes());
  std::memset(sums.get(), 0, extractor.sums_bytes());
  extractor.extract(frame, scratch.get(), sums.get());
  return {sums.get(), sums.get() + extractor.sums_bytes()};
}

std::vector<Sums> together(const Extractor& extractor, const std::vector<FrameSet>& frames) {
  const TestScratch scratch(extractor.encodes_scratch_bytes(static_cast<int>(frames.size())));
  std::vector<AlignedBytes> memory;
  std::vector<void*> sums;
  for (size_t i = 0; i < frames.size(); i++) {
    memory.push_back(allocate_aligned(extractor.sums_bytes()));
    sums.push_back(std::memset(memory.back().get(), 0, extractor.sums_bytes()));
  }
  extractor.extract_encodes(frames, scratch.get(), sums);
  std::vector<Sums> all;
  for (const AlignedBytes& of : memory) all.emplace_back(of.get(), of.get() + extractor.sums_bytes());
  return all;
}

void check(const ExtractorInfo& info, const ParityCase& given, size_t encodes, const std::string& target) {
  TestPictures pictures(given.format, given.frames);
  given.paint(pictures);
  const std::vector<PicturePair> pairs = pictures.pairs();
  const auto extractor = extractor_of(info, given);
  for (size_t frame = 0; frame < pairs.size(); frame++) {
    std::vector<FrameSet> frames;
    std::vector<ConvertedFrame> converted;
    for (size_t encode = 0; encode < encodes; encode++) {
      frames.push_back(frame_of(pairs, frame, encode));
      std::vector<Picture> refs, dists;
      for (size_t until = 0; until <= frame; until++) {
        refs.push_back(frame_of(pairs, until, encode).ref);
        dists.push_back(frame_of(pairs, until, encode).dist);
      }
      converted.emplace_back(*extractor, refs, dists);
    }
    for (size_t encode = 0; encode < encodes; encode++) converted[encode].show(frames[encode]);
    const std::vector<Sums> got = together(*extractor, frames);
    for (size_t encode = 0; encode < encodes; encode++)
      ck_assert_msg(got[encode] == alone(*extractor, frames[encode]),
                    "%s, %dx%d %d bit, %s, %zu encodes: frame %zu of encode %zu has other sums than alone",
                    name_of(info.name, given).c_str(), given.format.w, given.format.h, given.format.bpc, target.c_str(),
                    encodes, frame, encode);
  }
}

}  // namespace

/* Checks the metric number _i. The instruction sets take turns with the cases, each meeting every number of encodes. */
START_TEST(sums_are_those_of_each_alone) {
  const ExtractorInfo& info = *all_extractors()[static_cast<size_t>(_i)];
  const ParityCases cases = cases_of(info.name);
  size_t turn = 0;
  for_each_cpu_target([&](const std::string& target) {
    const size_t targets = runnable_cpu_targets().size();
    const size_t step = targets * static_cast<size_t>(every_if_not_all(2) * every_under_sanitizers(2));
    for (size_t i = turn++ % targets; i < cases.size(); i += step)
      check(info, cases[i], kEncodes[(i / targets) % std::size(kEncodes)], target);
  });
}
END_TEST

int main() { return run_suite("encodes", test_of_each_metric(sums_are_those_of_each_alone)); }
