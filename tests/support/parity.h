/* Cases on which a metric's kernels are held against its CPU twin (tests/kernels/parity_test.cpp): formats, pictures,
 * options. The file `foo_cases.cpp` in a metric's folder makes them, and registers them as MetricCases. */
#ifndef VMAFX_TESTS_SUPPORT_PARITY_H
#define VMAFX_TESTS_SUPPORT_PARITY_H

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/options.h"
#include "tests/support/device.h"
#include "tests/support/planes.h"

namespace vmafx::test {

/* The pictures of a stream: number 2 * frame is that of ref, the next one that of dist. */
class TestPictures {
 public:
  TestPictures(const VideoFormat& format, int frames) : format_(format), count_(2 * frames) {
    for (int picture = 0; picture < count_; picture++)
      for (int p = 0; p < format.planes(); p++) add_plane(format.plane_w(p), format.plane_h(p));
  }

  const VideoFormat& format() const { return format_; }
  int count() const { return count_; }

  void fill(int picture, int plane, Fill fill, uint32_t seed) {
    std::visit([&](auto& samples) { samples.fill(fill, format_.bpc, seed); }, at(picture, plane));
  }

  /* A sample of the luma. */
  int get(int picture, int x, int y) {
    return std::visit([&](auto& samples) { return static_cast<int>(samples.at(x, y)); }, at(picture, 0));
  }
  void set(int picture, int x, int y, int value) {
    std::visit([&](auto& samples) { store(samples.at(x, y), value); }, at(picture, 0));
  }

  std::vector<PicturePair> pairs() {
    std::vector<PicturePair> pairs(static_cast<size_t>(count_) / 2);
    for (int picture = 0; picture < count_; picture++) {
      Picture& of = picture % 2 ? pairs[picture / 2].dist : pairs[picture / 2].ref;
      of.bpc = format_.bpc;
      for (int p = 0; p < format_.planes(); p++)
        of.plane[p] = std::visit([](auto& samples) { return samples.sample_plane(); }, at(picture, p));
    }
    return pairs;
  }

 private:
  using AnyPlane = std::variant<TestPlane<uint8_t>, TestPlane<uint16_t>>;

  void add_plane(int w, int h) {
    const int pad = static_cast<int>(planes_.size() % 5);
    if (format_.bpc == 8) planes_.emplace_back(TestPlane<uint8_t>(w, h, pad));
    else planes_.emplace_back(TestPlane<uint16_t>(w, h, pad));
  }
  AnyPlane& at(int picture, int plane) { return planes_[static_cast<size_t>(picture * format_.planes() + plane)]; }
  template <class T>
  static void store(T& sample, int value) {
    sample = static_cast<T>(value);
  }

  VideoFormat format_;
  int count_;
  std::vector<AnyPlane> planes_;
};

using Paint = std::function<void(TestPictures&)>;

/* Planes take these in turn: of the first frame those of ref, then of dist, then the next frame. */
inline Paint fills(std::vector<Fill> in_turn) {
  return [in_turn](TestPictures& pictures) {
    uint32_t n = 0;
    for (int picture = 0; picture < pictures.count(); picture++)
      for (int p = 0; p < pictures.format().planes(); p++, n++)
        pictures.fill(picture, p, in_turn[n % in_turn.size()], n);
  };
}

/* The lumas of a frame. With a contrast, dist is what codecs make of ref: that contrast, and grain of this many bits at
 * 8. */
struct LumaPair {
  Fill ref, dist = Fill::kZero;
  double contrast = 0;
  int grain_bits = 0;
};

inline LumaPair lookalike(Fill ref, double contrast, int grain_bits) { return {ref, ref, contrast, grain_bits}; }

inline void paint_lookalike(TestPictures& pictures, int frame, double contrast, int grain_bits) {
  const VideoFormat& format = pictures.format();
  std::mt19937 random(static_cast<uint32_t>(frame) + 100);
  const int center = 1 << (format.bpc - 1), max = 2 * center - 1, bits = grain_bits ? grain_bits + format.bpc - 8 : 0;
  for (int y = 0; y < format.h; y++)
    for (int x = 0; x < format.w; x++) {
      const int grain = bits ? static_cast<int>(random() >> (32 - bits)) - (1 << (bits - 1)) : 0;
      const int value = center + static_cast<int>((pictures.get(2 * frame, x, y) - center) * contrast) + grain;
      pictures.set(2 * frame + 1, x, y, std::clamp(value, 0, max));
    }
}

/* Frames take these in turn. */
inline Paint lumas(std::vector<LumaPair> in_turn) {
  return [in_turn](TestPictures& pictures) {
    for (int frame = 0; frame < pictures.count() / 2; frame++) {
      const LumaPair& pair = in_turn[static_cast<size_t>(frame) % in_turn.size()];
      pictures.fill(2 * frame, 0, pair.ref, static_cast<uint32_t>(2 * frame) + 7);
      if (pair.contrast) paint_lookalike(pictures, frame, pair.contrast, pair.grain_bits);
      else pictures.fill(2 * frame + 1, 0, pair.dist, static_cast<uint32_t>(2 * frame) + 8);
    }
  };
}

struct ParityCase {
  VideoFormat format;
  int frames = 1, batch = 1;  // in the stream; in a launch
  Paint paint = fills({Fill::kRandom});
  OptionTexts options = {};
  std::vector<OptionTexts> also = {};  // further sets of options that the same extractor serves
};
using ParityCases = std::vector<ParityCase>;

/* The makers of cases, by the name of their metric. */
inline std::map<std::string, ParityCases (*)()>& makers_of_cases() {
  static std::map<std::string, ParityCases (*)()> makers;
  return makers;
}

/* Registers the cases of a metric before main(). */
struct MetricCases {
  MetricCases(const char* metric, ParityCases (*make)()) { makers_of_cases()[metric] = make; }
};

/* The samples along one direction of a plane that a metric's definition takes. */
using Covered = int(int size);
inline int all_samples(int size) { return size; }

/* A metric that takes each sample of chroma: tests/kernels/samples_test.cpp changes one after the other. `least` is the
 * smallest side of a picture. */
struct ChromaCase {
  const char* metric;
  int least;
  OptionTexts options = {};
  Covered* covered = all_samples;
};
inline std::vector<ChromaCase>& chroma_cases() {
  static std::vector<ChromaCase> cases;
  return cases;
}

/* Registers a chroma case before main(). */
struct MetricSamples {
  explicit MetricSamples(const ChromaCase& of) { chroma_cases().push_back(of); }
};

inline VideoFormat luma(int w, int h, int bpc = 8) { return {.w = w, .h = h, .bpc = bpc, .chroma = Chroma::k400}; }
inline VideoFormat color(int w, int h, int bpc, Chroma chroma) {
  return {.w = w, .h = h, .bpc = bpc, .chroma = chroma};
}
/* A format whose chroma has its odd sizes rounded up. */
inline VideoFormat whole_color(int w, int h, int bpc, Chroma chroma) {
  VideoFormat format = color(w, h, bpc, chroma);
  format.whole_chroma = true;
  return format;
}

inline ParityCases operator+(ParityCases first, const ParityCases& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/* One of each depth. */
inline ParityCases depths(const ParityCase& like, int most = 16) {
  ParityCases cases(static_cast<size_t>(most) - 7, like);
  for (int bpc = 8; bpc <= most; bpc++) cases[static_cast<size_t>(bpc) - 8].format.bpc = bpc;
  return cases;
}

/* One of each size. */
inline ParityCases sizes(const ParityCase& like, const std::vector<std::pair<int, int>>& sizes) {
  ParityCases cases;
  for (const auto& [w, h] : sizes) {
    cases.push_back(like);
    cases.back().format.w = w;
    cases.back().format.h = h;
  }
  return cases;
}

inline ParityCases batches(const ParityCase& like, const std::vector<int>& batches) {
  ParityCases cases(batches.size(), like);
  for (size_t i = 0; i < batches.size(); i++) cases[i].batch = batches[i];
  return cases;
}

inline ParityCases paints(const ParityCase& like, const std::vector<Paint>& paints) {
  ParityCases cases(paints.size(), like);
  for (size_t i = 0; i < paints.size(); i++) cases[i].paint = paints[i];
  return cases;
}

inline ParityCases option_sets(const ParityCase& like, const std::vector<OptionTexts>& sets) {
  ParityCases cases(sets.size(), like);
  for (size_t i = 0; i < sets.size(); i++) cases[i].options = sets[i];
  return cases;
}

/* One for each value of an option. */
inline ParityCases values(const ParityCase& like, const char* option, const std::vector<const char*>& values) {
  ParityCases cases(values.size(), like);
  for (size_t i = 0; i < values.size(); i++) cases[i].options[option] = values[i];
  return cases;
}

/* The largest differences that there are in three planes, and pictures that are alike. */
inline const std::vector<Paint> kExtremes = {
    fills({Fill::kZero, Fill::kZero, Fill::kZero, Fill::kMax, Fill::kMax, Fill::kMax}),
    fills({Fill::kMax, Fill::kMax, Fill::kMax, Fill::kZero, Fill::kZero, Fill::kZero}), fills({Fill::kMax})};

}  // namespace vmafx::test

#endif
