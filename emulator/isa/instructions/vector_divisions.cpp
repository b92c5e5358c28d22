/* The steps of an exact division: V_DIV_SCALE, V_DIV_FMAS and V_DIV_FIXUP as the manuals define them. */
#include <bit>
#include <cmath>
#include <limits>

#include "emulator/isa/instructions/operands.h"
#include "emulator/isa/instructions/table.h"

namespace vmafx::emulator::isa {
namespace {

template <class T>
struct Format;
template <>
struct Format<float> {
  using Bits = uint32_t;
  static constexpr int kFraction = 23, kMost = 255, kBias = 127;
  static constexpr int kFarApart = 96, kTiny = 23, kScale = 64, kUnderflow = -150;
};
template <>
struct Format<double> {
  using Bits = uint64_t;
  static constexpr int kFraction = 52, kMost = 2047, kBias = 1023;
  static constexpr int kFarApart = 768, kTiny = 53, kScale = 128, kUnderflow = -1075;
};

template <class T>
int exponent(T x) {
  return static_cast<int>(std::bit_cast<typename Format<T>::Bits>(x) >> Format<T>::kFraction) & Format<T>::kMost;
}

/* Whether a quotient, taken in a wider type, is below the normal numbers of T. */
template <class T>
bool is_denormal(long double x) {
  return x != 0 && std::fabs(x) < static_cast<long double>(std::numeric_limits<T>::min());
}

template <class T>
struct Scaled {
  T value;
  bool is_to_be_undone;
};

/* `value` is the numerator or the denominator. */
template <class T>
Scaled<T> scale(T value, T denominator, T numerator) {
  using F = Format<T>;
  if (numerator == 0 || denominator == 0) return {std::numeric_limits<T>::quiet_NaN(), false};
  const long double quotient = static_cast<long double>(numerator) / denominator,
                    inverse = 1 / static_cast<long double>(denominator);
  const auto scaled_if = [&](bool condition, int by) { return condition ? std::ldexp(value, by) : value; };
  if (exponent(numerator) - exponent(denominator) >= F::kFarApart)
    return {scaled_if(value == denominator, F::kScale), true};
  if (exponent(denominator) == 0) return {std::ldexp(value, F::kScale), false};
  if (is_denormal<T>(inverse) && is_denormal<T>(quotient)) return {scaled_if(value == denominator, F::kScale), true};
  if (is_denormal<T>(inverse)) return {std::ldexp(value, -F::kScale), false};
  if (is_denormal<T>(quotient)) return {scaled_if(value == numerator, F::kScale), true};
  return {scaled_if(exponent(numerator) <= F::kTiny, F::kScale), false};
}

/* Operands: result, mask of lanes, value, denominator, numerator. */
template <class T>
void div_scale(Wave& wave, const Instruction& i) {
  Row<T> buffers[3], result;
  const T *value = fetch<T>(wave, i, 2, 0, buffers[0]), *denominator = fetch<T>(wave, i, 3, 1, buffers[1]),
          *numerator = fetch<T>(wave, i, 4, 2, buffers[2]);
  uint64_t undone = 0;
  for (unsigned l = 0; l < wave.lanes; l++) {
    const Scaled<T> scaled = scale(value[l], denominator[l], numerator[l]);
    result.of[l] = scaled.value;
    undone |= uint64_t{scaled.is_to_be_undone} << l;
  }
  store(wave, i, result);
  write_mask(wave, i.operands[1], undone & wave.exec());
}

template <class T>
void div_fmas(Wave& wave, const Instruction& i) {
  using F = Format<T>;
  Row<T> buffers[3], result;
  const T *a = fetch<T>(wave, i, 1, 0, buffers[0]), *b = fetch<T>(wave, i, 2, 1, buffers[1]),
          *c = fetch<T>(wave, i, 3, 2, buffers[2]);
  const uint64_t undone = wave.mask(kVcc);
  for (unsigned l = 0; l < wave.lanes; l++) {
    const T sum = std::fma(a[l], b[l], c[l]);
    const int by = exponent(c[l]) > F::kBias ? F::kScale : -F::kScale;
    result.of[l] = undone >> l & 1 ? std::ldexp(sum, by) : sum;
  }
  store(wave, i, result);
}

template <class T>
T fix_up(T quotient, T denominator, T numerator) {
  using F = Format<T>;
  const T sign = std::signbit(denominator) != std::signbit(numerator) ? T{-1} : T{1};
  const T infinity = sign * std::numeric_limits<T>::infinity(), zero = std::copysign(T{0}, sign);
  if (std::isnan(numerator)) return numerator;
  if (std::isnan(denominator)) return denominator;
  if ((denominator == 0 && numerator == 0) || (std::isinf(denominator) && std::isinf(numerator)))
    return -std::numeric_limits<T>::quiet_NaN();
  if (denominator == 0 || std::isinf(numerator)) return infinity;
  if (std::isinf(denominator) || numerator == 0) return zero;
  if (exponent(numerator) - exponent(denominator) < F::kUnderflow) return zero;
  return std::copysign(quotient, sign);
}

}  // namespace

void add_vector_divisions(Table& t) {
  t.add("v_div_scale_f32", div_scale<float>);
  t.add("v_div_scale_f64", div_scale<double>);
  t.add("v_div_fmas_f32", div_fmas<float>);
  t.add("v_div_fmas_f64", div_fmas<double>);
  t.add("v_div_fixup_f32", lane_wise([](float q, float d, float n) { return fix_up(q, d, n); }));
  t.add("v_div_fixup_f64", lane_wise([](double q, double d, double n) { return fix_up(q, d, n); }));
}

}  // namespace vmafx::emulator::isa
