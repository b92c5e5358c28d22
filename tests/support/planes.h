/* Test planes: samples between guard bytes, at any stride and offset, filled with what hurts. */
#ifndef VMAFX_TESTS_SUPPORT_PLANES_H
#define VMAFX_TESTS_SUPPORT_PLANES_H

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "base/picture.h"

namespace vmafx::test {

/* The patterns that planes are filled with. */
enum class Fill { kRandom, kZero, kMax, kCheckerboard, kColumns, kRows, kGradient, kSparse };
inline constexpr Fill kFills[] = {Fill::kRandom,  Fill::kZero, Fill::kMax,      Fill::kCheckerboard,
                                  Fill::kColumns, Fill::kRows, Fill::kGradient, Fill::kSparse};

inline const char* fill_name(Fill fill) {
  switch (fill) {
    case Fill::kRandom: return "random";
    case Fill::kZero: return "zero";
    case Fill::kMax: return "max";
    case Fill::kCheckerboard: return "checkerboard";
    case Fill::kColumns: return "columns";
    case Fill::kRows: return "rows";
    case Fill::kGradient: return "gradient";
    case Fill::kSparse: return "sparse";
  }
  return "";
}

/* Calls body(T()) with the sample type of `bpc`. */
template <class Body>
void with_sample_type(int bpc, Body body) {
  if (bpc == 8) body(uint8_t());
  else body(uint16_t());
}

/* A w x h plane of T inside guard bytes: `pad` samples right of each row, `offset` samples before the first;
 * upside_down gives it a negative stride. Code under test may read nothing but the samples, and write nothing at
 * all. */
template <class T>
class TestPlane {
 public:
  TestPlane(int w, int h, int pad = 0, int offset = 0, bool upside_down = false)
      : w_(w), h_(h), pitch_(w + pad), offset_(offset), upside_down_(upside_down),
        samples_(static_cast<size_t>(kGuard) * 2 + offset + static_cast<size_t>(pitch_) * h) {
    std::memset(samples_.data(), kGuardByte, samples_.size() * sizeof(T));
  }

  void fill(Fill fill, int bpc, uint32_t seed) {
    std::mt19937 random(seed);
    const T max = static_cast<T>((1u << bpc) - 1);
    for (int y = 0; y < h_; y++)
      for (int x = 0; x < w_; x++) at(x, y) = sample(fill, x, y, max, random());
  }

  T& at(int x, int y) { return samples_[kGuard + offset_ + static_cast<size_t>(y) * pitch_ + x]; }

  Plane<const T> view() {
    const ptrdiff_t stride = static_cast<ptrdiff_t>(pitch_) * sizeof(T);
    return upside_down_ ? Plane<const T>{&at(0, h_ - 1), -stride, w_, h_} : Plane<const T>{&at(0, 0), stride, w_, h_};
  }
  SamplePlane sample_plane() {
    const auto v = view();
    return {v.data, v.stride, w_, h_};
  }

 private:
  static constexpr int kGuard = 64;  // samples
  static constexpr int kGuardByte = 0xA5;

  T sample(Fill fill, int x, int y, T max, uint32_t random) const {
    switch (fill) {
      case Fill::kRandom: return static_cast<T>(random & max);
      case Fill::kZero: return 0;
      case Fill::kMax: return max;
      case Fill::kCheckerboard: return (x ^ y) & 1 ? max : 0;
      case Fill::kColumns: return x & 1 ? max : 0;
      case Fill::kRows: return y & 1 ? max : 0;
      case Fill::kGradient: return static_cast<T>(static_cast<uint64_t>(max) * (x + y) / (w_ + h_));
      case Fill::kSparse: return random % 61 ? 0 : max;
    }
    return 0;
  }

  int w_, h_, pitch_, offset_;
  bool upside_down_;
  std::vector<T> samples_;
};

}  // namespace vmafx::test

#endif
