/* Extractor and StreamScorer: all that the engine knows of a metric.
 *
 * A metric has one ExtractorInfo, listed in kernels/registry/registry.cpp. create() makes an Extractor for one set of
 * options, one video format and one place to run. Metrics derive theirs from Metric (kernels/metric.h). The engine then
 *
 *   1. calls extract() for every frame, or extract_encodes() for the frames of several encodes that share a picture of
 *      the reference, on any thread, in any order, each call with its own scratch and sums; if device_twin() is not
 *      null, the kernels can make these sums instead;
 *   2. has the extractor make a StreamScorer for each encode, which turns the sums of its frames into scores.
 *
 * The sums are the metric's own struct of raw sums (plain data, memcpy-able). All twins fill the same struct and share
 * the scorer, so equal sums give equal scores. */
#ifndef VMAFX_KERNELS_EXTRACTOR_H
#define VMAFX_KERNELS_EXTRACTOR_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/picture.h"
#include "base/status.h"
#include "kernels/options.h"
#include "kernels/stream_sums.h"

namespace vmafx {

class DeviceTwin;  // kernels/device_twin.h

/* A metric's abilities and needs. */
enum ExtractorFlags : uint32_t {
  kHip = 1u << 0,          // it has kernels: create() takes Placement::kDevice, too
  kColor = 1u << 1,        // scores depend on the meaning of colors: VideoFormat::color
  kFps = 1u << 2,          // scores depend on the number of pictures in a second: VideoFormat::fps
  kWholeChroma = 1u << 3,  // chroma of odd sizes may be rounded up: VideoFormat::whole_chroma, Reads::whole_chroma
  kMaps = 1u << 4,         // its sums can tell where in the picture they come from: kernels/maps.h
};

/* The place where sums are made: in host memory by the CPU, or in device memory by kernels. */
enum class Placement { kCpu, kDevice };

/* The moment at which libvmaf, on one thread, writes a feature's first score: reports list their keys in that order. */
enum class FirstScore { kWithItsFrame, kWithTheNextFrame, kAtTheEnd };

/* The direction of a feature: whether its low or its high scores stand for the worse pictures. */
enum class Worse { kLow, kHigh, kNeither };

/* A member of a metric's struct of scores, named by VMAFX_SCORE() (kernels/metric.h). */
struct ScoreId {
  size_t offset;
  bool operator==(const ScoreId&) const = default;
};

/* The mean of the scores of one or more frames, for features whose mean is not the arithmetic one. */
using MeanOfScores = double(std::span<const double> scores);

/* A feature that an extractor can provide.
 * `name` is what models and options call it, `key` what reports print (plus the suffix of its non-default options). */
struct FeatureInfo {
  const char* name;   // "VMAF_integer_feature_adm2_score"
  const char* key;    // "integer_adm2"
  ScoreId score;      // the member of the metric's scores
  bool bare = false;  // options never show in the key
  FirstScore first_score = FirstScore::kWithItsFrame;
  Worse worse = Worse::kLow;
  MeanOfScores* mean = nullptr;  // nullptr: the arithmetic one
  const char* unit = nullptr;    // "dB"; nullptr: none
  bool alone = false;  // people read it without a model: a main score of reports that do not say what was asked for
  double best = std::numeric_limits<double>::quiet_NaN();  // of a picture without faults; NaN: the picture decides
  bool regional = false;  // regions of a picture have it, too: Extractor::score_region()
};

/* A feature that models call by its key. */
constexpr FeatureInfo plain_feature(const char* key, ScoreId score, Worse worse = Worse::kLow) {
  return {.name = key, .key = key, .score = score, .worse = worse};
}

/* A feature that models call by its key, and whose scores alone do not tell good pictures from bad ones. */
constexpr FeatureInfo neutral_feature(const char* key, ScoreId score) {
  return plain_feature(key, score, Worse::kNeither);
}

/* A feature whose scores have a unit. */
constexpr FeatureInfo in_unit(const char* unit, FeatureInfo feature) {
  feature.unit = unit;
  return feature;
}

/* A feature whose score is the same for all pictures that are without faults. */
constexpr FeatureInfo with_best(double score, FeatureInfo feature) {
  feature.best = score;
  return feature;
}

/* A feature that people read without a model. */
constexpr FeatureInfo read_alone(FeatureInfo feature) {
  feature.alone = true;
  return feature;
}

/* A feature that regions of a picture have, too. */
constexpr FeatureInfo of_regions(FeatureInfo feature) {
  feature.regional = true;
  return feature;
}

/* The other pairs of the stream that a pair's scores depend on. A part of a stream, scored with this many pairs around
 * it, has the scores of the whole stream, to the last bit, wherever the extractor begins to count. */
struct Reach {
  int before = 0, after = 0;
  int first = 0;  // frames that a stream must have, at least, before the scores of its first ones are known
};

/* The planes (bit p for plane p) and the frames that extract() reads. */
struct Reads {
  unsigned ref = 1;
  unsigned dist = 1;
  int history = 0;            // earlier pictures of each side that is read: 0, 1 or 2; if not 0, every_frame is set
  int converted = 0;          // earlier pictures of both sides, as convert() makes them; if not 0, every_frame is set
  bool every_frame = false;   // also the frames that n_subsample leaves out
  bool whole_chroma = false;  // planes of chroma as they are stored, not cropped to half the size of luma rounded down
  int chroma_period = 1;      // chroma is read in frames whose FrameSet::number is a multiple
  Reach reach = {};

  /* Those of `planes`, which are `ref` or `dist`, that are read in a frame. */
  unsigned in_frame(int64_t number, unsigned planes) const { return number % chroma_period == 0 ? planes : planes & 1; }
};

/* A map: a value for each block of a picture (kernels/maps.h). */
struct MapInfo {
  const char* name;                // "vif_scale0"
  const char* unit;                // of the values: "bits"
  int w, h;                        // in blocks
  int block_w, block_h;            // samples of luma that a block covers, but for the last ones
  int middle_x = 0, middle_y = 0;  // from a block's first sample to the middle of its first window
};

/* The most sets of options that one extractor makes sums for. */
inline constexpr size_t kMostVariants = 4;

/* The score of a region without anything that is scored. */
inline constexpr double kNothingThere = std::numeric_limits<double>::quiet_NaN();

/* How much of each block of each of an extractor's maps belongs to a region of the picture, from 0 to 1. */
using BlockShares = std::span<const std::vector<double>>;

/* The input of one call of extract(). Pictures are planar, 8 bit as uint8_t, above as uint16_t, any stride, no
 * padding. */
struct FrameSet {
  int64_t index = 0;   // 0-based frame number
  int64_t number = 0;  // the same, counted from the start of the stream where a session scores a range of it
  int64_t place = 0;   // the same, counted from the first frame of the range; negative in context
  Picture ref;
  Picture dist;
  Picture earlier_ref[2], earlier_dist[2];  // frames index-1 and index-2; data is null before the start of the stream

  /* The pictures as convert() made them: this frame's, then the earlier ones, the latest first, up to Reads::converted
   * of them. Empty for extractors without converted_bytes(). */
  std::span<const std::byte* const> converted_ref, converted_dist;
};

/* Takes the scores of a StreamScorer. `feature` is an index into Extractor::features(). */
class ScoreSink {
 public:
  virtual ~ScoreSink() = default;
  virtual void put(int64_t frame, int feature, double score) = 0;

  /* Whether a frame counts for the values of the whole stream: not if it is the context of a range. */
  virtual bool counts([[maybe_unused]] int64_t frame) const { return true; }

  /* One value for the whole stream ("apsnr_y"), which ExtractorInfo::stream_value makes of the sums of these planes. */
  virtual void put_aggregate(const char* key, std::span<const StreamSums> planes) = 0;
};

/* Turns the raw sums of one encode into scores, on one thread at a time. It holds what earlier frames leave behind; its
 * extractor must outlive it. */
class StreamScorer {
 public:
  virtual ~StreamScorer() = default;

  /* Takes the sums of the next scored frame, in frame order. A temporal metric may hold a frame's score back until a
   * later frame has come; every score must have been put when flush() returns. */
  virtual void finalize(int64_t frame, const void* sums, ScoreSink& sink) = 0;

  /* Ends the stream, once. Fails if the metric's own output did. */
  virtual Status flush(ScoreSink&) { return {}; }
};

/* Computes raw sums. It does not change: any thread may call it at any time. */
class Extractor {
 public:
  virtual ~Extractor() = default;

  /* The features that this instance provides under its options, in report order as far as `first_score` leaves it open.
   * Fixed for its lifetime. */
  virtual std::span<const FeatureInfo> features() const = 0;
  virtual Reads reads() const { return {}; }

  virtual size_t sums_bytes() const = 0;     // size of the struct of raw sums
  virtual size_t scratch_bytes() const = 0;  // working memory of one call of extract(); 64-byte aligned, not cleared

  /* Converts a picture to what extract() reads in place of samples, once, however many frames read it, into memory of
   * converted_bytes(), 64-byte aligned, not cleared. 0: extract() reads samples. */
  virtual size_t converted_bytes() const { return 0; }
  virtual void convert(const Picture&, [[maybe_unused]] std::byte* converted) const {}

  /* Raw sums of one frame. `sums` is zeroed memory of sums_bytes(), 64-byte aligned. */
  virtual void extract(const FrameSet& frames, std::byte* scratch, void* sums) const = 0;

  /* Raw sums of several encodes, at most kMostEncodes, of one picture of the reference: `ref` and `earlier_ref` are the
   * same in all `frames`; `sums[i]` are, to the last bit, what extract() makes of frames[i]. A metric may compute what
   * belongs to the reference alone once for all of them. */
  virtual size_t encodes_scratch_bytes([[maybe_unused]] int encodes) const { return scratch_bytes(); }
  virtual void extract_encodes(std::span<const FrameSet> frames, std::byte* scratch, std::span<void* const> sums) const;

  /* The first byte, in the sums of ExtractorInfo::create_shared()'s extractor, of those of one set of options. */
  virtual size_t sums_offset([[maybe_unused]] size_t variant) const { return 0; }

  /* The maps that its raw sums have, and the values of one of them, row by row: w * h values. */
  virtual std::span<const MapInfo> maps() const { return {}; }
  virtual void read_map(const void*, [[maybe_unused]] size_t map, std::span<double>) const {}

  /* How much each block of a map takes away from FeatureInfo::best: the values of all maps add up to that less the
   * score, but for rounding and the limits of scores. `sums` have maps; another extractor may have made them. False:
   * nothing of that score comes from this map, or it is not known what. */
  virtual bool read_deviation(const void*, [[maybe_unused]] ScoreId score, [[maybe_unused]] size_t map,
                              std::span<double>) const {
    return false;
  }

  /* The score of a region, for features that are `regional`: what the metric makes of the sums of its blocks, each
   * times its share. `sums` have maps; another extractor may have made them. kNothingThere: its blocks have nothing. */
  virtual double score_region(const void*, [[maybe_unused]] ScoreId score, BlockShares) const { return kNothingThere; }

  /* Makes the scorer of one encode. */
  virtual std::unique_ptr<StreamScorer> make_scorer() const = 0;

  /* The values of the whole stream that StreamScorer::flush() puts, by their keys without options. */
  virtual std::span<const char* const> aggregates() const { return {}; }

  /* The metric's kernels, owned by the extractor: not null if it was created for Placement::kDevice, and only then.
   * extract() is the CPU twin in any case: it scores the frames that the device could not take, and verifies the
   * device's sums. */
  virtual DeviceTwin* device_twin() const { return nullptr; }
};

/* A metric that reads no distorted picture has the same sums in all encodes. */
inline void Extractor::extract_encodes(std::span<const FrameSet> frames, std::byte* scratch,
                                       std::span<void* const> sums) const {
  const bool same = !reads().dist;
  for (size_t i = 0; i < frames.size(); i++) {
    if (same && i > 0) std::memcpy(sums[i], sums[0], sums_bytes());
    else extract(frames[i], scratch, sums[i]);
  }
}

struct ExtractorInfo {
  const char* name;                       // "vif"
  const char* measures;                   // one word: "banding"
  const char* help;                       // one line
  const char* range;                      // of the main score: "0 to 1"
  uint32_t flags;                         // ExtractorFlags
  std::span<const FeatureInfo> features;  // all it can provide, whatever the options
  const char* main_score = nullptr;       // key of the one that stands for the metric; nullptr: the first it provides
  std::span<const OptionInfo> options = {};
  /* Fails with EINVAL, and the reason in a sentence, if it cannot handle the format or the option values. */
  StatusOr<std::unique_ptr<Extractor>> (*create)(const Options& options, const VideoFormat& format,
                                                 Placement placement);
  /* Makes one extractor for several sets of options, at most kMostVariants, which are equal before OptionStage::kLate.
   * Its sums hold those of each set, to the last bit what create()'s extractor makes, at sums_offset(); what comes
   * before the late options is done once. Scorers are those of create()'s extractors. nullptr: no option is late. */
  StatusOr<std::unique_ptr<Extractor>> (*create_shared)(std::span<const Options> variants, const VideoFormat& format,
                                                        Placement placement) = nullptr;
  /* Makes an extractor whose raw sums have maps, too (kernels/maps.h). With kMaps: those of create()'s have them if
   * this is nullptr. */
  StatusOr<std::unique_ptr<Extractor>> (*create_mapping)(const Options& options, const VideoFormat& format,
                                                         Placement placement) = nullptr;
  /* Why this format or these option values must run on the CPU although create() accepts them. nullptr: kernels take
   * all that create() accepts. */
  Status (*fits_device)(const Options& options, const VideoFormat& format) = nullptr;
  /* The value of the whole stream that the sums of a plane make. nullptr: the metric has no such values. */
  StreamValue* stream_value = nullptr;

  /* A video's format in the form that create() takes. */
  VideoFormat seen(VideoFormat format) const {
    if (!(flags & kWholeChroma)) format.whole_chroma = false;
    return format;
  }
};

}  // namespace vmafx

#endif
