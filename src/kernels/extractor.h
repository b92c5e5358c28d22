/* Extractor: all that the engine knows of a metric.
 *
 * A metric has one ExtractorInfo, listed in kernels/registry.cpp. create() makes an Extractor for one set of options, one
 * video format and one place to run. Metrics derive theirs from Metric (kernels/metric.h). The engine then
 *
 *   1. calls extract() for every frame, or extract_encodes() for those of several encodes that share a picture of the reference, on any
 *      thread, in any order, each call with its own scratch and sums;
 *   2. calls finalize() with those sums, in frame order, on one thread at a time, and flush() after the last frame.
 *
 * or, where device_twin() is not null, has its kernels make the sums of step 1.
 *
 * The sums are the metric's own struct of raw sums (plain data, memcpy-able). All twins fill the same struct and share
 * finalize(), so equal sums are equal scores. */
#ifndef VMAFX_KERNELS_EXTRACTOR_H
#define VMAFX_KERNELS_EXTRACTOR_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/picture.h"
#include "base/status.h"
#include "kernels/options.h"

namespace vmafx {

class DeviceTwin;  // kernels/device_twin.h

/* What a metric has and needs. */
enum ExtractorFlags : uint32_t {
  kHip = 1u << 0,    // there are kernels of it: create() takes Placement::kDevice, too
  kColor = 1u << 1,  // scores depend on what colors the samples mean: VideoFormat::color
  kFps = 1u << 2,    // scores depend on how many pictures there are in a second: VideoFormat::fps
  kWholeChroma =
      1u << 3,  // scores chroma of odd sizes rounded up where it is so: VideoFormat::whole_chroma, Reads::whole_chroma
};

/* How many encodes of one reference a session scores at most. */
inline constexpr int kMostEncodes = 16;

/* Where the sums are made: of frames in host memory, or by kernels of frames in device memory. */
enum class Placement { kCpu, kDevice };

/* When libvmaf, on one thread, writes the first score of a feature: the keys of its reports stand in that order. */
enum class FirstScore { kWithItsFrame, kWithTheNextFrame, kAtTheEnd };

/* Which of a feature's scores tell of the worse pictures. */
enum class Worse { kLow, kHigh, kNeither };

/* Which member of a metric's struct of scores: VMAFX_SCORE() (kernels/metric.h). */
struct ScoreId {
  size_t offset;
  bool operator==(const ScoreId&) const = default;
};

/* What the scores of frames are together, one or more of them, where that is not their arithmetic mean. */
using MeanOfScores = double(std::span<const double> scores);

/* A feature that an extractor can provide.
 * `name` is what models and options call it, `key` what reports print (plus the suffix of its non-default options). */
struct FeatureInfo {
  const char* name;   // "VMAF_integer_feature_adm2_score"
  const char* key;    // "integer_adm2"
  ScoreId score;      // what of the metric's scores it is
  bool bare = false;  // options never show in the key
  FirstScore first_score = FirstScore::kWithItsFrame;
  Worse worse = Worse::kLow;
  MeanOfScores* mean = nullptr;  // nullptr: the arithmetic one
};

/* A feature that models call by its key. */
constexpr FeatureInfo plain_feature(const char* key, ScoreId score, Worse worse = Worse::kLow) {
  return {.name = key, .key = key, .score = score, .worse = worse};
}

/* And one whose scores alone do not tell good pictures from bad ones. */
constexpr FeatureInfo neutral_feature(const char* key, ScoreId score) {
  return plain_feature(key, score, Worse::kNeither);
}

/* Which other pairs of the stream a pair's scores depend on. Scores of a part of a stream, with so many pairs around it, are those of the whole
 * stream, to the last bit, wherever the extractor begins to count. */
struct Reach {
  int before = 0, after = 0;
  int first = 0;  // of the stream's first frames: so many there must be, at least, before their scores are known
  const char* whole_stream = nullptr;  // what it makes of the whole stream only, in words: "apsnr"; nullptr: nothing
};

/* What extract() reads: of each picture the planes, bit p for plane p; and which frames. */
struct Reads {
  unsigned ref = 1;
  unsigned dist = 1;
  int history = 0;           // how many earlier pictures of each side that is read: 0, 1 or 2; then every_frame is set
  int converted = 0;         // how many earlier pictures of both sides as convert() makes them; then every_frame is set
  bool every_frame = false;  // also the frames that n_subsample leaves out
  bool whole_chroma = false;  // planes of chroma as they are stored, not cropped to half the size of luma rounded down
  Reach reach = {};
};

/* What one call of extract() sees. Pictures are planar, 8 bit as uint8_t, above as uint16_t, any stride, no padding. */
struct FrameSet {
  int64_t index = 0;  // 0-based frame number
  Picture ref;
  Picture dist;
  Picture earlier_ref[2],
      earlier_dist[2];  // of frame index-1 and index-2; data == nullptr before the start of the stream

  /* What convert() made of this frame's pictures, and behind that of those before it: as many as there are, up to Reads::converted. None
   * for extractors without converted_bytes(). */
  std::span<const std::byte* const> converted_ref, converted_dist;
};

/* Where finalize() and flush() put what they know. `feature` is an index into Extractor::features(). */
class ScoreSink {
 public:
  virtual ~ScoreSink() = default;
  virtual void put(int64_t frame, int feature, double score) = 0;
  virtual void put_aggregate(const char* key, double value) = 0;  // one value for the whole stream ("apsnr_y")
};

class Extractor {
 public:
  virtual ~Extractor() = default;

  /* The features that this instance provides under its options, in report order as far as `first_score` leaves it open. Fixed
   * for its lifetime. */
  virtual std::span<const FeatureInfo> features() const = 0;
  virtual Reads reads() const { return {}; }

  virtual size_t sums_bytes() const = 0;     // size of the struct of raw sums
  virtual size_t scratch_bytes() const = 0;  // working memory of one call of extract(); 64-byte aligned, not cleared

  /* What extract() reads of a picture in place of its samples, made of each picture once, however many frames read it: into memory of
   * converted_bytes(), 64-byte aligned, not cleared. 0: it reads samples. Thread-safe. */
  virtual size_t converted_bytes() const { return 0; }
  virtual void convert(const Picture&, [[maybe_unused]] std::byte* converted) const {}

  /* Raw sums of one frame. `sums` is zeroed memory of sums_bytes(), 64-byte aligned. Thread-safe. */
  virtual void extract(const FrameSet& frames, std::byte* scratch, void* sums) const = 0;

  /* The same for several encodes, at most kMostEncodes, of one picture of the reference: `ref` and `earlier_ref` are the same in all
   * `frames`; `sums[i]` are those of frames[i], to the last bit what extract() makes of it. What belongs to the reference alone is computed
   * once where the metric can do that. */
  virtual size_t encodes_scratch_bytes([[maybe_unused]] int encodes) const { return scratch_bytes(); }
  virtual void extract_encodes(std::span<const FrameSet> frames, std::byte* scratch, std::span<void* const> sums) const;

  /* Raw sums to scores, called once per scored frame in frame order. A temporal metric may hold a frame's score back
   * until a later one is known; every score must have been put when flush() returns. */
  virtual void finalize(int64_t frame, const void* sums, ScoreSink& sink) = 0;
  virtual Status flush(ScoreSink&) { return {}; }  // fails where the metric's own output did

  /* Keys of the values of the whole stream that flush() puts. */
  virtual std::span<const char* const> aggregates() const { return {}; }

  /* The metric's kernels, owned by the extractor: not null exactly where it was created for Placement::kDevice. extract() is
   * the CPU twin in any case, for frames that the device could not take and to verify those that it did. */
  virtual DeviceTwin* device_twin() { return nullptr; }
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
  uint32_t flags;                         // ExtractorFlags
  std::span<const FeatureInfo> features;  // all it can provide, whatever the options
  const char* main_score = nullptr;       // key of the one that stands for the metric; nullptr: the first it provides
  std::span<const OptionInfo> options = {};
  /* EINVAL when the format or the option values cannot be handled, with the reason in a sentence. */
  StatusOr<std::unique_ptr<Extractor>> (*create)(const Options& options, const VideoFormat& format,
                                                 Placement placement);
  /* Why kernels leave a format or option values that create() takes to the CPU. nullptr: they take all. */
  Status (*fits_device)(const Options& options, const VideoFormat& format) = nullptr;

  /* The format of a video as create() takes it. */
  VideoFormat seen(VideoFormat format) const {
    if (!(flags & kWholeChroma)) format.whole_chroma = false;
    return format;
  }
};

}  // namespace vmafx

#endif
