#include "engine/look/color_mistakes.h"

#include <algorithm>
#include <cmath>

namespace vmafx::look {

namespace {

using Matrix3 = std::array<Samples3, 3>;

Samples3 times(const Matrix3& m, const Samples3& v) {
  Samples3 r{};
  for (int i = 0; i < 3; i++) r[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return r;
}

Matrix3 times(const Matrix3& a, const Matrix3& b) {
  Matrix3 r{};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) r[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
  }
  return r;
}

Matrix3 inverse(const Matrix3& m) {
  Matrix3 r{};
  double det = 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
      r[i][j] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
    }
    det += m[0][i] * r[i][0];
  }
  for (Samples3& row : r) {
    for (double& x : row) x /= det;
  }
  return r;
}

/* H.273 table 4: R'G'B' to Y (0..1), Cb and Cr (-1/2..1/2). */
Matrix3 from_rgb(int matrix) {
  const bool ultra = matrix == 9 || matrix == 10, high = matrix == 1;
  const double red = ultra ? 0.2627 : high ? 0.2126 : 0.299, blue = ultra ? 0.0593 : high ? 0.0722 : 0.114;
  const double green = 1 - red - blue, b = 2 * (1 - blue), r = 2 * (1 - red);
  return {{{red, green, blue}, {-red / b, -green / b, 0.5}, {0.5, -green / r, -blue / r}}};
}

/* H.273 table 2: x and y of the primaries, of all with the white point D65. */
Matrix3 to_xyz(int primaries) {
  struct Point {
    double x, y;
  };
  static constexpr Point kPoints[5][3] = {{{0.64, 0.33}, {0.30, 0.60}, {0.15, 0.06}},         // 1: BT.709
                                          {{0.64, 0.33}, {0.29, 0.60}, {0.15, 0.06}},         // 5: BT.470 BG
                                          {{0.630, 0.340}, {0.310, 0.595}, {0.155, 0.070}},   // 6: SMPTE 170M
                                          {{0.708, 0.292}, {0.170, 0.797}, {0.131, 0.046}},   // 9: BT.2020
                                          {{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}}};  // 12: P3
  const Point* const p = kPoints[primaries == 12  ? 4
                                 : primaries == 9 ? 3
                                 : primaries == 6 ? 2
                                 : primaries == 5 ? 1
                                                  : 0];
  Matrix3 m{};
  for (int i = 0; i < 3; i++) {
    m[0][i] = p[i].x / p[i].y;
    m[1][i] = 1;
    m[2][i] = (1 - p[i].x - p[i].y) / p[i].y;
  }
  const Samples3 white{0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290}, scale = times(inverse(m), white);
  for (Samples3& row : m) {
    for (int i = 0; i < 3; i++) row[i] *= scale[i];
  }
  return m;
}

/* Samples to Y of 0..1, Cb and Cr of -1/2..1/2, and back. */
struct Range {
  bool full;
  double luma() const { return full ? 255 : 219; }
  double chroma() const { return full ? 255 : 224; }
  double black() const { return full ? 0 : 16; }
  Samples3 read(const Samples3& s) const {
    return {(s[0] - black()) / luma(), (s[1] - 128) / chroma(), (s[2] - 128) / chroma()};
  }
  Samples3 write(const Samples3& v) const {
    return {v[0] * luma() + black(), v[1] * chroma() + 128, v[2] * chroma() + 128};
  }
};

constexpr int kMatrices[] = {1, 6, 9}, kPrimaries[] = {1, 5, 6, 9, 12};

constexpr double kPqM1 = 2610.0 / 16384, kPqM2 = 2523.0 / 32, kPqC1 = 3424.0 / 4096, kPqC2 = 2413.0 / 128,
                 kPqC3 = 2392.0 / 128;
constexpr double kHlgA = 0.17883277, kHlgB = 0.28466892, kHlgC = 0.55991073;

}  // namespace

double light_of(int transfer, double v) {
  v = std::clamp(v, 0.0, 1.0);
  if (transfer == 16) {
    const double p = std::pow(v, 1 / kPqM2);
    return std::pow(std::max(p - kPqC1, 0.0) / (kPqC2 - kPqC3 * p), 1 / kPqM1);
  }
  if (transfer == kDisplay) return std::pow(v, 2.4);
  if (transfer == 18) return v <= 0.5 ? v * v / 3 : (std::exp((v - kHlgC) / kHlgA) + kHlgB) / 12;
  return v < 0.081 ? v / 4.5 : std::pow((v + 0.099) / 1.099, 1 / 0.45);
}

double sample_of(int transfer, double light) {
  light = std::clamp(light, 0.0, 1.0);
  if (transfer == 16) {
    const double p = std::pow(light, kPqM1);
    return std::pow((kPqC1 + kPqC2 * p) / (1 + kPqC3 * p), kPqM2);
  }
  if (transfer == kDisplay) return std::pow(light, 1 / 2.4);
  if (transfer == 18) return light <= 1.0 / 12 ? std::sqrt(3 * light) : kHlgA * std::log(12 * light - kHlgB) + kHlgC;
  return light < 0.018 ? 4.5 * light : 1.099 * std::pow(light, 0.45) - 0.099;
}

std::vector<ColorMistake> color_mistakes(const Color& color) {
  using What = ColorMistake::What;
  std::vector<ColorMistake> all;
  const Range range{color.range == Color::Range::kFull};
  const auto ranged = [](Range from, Range to) { return [=](const Samples3& s) { return to.write(from.read(s)); }; };
  all.push_back({What::kNone, 0, 0, [](const Samples3& s) { return s; }});
  all.push_back({What::kExchanged, 0, 0, [](const Samples3& s) { return Samples3{s[0], s[2], s[1]}; }});
  all.push_back({What::kNarrower, 0, 0, ranged({true}, {false})});
  all.push_back({What::kWider, 0, 0, ranged({false}, {true})});
  for (int from : kMatrices) {
    for (int to : kMatrices) {
      if (from == to) continue;
      const Matrix3 m = times(from_rgb(to), inverse(from_rgb(from)));
      all.push_back({What::kMatrix, from, to, [=](const Samples3& s) { return range.write(times(m, range.read(s))); }});
    }
  }
  const Matrix3 to_ycc = from_rgb(color.matrix == 2 ? 1 : color.matrix), to_rgb = inverse(to_ycc);
  const int curve = color.transfer == 16 ? 16 : kDisplay;
  for (int from : kPrimaries) {
    for (int to : kPrimaries) {
      if (from == to) continue;
      const Matrix3 m = times(inverse(to_xyz(to)), to_xyz(from));
      all.push_back({What::kPrimaries, from, to, [=](const Samples3& s) {
                       Samples3 rgb = times(to_rgb, range.read(s));
                       for (double& x : rgb) x = light_of(curve, x);
                       rgb = times(m, rgb);
                       for (double& x : rgb) x = sample_of(curve, x);
                       return range.write(times(to_ycc, rgb));
                     }});
    }
  }
  return all;
}

}  // namespace vmafx::look
