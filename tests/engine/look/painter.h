/* Pictures for tests of the look: a canvas that a seed paints, cameras that see parts of it, and signatures of what
 * they see. */
#ifndef VMAFX_TESTS_ENGINE_LOOK_PAINTER_H
#define VMAFX_TESTS_ENGINE_LOOK_PAINTER_H

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/picture.h"
#include "engine/look/cell_means.h"
#include "engine/look/finding.h"
#include "kernels/signature/signature_math.h"

namespace vmafx::test {

/* Numbers from 0 to 1 that follow from a seed. */
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}
  float operator()() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<float>(state_ >> 40) / static_cast<float>(1 << 24);
  }

 private:
  uint64_t state_;
};

/* Samples of a picture on the scale of 8 bits: Y, Cb, Cr. */
using Samples = std::array<float, 3>;

/* Rectangles of all sizes and colors. */
class Canvas {
 public:
  static constexpr int kW = 512, kH = 384;

  explicit Canvas(uint64_t seed) : samples_(kW * kH, Samples{110, 128, 128}) {
    Random random(seed);
    for (int n = 0; n < 160; n++) {
      const int size = n < 20 ? 200 : n < 60 ? 70 : 24;
      const int w = 4 + static_cast<int>(random() * size), h = 4 + static_cast<int>(random() * size);
      const int left = static_cast<int>(random() * kW) - w / 2, top = static_cast<int>(random() * kH) - h / 2;
      const Samples color{30 + 180 * random(), 88 + 80 * random(), 88 + 80 * random()};
      for (int y = std::max(top, 0); y < std::min(top + h, kH); y++) {
        for (int x = std::max(left, 0); x < std::min(left + w, kW); x++) samples_[y * kW + x] = color;
      }
    }
  }

  /* Between four samples. */
  Samples at(double x, double y) const {
    x = std::clamp(x, 0.0, kW - 1.001);
    y = std::clamp(y, 0.0, kH - 1.001);
    const int column = static_cast<int>(x), row = static_cast<int>(y);
    const auto u = static_cast<float>(x - column), v = static_cast<float>(y - row);
    const Samples* const here = &samples_[row * kW + column];
    Samples mean;
    for (int p = 0; p < 3; p++) {
      mean[p] = (here[0][p] * (1 - u) + here[1][p] * u) * (1 - v) + (here[kW][p] * (1 - u) + here[kW + 1][p] * u) * v;
    }
    return mean;
  }

 private:
  std::vector<Samples> samples_;
};

/* A picture in memory; chroma has a sample for each of luma. */
struct Painted {
  int w = 0, h = 0;
  std::vector<Samples> samples;
  Samples& at(int x, int y) { return samples[y * w + x]; }
  const Samples& at(int x, int y) const { return samples[y * w + x]; }
};

/* What a camera sees: column x and row y of the picture are column left + x * scale_x, row top + y * scale_y. */
struct Camera {
  double left = 150, top = 100, scale_x = 1, scale_y = 1;
};

inline Painted seen(const Canvas& canvas, const Camera& camera, int w, int h) {
  Painted picture{w, h, std::vector<Samples>(w * h)};
  for (int y = 0; y < h; y++) {
    for (int x = 0; x < w; x++) {
      picture.at(x, y) =
          canvas.at(camera.left + (x + 0.5) * camera.scale_x - 0.5, camera.top + (y + 0.5) * camera.scale_y - 0.5);
    }
  }
  return picture;
}

inline void add_noise(Painted& picture, float amplitude, Random& random) {
  for (Samples& s : picture.samples) {
    for (float& sample : s) sample += (random() + random() - 1) * amplitude;
  }
}

/* Means of `reach` samples to either side, along rows and columns. */
inline Painted blurred(const Painted& picture, int reach) {
  Painted result = picture;
  for (int pass = 0; pass < 2; pass++) {
    const Painted source = result;
    for (int y = 0; y < source.h; y++) {
      for (int x = 0; x < source.w; x++) {
        Samples sum{};
        for (int d = -reach; d <= reach; d++) {
          const int column = pass ? x : std::clamp(x + d, 0, source.w - 1);
          const int row = pass ? std::clamp(y + d, 0, source.h - 1) : y;
          for (int p = 0; p < 3; p++) sum[p] += source.at(column, row)[p];
        }
        for (int p = 0; p < 3; p++) result.at(x, y)[p] = sum[p] / static_cast<float>(2 * reach + 1);
      }
    }
  }
  return result;
}

inline void fill(Painted& picture, int left, int top, int right, int bottom, const Samples& color) {
  for (int y = top; y < bottom; y++) {
    for (int x = left; x < right; x++) picture.at(x, y) = color;
  }
}

/* The signature as signature_math.h defines it, by plain loops; `detail` with profiles and chroma. */
inline PictureSignature signature_of(const Painted& picture, int bpc, bool detail) {
  PictureSignature s{};
  const auto first = [](int cell, int cells, int size) { return cell * size / cells; };
  const auto sample = [&](int x, int y, int p) {
    const float most = static_cast<float>((1 << bpc) - 1), unit = static_cast<float>(1 << (bpc - 8));
    return static_cast<int>(std::clamp(picture.at(x, y)[p] * unit + 0.5F, 0.0F, most));
  };
  const auto rows_of = [&](int cell, int cells, auto row) {
    const int y = first(cell, cells, picture.h), n = first(cell + 1, cells, picture.h) - y;
    const int m = std::min(n, kSignatureSampledRows);
    for (int k = 0; k < m; k++) row(y + (n - m) / 2 + k);
  };
  for (int j = 0; j < kSignatureRows; j++) {
    rows_of(j, kSignatureRows, [&](int y) {
      for (int i = 0; i < kSignatureColumns; i++) {
        for (int x = first(i, kSignatureColumns, picture.w); x < first(i + 1, kSignatureColumns, picture.w); x++)
          s.luma[y & 1][j][i] += sample(x, y, 0);
      }
    });
  }
  if (!detail) return s;
  for (int j = 0; j < kChromaRows; j++) {
    rows_of(j, kChromaRows, [&](int y) {
      for (int i = 0; i < kChromaColumns; i++) {
        for (int x = first(i, kChromaColumns, picture.w); x < first(i + 1, kChromaColumns, picture.w); x++) {
          for (int p = 0; p < 2; p++) s.chroma[p][j][i] += sample(x, y, p + 1);
        }
      }
    });
  }
  /* Pictures of tests have fewer columns and rows than a profile has bins: the bin where one begins has it alone. */
  const auto bin = [](int place, int size) { return ((place + 1) * kProfileBins + size - 1) / size - 1; };
  for (int y = 0; y < picture.h; y++) {
    for (int x = 0; x < picture.w; x++) {
      s.columns[y >= picture.h / 2][bin(x, picture.w)] += sample(x, y, 0);
      s.rows[x >= picture.w / 2][bin(y, picture.h)] += sample(x, y, 0);
      if (y % 4 || y + 3 >= picture.h) continue;
      for (int d = 1; d <= 2; d++) {
        s.row_difference[d - 1] += std::abs(sample(x, y, 0) - sample(x, y + d, 0));
        if (x + 2 < picture.w) s.column_difference[d - 1] += std::abs(sample(x, y, 0) - sample(x + d, y, 0));
      }
    }
  }
  /* They fit chroma's window, too. */
  for (int p = 0; p < 2; p++) {
    for (int y = 0; y < picture.h; y++) {
      for (int x = 0; x < picture.w; x++) {
        s.chroma_profiles[p].columns[x] += sample(x, y, p + 1);
        s.chroma_profiles[p].rows[y] += sample(x, y, p + 1);
      }
    }
  }
  return s;
}

/* A part of the look that is given pairs. */
template <class Part>
class Looking {
 public:
  explicit Looking(const VideoFormat& format) : cells_(format), part_(format), bpc_(format.bpc) {}

  void add(int64_t frame, const Painted& ref, const Painted& dist) {
    const bool detail = has_detail(frame);
    sums_->ref = signature_of(ref, bpc_, detail);
    sums_->dist = signature_of(dist, bpc_, detail);
    cells_.pair(*sums_, means_);
    part_.add(frame, *sums_, means_);
  }

  std::vector<look::Finding> finish() { return part_.finish(); }

 private:
  look::CellMeans cells_;
  look::PairMeans means_;
  Part part_;
  int bpc_;
  std::unique_ptr<SignatureSums> sums_ = std::make_unique<SignatureSums>();
};

inline const look::Finding* find(const std::vector<look::Finding>& findings, look::Kind kind) {
  const auto at = std::find_if(findings.begin(), findings.end(), [&](const auto& f) { return f.kind == kind; });
  return at == findings.end() ? nullptr : &*at;
}

/* A number of the evidence; NaN without it. */
inline double number(const look::Finding& finding, const std::string& name) {
  for (const auto& [key, value] : finding.evidence) {
    if (key == name) return value;
  }
  return std::nan("");
}

/* Findings that are more than possible. */
inline int doubts(const std::vector<look::Finding>& findings) {
  return static_cast<int>(std::count_if(findings.begin(), findings.end(), [](const look::Finding& f) {
    return f.certainty != look::Certainty::kPossible && f.kind != look::Kind::kBars;
  }));
}

}  // namespace vmafx::test

#endif
