/* Arithmetic of floats and doubles, conversions, and instructions whose results the hardware may round in its own
 * way. */
#include <bit>
#include <cmath>

#include "emulator/isa/group.h"
#include "emulator/isa/instructions/bits.h"
#include "emulator/isa/instructions/operands.h"
#include "emulator/isa/instructions/table.h"
#include "emulator/isa/options.h"

namespace vmafx::emulator::isa {
namespace {

/* -- Approximations ------------------------------------------------------------------------------------------------ */

/* One of the two floats around the exact value: an error of one unit in the last place. */
float near_float(double exact, uint64_t random) {
  const auto nearest = static_cast<float>(exact);
  const bool is_exact = nearest == exact || !(std::fabs(nearest) > 0x1p-120f) || std::isinf(nearest);
  if (is_exact || random & 1) return nearest;
  return std::bit_cast<float>(std::bit_cast<u32>(nearest) + (std::fabs(nearest) < std::fabs(exact) ? 1 : -1));
}

/* A relative error of up to 2^-23. */
double near_double(double exact, uint64_t random) {
  if (!std::isfinite(exact) || exact == 0) return exact;
  return exact * (1 + (static_cast<double>(random >> 11) * 0x1p-53 - 0.5) * 0x1p-22);
}

/* The handler of f, whose results are as wrong as the manual allows where options().perturbs; a function of doubles. */
template <class T, class F>
Handler approximate(F) {
  return [](Wave& wave, const Instruction& i) {
    Row<T> buffer, result;
    const T* a = fetch<T>(wave, i, 1, 0, buffer);
    each_lane(wave, [&](unsigned l) { result.of[l] = static_cast<T>(F{}(static_cast<double>(a[l]))); });
    if (options().perturbs)
      each_active_lane(wave, [&](unsigned l) {
        const double exact = F{}(static_cast<double>(a[l]));
        if constexpr (sizeof(T) == 4) result.of[l] = near_float(exact, wave.group->random());
        else result.of[l] = near_double(exact, wave.group->random());
      });
    store(wave, i, result);
  };
}

void add_approximations(Table& t) {
  t.add({"v_rcp_f32", "v_rcp_iflag_f32"}, approximate<float>([](double a) { return 1 / a; }));
  t.add("v_rcp_f64", approximate<double>([](double a) { return 1 / a; }));
  t.add("v_sqrt_f32", approximate<float>([](double a) { return std::sqrt(a); }));
  t.add("v_s_sqrt_f32", [](Wave& wave, const Instruction& i) {
    const double exact = std::sqrt(static_cast<double>(std::bit_cast<float>(read_scalar(wave, i.operands[1]))));
    const float root = options().perturbs ? near_float(exact, wave.group->random()) : static_cast<float>(exact);
    write_scalar(wave, i.operands[0], std::bit_cast<u32>(root));
  });
}

/* -- Exact --------------------------------------------------------------------------------------------------------- */

void add_conversions(Table& t) {
  t.add("v_cvt_f32_i32", lane_wise([](i32 a) { return static_cast<float>(a); }));
  t.add("v_cvt_f32_u32", lane_wise([](u32 a) { return static_cast<float>(a); }));
  t.add("v_cvt_f64_i32", lane_wise([](i32 a) { return static_cast<double>(a); }));
  t.add("v_cvt_f64_u32", lane_wise([](u32 a) { return static_cast<double>(a); }));
  t.add("v_cvt_f64_f32", lane_wise([](float a) { return static_cast<double>(a); }));
  t.add("v_cvt_f32_f64", lane_wise([](double a) { return static_cast<float>(a); }));
  t.add("v_cvt_u32_f32", lane_wise([](float a) { return to_u32(a); }));
  t.add("v_cvt_i32_f32", lane_wise([](float a) { return to_i32(a); }));
  t.add("v_cvt_u32_f64", lane_wise([](double a) { return to_u32(a); }));
  t.add("v_cvt_i32_f64", lane_wise([](double a) { return to_i32(a); }));
  t.add("v_cvt_f32_ubyte0", lane_wise([](u32 a) { return static_cast<float>(a & 255); }));
  t.add("v_cvt_f32_ubyte1", lane_wise([](u32 a) { return static_cast<float>(a >> 8 & 255); }));
  t.add("v_cvt_f32_ubyte2", lane_wise([](u32 a) { return static_cast<float>(a >> 16 & 255); }));
  t.add("v_cvt_f32_ubyte3", lane_wise([](u32 a) { return static_cast<float>(a >> 24); }));
}

/* With suffix "_f32" or "_f64". */
template <class T>
void add_arithmetic(Table& t, const std::string& type) {
  t.add("v_add" + type, lane_wise([](T a, T b) { return a + b; }));
  t.add("v_mul" + type, lane_wise([](T a, T b) { return a * b; }));
  t.add({"v_max" + type, "v_max_num" + type}, lane_wise([](T a, T b) { return max_number(a, b); }));
  t.add({"v_min" + type, "v_min_num" + type}, lane_wise([](T a, T b) { return min_number(a, b); }));
  t.add("v_fma" + type, lane_wise([](T a, T b, T c) { return std::fma(a, b, c); }));
  t.add("v_fmac" + type, lane_wise([](T a, T b, T c) { return std::fma(a, b, c); }), Form::kAccumulates);
  t.add("v_rndne" + type, lane_wise([](T a) { return std::nearbyint(a); }));
  t.add("v_floor" + type, lane_wise([](T a) { return std::floor(a); }));
  t.add("v_ceil" + type, lane_wise([](T a) { return std::ceil(a); }));
  t.add("v_trunc" + type, lane_wise([](T a) { return std::trunc(a); }));
  t.add("v_ldexp" + type, lane_wise([](T a, i32 b) { return std::ldexp(a, b); }));
}

/* The median as the manual defines it: with a NaN the least number, else the greater one of the two beside the
 * greatest. */
float median(float a, float b, float c) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c)) return min_number(min_number(a, b), c);
  const float greatest = max_number(max_number(a, b), c);
  return greatest == a ? max_number(b, c) : greatest == b ? max_number(a, c) : max_number(a, b);
}

void add_float_arithmetic(Table& t) {
  t.add("v_sub_f32", lane_wise([](float a, float b) { return a - b; }));
  t.add("v_subrev_f32", lane_wise([](float a, float b) { return b - a; }));
  t.add({"v_fmaak_f32", "v_fmamk_f32"}, lane_wise([](float a, float b, float c) { return std::fma(a, b, c); }));
  t.add("v_mac_f32", lane_wise([](float a, float b, float c) { return a * b + c; }), Form::kAccumulates);
  t.add("v_mad_f32", lane_wise([](float a, float b, float c) { return a * b + c; }));
  t.add({"v_maxmin_f32", "v_maxmin_num_f32"},
        lane_wise([](float a, float b, float c) { return min_number(max_number(a, b), c); }));
  t.add({"v_med3_f32", "v_med3_num_f32"}, lane_wise([](float a, float b, float c) { return median(a, b, c); }));
  t.add({"v_minmax_f32", "v_minmax_num_f32"},
        lane_wise([](float a, float b, float c) { return max_number(min_number(a, b), c); }));
}

/* -- Two floats in a pair of registers ----------------------------------------------------------------------------- */

/* Fetches for each half the register that op_sel names, with the sign that neg says. */
void fetch_packed(const Wave& wave, const Instruction& i, int source, int half, Row<float>& row) {
  const Operand& operand = i.operands[source + 1];
  const bool high = (half ? i.op_sel_hi : i.op_sel) >> source & 1, negate = (half ? i.neg_hi : i.neg_lo) >> source & 1;
  if (operand.is_constant() && high) fault(wave, "the upper half of a constant");
  Operand word = operand;
  word.reg = static_cast<uint16_t>(operand.reg + high);
  word.words = 1;
  word.negate = negate;
  Row<u32> buffer;
  const u32* from = fetch_32(wave, word, true, buffer);
  each_lane(wave, [&](unsigned l) { row.of[l] = std::bit_cast<float>(from[l]); });
}

template <int sources, class F>
Handler packed(F) {
  return [](Wave& wave, const Instruction& i) {
    if (i.clamp) fault(wave, "clamp of packed floats");
    Row<float> result[2], source[3] = {};
    for (int half = 0; half < 2; half++) {
      for (int n = 0; n < sources; n++) fetch_packed(wave, i, n, half, source[n]);
      each_lane(wave, [&](unsigned l) { result[half].of[l] = F{}(source[0].of[l], source[1].of[l], source[2].of[l]); });
    }
    for (int half = 0; half < 2; half++)
      write_row(wave, i.result().reg + static_cast<unsigned>(half), reinterpret_cast<const u32*>(result[half].of));
  };
}

/* The low result from the first source, the high one from the second. */
void move_packed(Wave& wave, const Instruction& i) {
  Row<float> result[2];
  for (int half = 0; half < 2; half++) fetch_packed(wave, i, half, 0, result[half]);
  for (int half = 0; half < 2; half++)
    write_row(wave, i.result().reg + static_cast<unsigned>(half), reinterpret_cast<const u32*>(result[half].of));
}

void add_packed(Table& t) {
  t.add("v_pk_add_f32", packed<2>([](float a, float b, float) { return a + b; }));
  t.add("v_pk_mul_f32", packed<2>([](float a, float b, float) { return a * b; }));
  t.add("v_pk_fma_f32", packed<3>([](float a, float b, float c) { return std::fma(a, b, c); }));
  t.add("v_pk_mov_b32", move_packed);
}

}  // namespace

void add_vector_floats(Table& t) {
  add_arithmetic<float>(t, "_f32");
  add_arithmetic<double>(t, "_f64");
  add_float_arithmetic(t);
  add_conversions(t);
  add_approximations(t);
  add_packed(t);
}

}  // namespace vmafx::emulator::isa
