/* Metric: what metrics have in common as extractors, so that one of them says only its options, features, twins and
 * scores.
 *
 *     struct FooOptions { double limit = 1; };               // fields and defaults: option<&FooOptions::limit>(…)
 *     struct FooScores { double foo; };                      // what features name: VMAFX_SCORE(FooScores, foo)
 *     class Foo : public Metric<FooParams, FooSums, FooScores> {
 *       using Metric::Metric;
 *       FooScores scores(const FooSums& sums) const override;
 *     };
 *     Created create(const FooOptions&, const VideoFormat&, Placement);
 *     // ExtractorInfo: .create = with_fields<create> */
#ifndef VMAFX_KERNELS_METRIC_H
#define VMAFX_KERNELS_METRIC_H

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/cpu.h"
#include "kernels/extractor.h"
#include "kernels/forward.h"

namespace vmafx {

/* -- Scores by name ------------------------------------------------------------------------------------------------ */

template <class Member>
consteval ScoreId score_id(size_t offset) {
  static_assert(std::is_same_v<Member, double&>, "scores are doubles");
  return {offset};
}

/* The ScoreId of a member of a metric's struct of scores, or of an entry of a member: VMAFX_SCORE(VifScores,
 * scale[0]). */
#define VMAFX_SCORE(Scores, member) \
  ::vmafx::score_id<decltype((std::declval<Scores&>().member))>(offsetof(Scores, member))

/* Takes scores by what they are called, and drops those that an extractor does not provide. */
class NamedScores {
 public:
  NamedScores(std::span<const FeatureInfo> features, ScoreSink& sink) : features_(features), sink_(sink) {}

  void put(int64_t frame, ScoreId id, double score) {
    for (size_t i = 0; i < features_.size(); i++)
      if (features_[i].score == id) sink_.put(frame, static_cast<int>(i), score);
  }

  /* All of a frame. */
  template <class Scores>
  void put_all(int64_t frame, const Scores& scores) {
    for (size_t i = 0; i < features_.size(); i++) {
      const std::byte* const score = reinterpret_cast<const std::byte*>(&scores) + features_[i].score.offset;
      sink_.put(frame, static_cast<int>(i), *reinterpret_cast<const double*>(score));
    }
  }

 private:
  const std::span<const FeatureInfo> features_;
  ScoreSink& sink_;
};

/* -- Twins: the same raw sums of the same frames, to the last bit, on another processor ---------------------------- */

template <class Params, class Sums>
struct CpuTwin {
  /* Fills `sums`, which are zero, from a frame. Thread-safe. */
  using Run = void(const Params& params, const FrameSet& frames, std::byte* scratch, Sums& sums);

  /* Fills the sums of several encodes of one picture of the reference, which is the same in all `frames`; to the last
   * bit what run() makes of each. */
  using RunEncodes = void(const Params& params, std::span<const FrameSet> frames, std::byte* scratch,
                          std::span<Sums* const> sums);

  size_t (*scratch_bytes)(const Params& params);  // working memory of run(), 64-byte aligned; nullptr: none
  Run* run;
  size_t (*encodes_scratch_bytes)(const Params& params, int encodes) = nullptr;  // working memory of run_encodes()
  RunEncodes* run_encodes = nullptr;  // nullptr: run() takes one encode after the other
};

template <class Params, class Sums>
struct Twins {
  CpuTwin<Params, Sums> plain, simd;
  OwnedDeviceTwin (*device)(const Params& params);
};

/* CpuTwin::run of a twin that takes the luma of both pictures. */
template <auto twin>
constexpr auto on_luma = [](const auto& params, const FrameSet& frames, std::byte* scratch, auto& sums) {
  twin(params, frames.ref.plane[0], frames.dist.plane[0], scratch, sums);
};

/* CpuTwin::run of a twin by its run_encodes. */
template <auto run_encodes>
constexpr auto of_one = []<class Sums>(const auto& params, const FrameSet& frames, std::byte* scratch, Sums& sums) {
  Sums* const all[] = {&sums};
  run_encodes(params, {&frames, 1}, scratch, std::span<Sums* const>(all));
};

/* CpuTwin::run_encodes of one that takes the luma of the reference and of all encodes. */
template <auto twin>
constexpr auto on_luma_of_encodes =
    [](const auto& params, std::span<const FrameSet> frames, std::byte* scratch, auto sums) {
      SamplePlane dist[kMostEncodes];
      for (size_t i = 0; i < frames.size(); i++) dist[i] = frames[i].dist.plane[0];
      twin(params, frames[0].ref.plane[0], std::span<const SamplePlane>(dist, frames.size()), scratch, sums);
    };

/* All but the scores. */
template <class Params, class Sums>
class TwinExtractor : public Extractor {
 public:
  TwinExtractor(Params params, const Twins<Params, Sums>& twins, std::span<const FeatureInfo> features,
                Placement placement)
      : params_(std::move(params)), features_(features.begin(), features.end()),
        cpu_twin_(use_plain_cpu() ? twins.plain : twins.simd),
        device_twin_(placement == Placement::kDevice && twins.device ? twins.device(params_).twin : nullptr) {}

  std::span<const FeatureInfo> features() const final { return features_; }
  size_t sums_bytes() const override { return sizeof(Sums); }
  size_t scratch_bytes() const final { return cpu_twin_.scratch_bytes ? cpu_twin_.scratch_bytes(params_) : 0; }
  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const final {
    cpu_twin_.run(params_, frames, scratch, *static_cast<Sums*>(sums));
  }
  size_t encodes_scratch_bytes(int encodes) const final {
    if (!cpu_twin_.run_encodes) return scratch_bytes();
    return std::max(scratch_bytes(), cpu_twin_.encodes_scratch_bytes(params_, encodes));
  }
  void extract_encodes(std::span<const FrameSet> frames, std::byte* scratch, std::span<void* const> sums) const final {
    if (!cpu_twin_.run_encodes || frames.size() == 1) return Extractor::extract_encodes(frames, scratch, sums);
    Sums* typed[kMostEncodes];
    for (size_t i = 0; i < frames.size(); i++) typed[i] = static_cast<Sums*>(sums[i]);
    cpu_twin_.run_encodes(params_, frames, scratch, {typed, frames.size()});
  }
  DeviceTwin* device_twin() const final { return device_twin_.get(); }

 protected:
  const Params params_;

 private:
  const std::vector<FeatureInfo> features_;
  const CpuTwin<Params, Sums> cpu_twin_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

/* A metric whose scores of a frame follow from the frame's sums alone. Values of the whole stream come from a scorer of
 * its own, derived from Metric::FrameScorer. */
template <class Params, class Sums, class Scores>
class Metric : public TwinExtractor<Params, Sums> {
 public:
  using TwinExtractor<Params, Sums>::TwinExtractor;

  std::unique_ptr<StreamScorer> make_scorer() const override { return std::make_unique<FrameScorer>(*this); }

 protected:
  class FrameScorer : public StreamScorer {
   public:
    explicit FrameScorer(const Metric& metric) : metric_(metric) {}

    void finalize(int64_t frame, const void* sums, ScoreSink& sink) final {
      const Sums& of_frame = *static_cast<const Sums*>(sums);
      const Scores scores = metric_.scores(of_frame);
      NamedScores(metric_.features(), sink).put_all(frame, scores);
      if (sink.counts(frame)) add(of_frame, scores);
    }
    Status flush(ScoreSink&) override { return metric_.close_output(); }

   private:
    /* Adds a frame to the values of the whole stream. */
    virtual void add(const Sums&, const Scores&) {}

    const Metric& metric_;
  };

  /* All scores of one frame that the metric knows; those of the instance's features are picked from them. */
  virtual Scores scores(const Sums& sums) const = 0;

  /* Closes the files that extract() writes. Fails if they could not be written. */
  virtual Status close_output() const { return {}; }
};

/* -- Creation ------------------------------------------------------------------------------------------------------ */

using Created = StatusOr<std::unique_ptr<Extractor>>;

struct NoOptions {};

template <class Fields>
Fields fields_taken_by(Created (*make)(const Fields&, const VideoFormat&, Placement));

/* ExtractorInfo::create by a function that takes the options as a struct of fields. */
template <auto make>
Created with_fields(const Options& options, const VideoFormat& format, Placement placement) {
  return make(options.fields<decltype(fields_taken_by(make))>(), format, placement);
}

template <class Fields>
Fields fields_shared_by(Created (*make)(std::span<const Fields>, const VideoFormat&, Placement));

/* ExtractorInfo::create_shared by a function that takes each set of options as a struct of fields. */
template <auto make>
Created with_sets_of_fields(std::span<const Options> variants, const VideoFormat& format, Placement placement) {
  using Fields = decltype(fields_shared_by(make));
  std::vector<Fields> sets;
  for (const Options& options : variants) sets.push_back(options.fields<Fields>());
  return make(sets, format, placement);
}

}  // namespace vmafx

#endif
