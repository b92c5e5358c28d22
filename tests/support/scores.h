/* The scores that an extractor puts, by key and frame. */
#ifndef VMAFX_TESTS_SUPPORT_SCORES_H
#define VMAFX_TESTS_SUPPORT_SCORES_H

#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "kernels/extractor.h"
#include "tests/support/check_main.h"
#include "tests/support/scratch.h"

namespace vmafx::test {

struct Scores : ScoreSink {
  explicit Scores(const Extractor& extractor, StreamValue* of_stream = nullptr)
      : features(extractor.features()), stream_value(of_stream) {}

  void put(int64_t frame, int feature, double score) override {
    const std::string what = name(features[feature].key, frame);
    ck_assert_msg(!of.count(what), "%s was put twice", what.c_str());
    of[what] = score;
  }
  void put_aggregate(const char* key, std::span<const vmafx::StreamSums> planes) override {
    if (stream_value) of[key] = least_value(stream_value, planes);
  }

  /* `what`: "psnr_y 0" is that of frame 0, "apsnr_y" an aggregate. */
  void expect(const char* what, double want, double within = 0) {
    ck_assert_msg(of.count(what), "%s was not put", what);
    ck_assert_msg(of[what] == want || std::abs(of[what] - want) <= within, "%s is %.17g, not %.17g", what, of[what],
                  want);
  }

  /* Frame by frame, "0 2 2.5"; "-" where nothing was put. */
  std::string text(const char* key, int frames) const {
    std::string line;
    for (int frame = 0; frame < frames; frame++) {
      const auto score = of.find(name(key, frame));
      line += (frame ? " " : "") + (score == of.end() ? "-" : format_text("%g", score->second));
    }
    return line;
  }

  /* The scores of frame 0, in the order of the features. */
  std::vector<double> first() const {
    std::vector<double> scores;
    for (const FeatureInfo& feature : features) scores.push_back(of.at(name(feature.key, 0)));
    return scores;
  }

  static std::string name(const char* key, int64_t frame) { return format_text("%s %d", key, static_cast<int>(frame)); }

  std::span<const FeatureInfo> features;
  StreamValue* stream_value;  // ExtractorInfo's; nullptr: values of the whole stream are left out
  std::map<std::string, double> of;
};

/* An extractor of these options; the test fails where they or the format are refused. */
inline std::unique_ptr<Extractor> make_extractor(const ExtractorInfo& info, const VideoFormat& format,
                                                 const OptionTexts& given = {}, Placement placement = Placement::kCpu) {
  auto options = Options::resolve(info.name, info.options, given);
  ck_assert_msg(options.ok(), "%s", options.status().message().c_str());
  auto made = info.create(options.value(), format, placement);
  ck_assert_msg(made.ok(), "%s", made.status().message().c_str());
  return std::move(made.value());
}

/* One extractor for several sets of options. */
inline std::unique_ptr<Extractor> make_shared_extractor(const ExtractorInfo& info, const VideoFormat& format,
                                                        const std::vector<OptionTexts>& sets,
                                                        Placement placement = Placement::kCpu) {
  ck_assert_msg(info.create_shared, "%s serves one set of options only", info.name);
  std::vector<Options> resolved;
  for (const OptionTexts& given : sets) {
    auto options = Options::resolve(info.name, info.options, given);
    ck_assert_msg(options.ok(), "%s", options.status().message().c_str());
    resolved.push_back(std::move(options.value()));
    ck_assert(resolved.front().equal_before(OptionStage::kLate, resolved.back()));
  }
  auto made = info.create_shared(resolved, format, placement);
  ck_assert_msg(made.ok(), "%s", made.status().message().c_str());
  return std::move(made.value());
}

/* Why they are refused. */
inline std::string refusal(const ExtractorInfo& info, const VideoFormat& format, const OptionTexts& given = {},
                           int code = EINVAL) {
  auto options = Options::resolve(info.name, info.options, given);
  Status status = options.status();
  if (options.ok()) status = info.create(options.value(), format, Placement::kCpu).status();
  ck_assert_msg(status.code() == code, "%s says %d, not %d: %s", info.name, status.code(), code,
                status.message().c_str());
  return status.message();
}

/* The scores of one frame. */
inline Scores score_frame(const Extractor& extractor, const Picture& ref, const Picture& dist) {
  const TestScratch scratch(extractor.scratch_bytes());
  const AlignedBytes sums = allocate_aligned(extractor.sums_bytes());
  std::memset(sums.get(), 0, extractor.sums_bytes());
  FrameSet frames;
  frames.ref = ref;
  frames.dist = dist;
  extractor.extract(frames, scratch.get(), sums.get());
  const auto scorer = extractor.make_scorer();
  Scores scores(extractor);
  scorer->finalize(0, sums.get(), scores);
  ck_assert(scorer->flush(scores).ok());
  return scores;
}

}  // namespace vmafx::test

#endif
