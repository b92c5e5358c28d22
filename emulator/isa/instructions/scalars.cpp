/* Arithmetic of the wave's own registers. SCC is a bit beside them: a carry, or whether a result is not zero. */
#include <bit>
#include <cmath>
#include <string>

#include "emulator/isa/instructions/bits.h"
#include "emulator/isa/instructions/operands.h"
#include "emulator/isa/instructions/table.h"

namespace vmafx::emulator::isa {
namespace {

/* -- Functions of registers ---------------------------------------------------------------------------------------- */

template <class T>
T read(const Wave& wave, const Operand& operand) {
  if constexpr (sizeof(T) == 8) return std::bit_cast<T>(read_scalar_pair(wave, operand));
  else return std::bit_cast<T>(read_scalar(wave, operand));
}

template <class T>
void write(Wave& wave, const Operand& operand, T value) {
  if constexpr (sizeof(T) == 8) write_scalar_pair(wave, operand, std::bit_cast<u64>(value));
  else write_scalar(wave, operand, std::bit_cast<u32>(value));
}

enum class Scc { kStays, kIsNotZero };

template <Scc scc, class F, class R, class... Args>
void run_scalar(Wave& wave, const Instruction& i, R (F::*)(Args...) const) {
  [&]<size_t... n>(std::index_sequence<n...>) {
    const R result = F{}(read<Args>(wave, i.operands[n + 1])...);
    write<R>(wave, i.operands[0], result);
    if (scc == Scc::kIsNotZero) wave.scc = result != 0;
  }(std::index_sequence_for<Args...>());
}

/* The handler of a function of the sources, which leaves SCC alone; which sets it. */
template <class F>
Handler scalar(F) {
  return [](Wave& wave, const Instruction& i) { run_scalar<Scc::kStays>(wave, i, &F::operator()); };
}
template <class F>
Handler scalar_scc(F) {
  return [](Wave& wave, const Instruction& i) { run_scalar<Scc::kIsNotZero>(wave, i, &F::operator()); };
}

/* SCC is what a function of two sources says; there is no other result. */
template <class F, class A, class B>
void run_test(Wave& wave, const Instruction& i, bool (F::*)(A, B) const) {
  wave.scc = F{}(read<A>(wave, i.operands[0]), read<B>(wave, i.operands[1]));
}
template <class F>
Handler test(F) {
  return [](Wave& wave, const Instruction& i) { run_test(wave, i, &F::operator()); };
}

/* -- Sums ---------------------------------------------------------------------------------------------------------- */

enum class Sum { kAdd, kSubtract };
enum class Carry { kOut, kInAndOut, kOverflow };

template <Sum sum, Carry carry>
void add_scalars_with_carry(Wave& wave, const Instruction& i) {
  const u32 a = read<u32>(wave, i.operands[1]), b = read<u32>(wave, i.operands[2]);
  const u64 in = carry == Carry::kInAndOut ? wave.scc : 0, whole = sum == Sum::kAdd ? u64{a} + b + in : u64{a} - b - in;
  const u32 result = static_cast<u32>(whole), b_as_added = sum == Sum::kAdd ? b : ~b;
  write(wave, i.operands[0], result);
  wave.scc = carry == Carry::kOverflow ? (~(a ^ b_as_added) & (a ^ result)) >> 31 : whole >> 32 & 1;
}

void add_sums(Table& t) {
  t.add({"s_add_u32", "s_add_co_u32"}, add_scalars_with_carry<Sum::kAdd, Carry::kOut>);
  t.add({"s_add_i32", "s_add_co_i32"}, add_scalars_with_carry<Sum::kAdd, Carry::kOverflow>);
  t.add({"s_addc_u32", "s_add_co_ci_u32"}, add_scalars_with_carry<Sum::kAdd, Carry::kInAndOut>);
  t.add({"s_sub_u32", "s_sub_co_u32"}, add_scalars_with_carry<Sum::kSubtract, Carry::kOut>);
  t.add({"s_sub_i32", "s_sub_co_i32"}, add_scalars_with_carry<Sum::kSubtract, Carry::kOverflow>);
  t.add({"s_subb_u32", "s_sub_co_ci_u32"}, add_scalars_with_carry<Sum::kSubtract, Carry::kInAndOut>);
  t.add("s_add_nc_u64", scalar([](u64 a, u64 b) { return a + b; }));
  t.add("s_sub_nc_u64", scalar([](u64 a, u64 b) { return a - b; }));
  t.add("s_lshl1_add_u32", scalar_scc([](u32 a, u32 b) { return (a << 1) + b; }));
  t.add("s_lshl2_add_u32", scalar_scc([](u32 a, u32 b) { return (a << 2) + b; }));
  t.add("s_lshl3_add_u32", scalar_scc([](u32 a, u32 b) { return (a << 3) + b; }));
  t.add("s_lshl4_add_u32", scalar_scc([](u32 a, u32 b) { return (a << 4) + b; }));
  t.add("s_abs_i32", scalar_scc([](u32 a) { return a >> 31 ? 0 - a : a; }));
  t.add("s_mul_i32", scalar([](u32 a, u32 b) { return a * b; }));
  t.add("s_mul_hi_u32", scalar([](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }));
  t.add("s_mul_hi_i32", scalar([](i32 a, i32 b) { return static_cast<i32>(i64{a} * b >> 32); }));
  t.add("s_mul_u64", scalar([](u64 a, u64 b) { return a * b; }));
}

/* The chosen one of two, SCC: it is the first. */
template <class F>
Handler extreme(F) {
  return [](Wave& wave, const Instruction& i) {
    const u32 a = read<u32>(wave, i.operands[1]), b = read<u32>(wave, i.operands[2]);
    wave.scc = F{}(a, b);
    write(wave, i.operands[0], wave.scc ? a : b);
  };
}

void add_extremes(Table& t) {
  t.add("s_max_i32", extreme([](u32 a, u32 b) { return static_cast<i32>(a) >= static_cast<i32>(b); }));
  t.add("s_min_i32", extreme([](u32 a, u32 b) { return static_cast<i32>(a) < static_cast<i32>(b); }));
  t.add("s_max_u32", extreme([](u32 a, u32 b) { return a >= b; }));
  t.add("s_min_u32", extreme([](u32 a, u32 b) { return a < b; }));
}

/* With a constant of 16 bits in the instruction. */
u32 signed_16(const Operand& operand) { return static_cast<u32>(static_cast<i16>(operand.value)); }

void add_short_constants(Table& t) {
  t.add("s_movk_i32", [](Wave& wave, const Instruction& i) { write(wave, i.operands[0], signed_16(i.operands[1])); });
  t.add({"s_addk_i32", "s_addk_co_i32"}, [](Wave& wave, const Instruction& i) {
    const u32 a = read<u32>(wave, i.operands[0]), b = signed_16(i.operands[1]), result = a + b;
    write(wave, i.operands[0], result);
    wave.scc = (~(a ^ b) & (a ^ result)) >> 31;
  });
  t.add("s_mulk_i32", [](Wave& wave, const Instruction& i) {
    write(wave, i.operands[0], read<u32>(wave, i.operands[0]) * signed_16(i.operands[1]));
  });
}

/* -- Bits ---------------------------------------------------------------------------------------------------------- */

/* Adds an instruction for 32 and for 64 bits: F takes two words of either size. */
template <class F>
void add_both(Table& t, std::initializer_list<const char*> names, F) {
  for (const std::string name : names) {
    t.add(name + "_b32", scalar_scc([](u32 a, u32 b) -> u32 { return F{}(a, b); }));
    t.add(name + "_b64", scalar_scc([](u64 a, u64 b) -> u64 { return F{}(a, b); }));
  }
}

/* The active lanes become what f makes of the source and them; their old mask is the result. */
template <class T, class F>
void save_lanes(Wave& wave, const Instruction& i) {
  const T before = static_cast<T>(wave.exec()), after = F{}(read<T>(wave, i.operands[1]), before);
  write<T>(wave, i.operands[0], before);
  if constexpr (sizeof(T) == 8) wave.set_pair(kExec, after);
  else wave.scalar[kExec] = after;
  wave.scc = after != 0;
}

template <class F>
void add_saving(Table& t, std::initializer_list<const char*> names, F) {
  for (const std::string name : names) {
    t.add(name + "_saveexec_b32", save_lanes<u32, F>);
    t.add(name + "_saveexec_b64", save_lanes<u64, F>);
  }
}

void add_logic(Table& t) {
  const auto both = [](auto a, auto b) { return a & b; };
  const auto either = [](auto a, auto b) { return a | b; };
  const auto one = [](auto a, auto b) { return a ^ b; };
  const auto and_not = [](auto a, auto b) { return a & ~b; };
  const auto or_not = [](auto a, auto b) { return a | ~b; };
  add_both(t, {"s_and"}, both);
  add_both(t, {"s_or"}, either);
  add_both(t, {"s_xor"}, one);
  add_both(t, {"s_nand"}, [](auto a, auto b) { return ~(a & b); });
  add_both(t, {"s_nor"}, [](auto a, auto b) { return ~(a | b); });
  add_both(t, {"s_xnor"}, [](auto a, auto b) { return ~(a ^ b); });
  add_both(t, {"s_andn2", "s_and_not1"}, and_not);
  add_both(t, {"s_orn2", "s_or_not1"}, or_not);
  add_saving(t, {"s_and"}, both);
  add_saving(t, {"s_or"}, either);
  add_saving(t, {"s_xor"}, one);
  add_saving(t, {"s_andn2", "s_and_not1"}, and_not);
  add_saving(t, {"s_andn1", "s_and_not0"}, [](auto a, auto b) { return ~a & b; });
  add_saving(t, {"s_orn2", "s_or_not1"}, or_not);
  t.add("s_mov_b32", scalar([](u32 a) { return a; }));
  t.add("s_mov_b64", scalar([](u64 a) { return a; }));
  t.add("s_not_b32", scalar_scc([](u32 a) { return ~a; }));
  t.add("s_not_b64", scalar_scc([](u64 a) { return ~a; }));
}

template <class T>
constexpr u32 kLowShift = sizeof(T) * 8 - 1;

/* The field that a descriptor names: offset in its lowest bits, width from bit 16 on. */
template <class T>
T described_field(T value, u32 field) {
  return bit_field<T>(value, field & kLowShift<T>, field >> 16 & 0x7f);
}

void add_shifts(Table& t) {
  t.add("s_lshl_b32", scalar_scc([](u32 a, u32 b) { return a << (b & 31); }));
  t.add("s_lshr_b32", scalar_scc([](u32 a, u32 b) { return a >> (b & 31); }));
  t.add("s_ashr_i32", scalar_scc([](i32 a, u32 b) { return a >> (b & 31); }));
  t.add("s_lshl_b64", scalar_scc([](u64 a, u32 b) { return a << (b & 63); }));
  t.add("s_lshr_b64", scalar_scc([](u64 a, u32 b) { return a >> (b & 63); }));
  t.add("s_ashr_i64", scalar_scc([](i64 a, u32 b) { return a >> (b & 63); }));
  t.add("s_bfe_u32", scalar_scc([](u32 a, u32 b) { return described_field(a, b); }));
  t.add("s_bfe_i32", scalar_scc([](i32 a, u32 b) { return described_field(a, b); }));
  t.add("s_bfe_u64", scalar_scc([](u64 a, u32 b) { return described_field(a, b); }));
  t.add("s_bfe_i64", scalar_scc([](i64 a, u32 b) { return described_field(a, b); }));
  t.add("s_bfm_b32", scalar([](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }));
  t.add("s_pack_ll_b32_b16", scalar([](u32 a, u32 b) { return (a & 0xffff) | b << 16; }));
  t.add("s_pack_lh_b32_b16", scalar([](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); }));
  t.add("s_pack_hh_b32_b16", scalar([](u32 a, u32 b) { return a >> 16 | (b & 0xffff0000); }));
  t.add("s_sext_i32_i8", scalar([](u32 a) { return static_cast<u32>(static_cast<int8_t>(a)); }));
  t.add("s_sext_i32_i16", scalar([](u32 a) { return static_cast<u32>(static_cast<i16>(a)); }));
}

void add_bits(Table& t) {
  t.add("s_brev_b32", scalar([](u32 a) { return reverse_bits(a); }));
  t.add("s_brev_b64", scalar([](u64 a) {
          return u64{reverse_bits(static_cast<u32>(a))} << 32 | reverse_bits(static_cast<u32>(a >> 32));
        }));
  t.add("s_bcnt1_i32_b32", scalar_scc([](u32 a) { return static_cast<u32>(std::popcount(a)); }));
  t.add("s_bcnt1_i32_b64", scalar_scc([](u64 a) { return static_cast<u32>(std::popcount(a)); }));
  t.add({"s_flbit_i32_b32", "s_clz_i32_u32"}, scalar([](u32 a) { return leading_zeros(a); }));
  t.add({"s_flbit_i32_b64", "s_clz_i32_u64"}, scalar([](u64 a) { return leading_zeros(a); }));
  t.add({"s_ff1_i32_b32", "s_ctz_i32_b32"}, scalar([](u32 a) { return trailing_zeros(a); }));
  t.add({"s_ff1_i32_b64", "s_ctz_i32_b64"}, scalar([](u64 a) { return trailing_zeros(a); }));
  t.add("s_bitset0_b32", [](Wave& wave, const Instruction& i) {
    write(wave, i.operands[0], read<u32>(wave, i.operands[0]) & ~(1u << (read<u32>(wave, i.operands[1]) & 31)));
  });
  t.add("s_bitset1_b32", [](Wave& wave, const Instruction& i) {
    write(wave, i.operands[0], read<u32>(wave, i.operands[0]) | 1u << (read<u32>(wave, i.operands[1]) & 31));
  });
  t.add("s_bitcmp0_b32", test([](u32 a, u32 b) { return (a >> (b & 31) & 1) == 0; }));
  t.add("s_bitcmp1_b32", test([](u32 a, u32 b) { return (a >> (b & 31) & 1) == 1; }));
  t.add("s_bitcmp0_b64", test([](u64 a, u32 b) { return (a >> (b & 63) & 1) == 0; }));
  t.add("s_bitcmp1_b64", test([](u64 a, u32 b) { return (a >> (b & 63) & 1) == 1; }));
}

/* -- Comparisons and choices --------------------------------------------------------------------------------------- */

template <class T>
void add_compares(Table& t, const std::string& type) {
  t.add("s_cmp_lt_" + type, test([](T a, T b) { return a < b; }));
  t.add("s_cmp_le_" + type, test([](T a, T b) { return a <= b; }));
  t.add("s_cmp_gt_" + type, test([](T a, T b) { return a > b; }));
  t.add("s_cmp_ge_" + type, test([](T a, T b) { return a >= b; }));
  t.add("s_cmp_eq_" + type, test([](T a, T b) { return a == b; }));
  t.add("s_cmp_lg_" + type, test([](T a, T b) { return a < b || a > b; }));
}

/* With a constant of 16 bits, extended as T is. */
template <class T, class F>
void add_short_compare(Table& t, const std::string& name, F) {
  using Short = std::conditional_t<std::is_signed_v<T>, i16, uint16_t>;
  t.add("s_cmpk_" + name, [](Wave& wave, const Instruction& i) {
    wave.scc = F{}(read<T>(wave, i.operands[0]), static_cast<T>(static_cast<Short>(i.operands[1].value)));
  });
}

template <class T>
void add_short_compares(Table& t, const std::string& type) {
  add_short_compare<T>(t, "lt_" + type, [](T a, T b) { return a < b; });
  add_short_compare<T>(t, "le_" + type, [](T a, T b) { return a <= b; });
  add_short_compare<T>(t, "gt_" + type, [](T a, T b) { return a > b; });
  add_short_compare<T>(t, "ge_" + type, [](T a, T b) { return a >= b; });
  add_short_compare<T>(t, "eq_" + type, [](T a, T b) { return a == b; });
  add_short_compare<T>(t, "lg_" + type, [](T a, T b) { return a != b; });
}

void add_choices(Table& t) {
  t.add("s_cselect_b32", [](Wave& wave, const Instruction& i) {
    write(wave, i.operands[0], read<u32>(wave, i.operands[wave.scc ? 1 : 2]));
  });
  t.add("s_cselect_b64", [](Wave& wave, const Instruction& i) {
    write(wave, i.operands[0], read<u64>(wave, i.operands[wave.scc ? 1 : 2]));
  });
  t.add("s_cmov_b32", [](Wave& wave, const Instruction& i) {
    if (wave.scc) write(wave, i.operands[0], read<u32>(wave, i.operands[1]));
  });
}

/* -- Floats, of gfx12 ---------------------------------------------------------------------------------------------- */

void add_floats(Table& t) {
  t.add("s_add_f32", scalar([](float a, float b) { return a + b; }));
  t.add("s_sub_f32", scalar([](float a, float b) { return a - b; }));
  t.add("s_mul_f32", scalar([](float a, float b) { return a * b; }));
  t.add("s_min_num_f32", scalar([](float a, float b) { return min_number(a, b); }));
  t.add("s_max_num_f32", scalar([](float a, float b) { return max_number(a, b); }));
  t.add("s_fmac_f32", scalar([](float a, float b, float c) { return std::fma(a, b, c); }), Form::kAccumulates);
  t.add({"s_fmaak_f32", "s_fmamk_f32"}, scalar([](float a, float b, float c) { return std::fma(a, b, c); }));
  t.add("s_rndne_f32", scalar([](float a) { return std::nearbyint(a); }));
  t.add("s_cvt_f32_i32", scalar([](i32 a) { return static_cast<float>(a); }));
  t.add("s_cvt_f32_u32", scalar([](u32 a) { return static_cast<float>(a); }));
  t.add("s_cvt_u32_f32", scalar([](float a) { return to_u32(a); }));
  t.add("s_cvt_i32_f32", scalar([](float a) { return to_i32(a); }));
  t.add("s_cmp_neq_f32", test([](float a, float b) { return !(a == b); }));
  t.add("s_cmp_nlt_f32", test([](float a, float b) { return !(a < b); }));
  t.add("s_cmp_nle_f32", test([](float a, float b) { return !(a <= b); }));
  t.add("s_cmp_ngt_f32", test([](float a, float b) { return !(a > b); }));
  t.add("s_cmp_nge_f32", test([](float a, float b) { return !(a >= b); }));
}

}  // namespace

void add_scalars(Table& t) {
  add_sums(t);
  add_extremes(t);
  add_short_constants(t);
  add_logic(t);
  add_shifts(t);
  add_bits(t);
  add_compares<u32>(t, "u32");
  add_compares<i32>(t, "i32");
  add_compares<u64>(t, "u64");
  add_compares<float>(t, "f32");
  add_short_compares<u32>(t, "u32");
  add_short_compares<i32>(t, "i32");
  add_choices(t);
  add_floats(t);
}

}  // namespace vmafx::emulator::isa
