/* Arithmetic and bits of integers, lane by lane. */
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "emulator/isa/instructions/bits.h"
#include "emulator/isa/instructions/operands.h"
#include "emulator/isa/instructions/table.h"

namespace vmafx::emulator::isa {
namespace {

constexpr i32 signed_24(u32 x) { return static_cast<i32>(x << 8) >> 8; }
constexpr u32 low_24(u32 x) { return x & 0xffffff; }

u32 permute_bytes(u32 a, u32 b, u32 selectors) {
  const u64 bytes = u64{a} << 32 | b;
  u32 result = 0;
  for (int k = 0; k < 32; k += 8) {
    const u32 s = selectors >> k & 0xff;
    u32 byte = 0xff;                                                      // 13 and above
    if (s < 8) byte = bytes >> 8 * s & 0xff;                              // one of the eight
    else if (s < 12) byte = bytes >> (16 * (s - 8) + 15) & 1 ? 0xff : 0;  // the sign of one of the four halves
    else if (s == 12) byte = 0;
    result |= byte << k;
  }
  return result;
}

u32 add_differences(u32 a, u32 b, u32 sum) {
  for (int k = 0; k < 32; k += 8)
    sum += static_cast<u32>(std::abs(static_cast<int>(a >> k & 255) - static_cast<int>(b >> k & 255)));
  return sum;
}

u32 add_products(u32 a, u32 b, u32 sum) {
  for (int k = 0; k < 32; k += 8) sum += (a >> k & 255) * (b >> k & 255);
  return sum;
}

template <class T>
T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

/* With the modifier "clamp" another function. */
template <class F, class G>
Handler lane_wise_or_clamped(F, G) {
  return [](Wave& wave, const Instruction& i) {
    if (i.clamp) run_lane_wise(wave, i, &G::operator());
    else run_lane_wise(wave, i, &F::operator());
  };
}

/* Multiplies and adds. On gfx9 the form without "legacy" is the one that keeps the upper half of its result. */
void multiply_add_16(Wave& wave, const Instruction& i) {
  if (wave.architecture->clears_upper_half() && i.mnemonic == "v_mad_u16")
    fault(wave, "not known for this architecture");
  const auto f = [](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); };
  run_lane_wise(wave, i, &decltype(f)::operator());
}

/* Each half of the result from the halves of the sources that op_sel and op_sel_hi say. */
template <class F>
Handler packed(F) {
  return [](Wave& wave, const Instruction& i) {
    if (i.clamp) fault(wave, "clamp of packed integers");
    Row<u32> buffers[2], result;
    const u32* const a = fetch(wave, i, 1, 0, buffers[0]);
    const u32* const b = fetch(wave, i, 2, 1, buffers[1]);
    const auto half = [&](unsigned lane, unsigned sel) {
      return static_cast<u16>(
          F{}(static_cast<i16>(a[lane] >> (sel & 1 ? 16 : 0)), static_cast<i16>(b[lane] >> (sel & 2 ? 16 : 0))));
    };
    each_lane(wave, [&](unsigned l) { result.of[l] = u32{half(l, i.op_sel_hi)} << 16 | half(l, i.op_sel); });
    store(wave, i, result);
  };
}

/* A function of three bits, as the table of its eight results. */
void look_up_bits(Wave& wave, const Instruction& i) {
  Row<u32> buffers[3], result;
  const u32* sources[3];
  for (int n = 0; n < 3; n++) sources[n] = fetch(wave, i, n + 1, n, buffers[n]);
  each_lane(wave, [&](unsigned l) {
    result.of[l] = 0;
    for (unsigned entry = 0; entry < 8; entry++) {
      if (!(i.truth_table >> entry & 1)) continue;
      u32 bits = ~0u;
      for (unsigned n = 0; n < 3; n++) bits &= entry >> (2 - n) & 1 ? sources[n][l] : ~sources[n][l];
      result.of[l] |= bits;
    }
  });
  store(wave, i, result);
}

void add_sums(Table& t) {
  t.add({"v_add_u32", "v_add_nc_u32"},
        lane_wise_or_clamped([](u32 a, u32 b) { return a + b; }, [](u32 a, u32 b) { return a + b < a ? ~0u : a + b; }));
  t.add({"v_sub_u32", "v_sub_nc_u32"},
        lane_wise_or_clamped([](u32 a, u32 b) { return a - b; }, [](u32 a, u32 b) { return a < b ? 0 : a - b; }));
  t.add({"v_subrev_u32", "v_subrev_nc_u32"}, lane_wise([](u32 a, u32 b) { return b - a; }));
  t.add("v_add3_u32", lane_wise([](u32 a, u32 b, u32 c) { return a + b + c; }));
  t.add("v_add_lshl_u32", lane_wise([](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }));
  t.add("v_lshl_add_u32", lane_wise([](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }));
  t.add("v_lshl_add_u64", lane_wise([](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; }));
  t.add("v_xad_u32", lane_wise([](u32 a, u32 b, u32 c) { return (a ^ b) + c; }));
  t.add("v_sad_u32", lane_wise([](u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; }));
  t.add("v_sad_u8", lane_wise([](u32 a, u32 b, u32 c) { return add_differences(a, b, c); }));
  t.add({"v_add_u16", "v_add_nc_u16"}, lane_wise([](u16 a, u16 b) { return static_cast<u16>(a + b); }));
  t.add({"v_sub_u16", "v_sub_nc_u16"}, lane_wise([](u16 a, u16 b) { return static_cast<u16>(a - b); }));
  t.add("v_pk_sub_i16", packed([](i16 a, i16 b) { return a - b; }));
}

void add_products_to(Table& t) {
  t.add("v_mul_lo_u32", lane_wise([](u32 a, u32 b) { return a * b; }));
  t.add("v_mul_hi_u32", lane_wise([](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }));
  t.add("v_mul_hi_i32", lane_wise([](i32 a, i32 b) { return static_cast<i32>(i64{a} * b >> 32); }));
  t.add("v_mul_u32_u24", lane_wise([](u32 a, u32 b) { return low_24(a) * low_24(b); }));
  t.add("v_mul_i32_i24", lane_wise([](u32 a, u32 b) { return static_cast<u32>(i64{signed_24(a)} * signed_24(b)); }));
  t.add("v_mul_hi_u32_u24", lane_wise([](u32 a, u32 b) { return static_cast<u32>(u64{low_24(a)} * low_24(b) >> 32); }));
  t.add("v_mul_hi_i32_i24",
        lane_wise([](u32 a, u32 b) { return static_cast<u32>(i64{signed_24(a)} * signed_24(b) >> 32); }));
  t.add("v_mad_u32_u24", lane_wise([](u32 a, u32 b, u32 c) { return low_24(a) * low_24(b) + c; }));
  t.add("v_mad_i32_i24",
        lane_wise([](u32 a, u32 b, u32 c) { return static_cast<u32>(i64{signed_24(a)} * signed_24(b)) + c; }));
  t.add("v_dot4_u32_u8", lane_wise([](u32 a, u32 b, u32 c) { return add_products(a, b, c); }));
  t.add("v_mul_lo_u16", lane_wise([](u16 a, u16 b) { return static_cast<u16>(u32{a} * b); }));
  t.add({"v_mad_u16", "v_mad_legacy_u16"}, multiply_add_16);
}

void add_extremes(Table& t) {
  t.add("v_max_i32", lane_wise([](i32 a, i32 b) { return std::max(a, b); }));
  t.add("v_min_i32", lane_wise([](i32 a, i32 b) { return std::min(a, b); }));
  t.add("v_max_u32", lane_wise([](u32 a, u32 b) { return std::max(a, b); }));
  t.add("v_min_u32", lane_wise([](u32 a, u32 b) { return std::min(a, b); }));
  t.add("v_max_i16", lane_wise([](i16 a, i16 b) { return std::max(a, b); }));
  t.add("v_pk_max_i16", packed([](i16 a, i16 b) { return std::max(a, b); }));
  t.add("v_maxmin_i32", lane_wise([](i32 a, i32 b, i32 c) { return std::min(std::max(a, b), c); }));
  t.add("v_max3_i32", lane_wise([](i32 a, i32 b, i32 c) { return std::max(std::max(a, b), c); }));
  t.add("v_min3_i32", lane_wise([](i32 a, i32 b, i32 c) { return std::min(std::min(a, b), c); }));
  t.add("v_max3_u32", lane_wise([](u32 a, u32 b, u32 c) { return std::max(std::max(a, b), c); }));
  t.add("v_min3_u32", lane_wise([](u32 a, u32 b, u32 c) { return std::min(std::min(a, b), c); }));
  t.add("v_med3_i32", lane_wise([](i32 a, i32 b, i32 c) { return median(a, b, c); }));
  t.add("v_med3_u32", lane_wise([](u32 a, u32 b, u32 c) { return median(a, b, c); }));
}

void add_logic(Table& t) {
  t.add("v_mov_b32", lane_wise([](u32 a) { return a; }));
  t.add("v_mov_b64", lane_wise([](u64 a) { return a; }));
  t.add("v_not_b32", lane_wise([](u32 a) { return ~a; }));
  t.add("v_and_b32", lane_wise([](u32 a, u32 b) { return a & b; }));
  t.add("v_or_b32", lane_wise([](u32 a, u32 b) { return a | b; }));
  t.add("v_xor_b32", lane_wise([](u32 a, u32 b) { return a ^ b; }));
  t.add("v_xnor_b32", lane_wise([](u32 a, u32 b) { return ~(a ^ b); }));
  t.add("v_and_or_b32", lane_wise([](u32 a, u32 b, u32 c) { return (a & b) | c; }));
  t.add("v_or3_b32", lane_wise([](u32 a, u32 b, u32 c) { return a | b | c; }));
  t.add("v_xor3_b32", lane_wise([](u32 a, u32 b, u32 c) { return a ^ b ^ c; }));
  t.add("v_bfi_b32", lane_wise([](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }));
  t.add("v_bitop3_b32", look_up_bits);
  t.add("v_perm_b32", lane_wise([](u32 a, u32 b, u32 c) { return permute_bytes(a, b, c); }));
}

void add_shifts(Table& t) {
  t.add("v_lshlrev_b32", lane_wise([](u32 a, u32 b) { return b << (a & 31); }));
  t.add("v_lshrrev_b32", lane_wise([](u32 a, u32 b) { return b >> (a & 31); }));
  t.add("v_ashrrev_i32", lane_wise([](u32 a, i32 b) { return b >> (a & 31); }));
  t.add("v_lshlrev_b64", lane_wise([](u32 a, u64 b) { return b << (a & 63); }));
  t.add("v_lshrrev_b64", lane_wise([](u32 a, u64 b) { return b >> (a & 63); }));
  t.add("v_ashrrev_i64", lane_wise([](u32 a, i64 b) { return b >> (a & 63); }));
  t.add("v_lshlrev_b16", lane_wise([](u16 a, u16 b) { return static_cast<u16>(b << (a & 15)); }));
  t.add("v_lshrrev_b16", lane_wise([](u16 a, u16 b) { return static_cast<u16>(b >> (a & 15)); }));
  t.add("v_ashrrev_i16", lane_wise([](u16 a, i16 b) { return static_cast<i16>(b >> (a & 15)); }));
  t.add("v_lshl_or_b32", lane_wise([](u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; }));
  t.add("v_alignbit_b32",
        lane_wise([](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{a} << 32 | b) >> (c & 31)); }));
  t.add("v_alignbyte_b32",
        lane_wise([](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{a} << 32 | b) >> 8 * (c & 3)); }));
  t.add("v_bfe_u32", lane_wise([](u32 a, u32 b, u32 c) { return bit_field<u32>(a, b & 31, c & 31); }));
  t.add("v_bfe_i32", lane_wise([](i32 a, u32 b, u32 c) { return bit_field<i32>(a, b & 31, c & 31); }));
}

void add_bit_counts(Table& t) {
  t.add("v_bfrev_b32", lane_wise([](u32 a) { return reverse_bits(a); }));
  t.add("v_bcnt_u32_b32", lane_wise([](u32 a, u32 b) { return static_cast<u32>(std::popcount(a)) + b; }));
  t.add({"v_ffbh_u32", "v_clz_i32_u32"}, lane_wise([](u32 a) { return leading_zeros(a); }));
  t.add({"v_ffbh_i32", "v_cls_i32"}, lane_wise([](i32 a) { return leading_zeros(a < 0 ? ~a : a); }));
  t.add({"v_ffbl_b32", "v_ctz_i32_b32"}, lane_wise([](u32 a) { return trailing_zeros(a); }));
}

}  // namespace

void add_vector_integers(Table& t) {
  add_sums(t);
  add_products_to(t);
  add_extremes(t);
  add_logic(t);
  add_shifts(t);
  add_bit_counts(t);
}

}  // namespace vmafx::emulator::isa
