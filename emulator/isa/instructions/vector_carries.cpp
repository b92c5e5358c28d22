/* Sums and products of which a bit per lane is carried out, and maybe in. */
#include <type_traits>

#include "emulator/isa/instructions/operands.h"
#include "emulator/isa/instructions/table.h"

namespace vmafx::emulator::isa {
namespace {

enum class Sum { kAdd, kSubtract, kSubtractFromSecond };

/* Operands: result, carries out, two terms, carries in. */
template <Sum sum, bool has_carry_in>
void add_with_carry(Wave& wave, const Instruction& i) {
  Row<uint32_t> buffers[2], result;
  const uint32_t *first = fetch<uint32_t>(wave, i, 2, 0, buffers[0]),
                 *second = fetch<uint32_t>(wave, i, 3, 1, buffers[1]);
  const uint64_t in = has_carry_in ? read_mask(wave, i.operands[4]) : 0;
  uint64_t out = 0;
  for (unsigned l = 0; l < wave.lanes; l++) {
    const uint64_t a = sum == Sum::kSubtractFromSecond ? second[l] : first[l],
                   b = sum == Sum::kSubtractFromSecond ? first[l] : second[l], carry = in >> l & 1;
    const uint64_t whole = sum == Sum::kAdd ? a + b + carry : a - b - carry;
    result.of[l] = static_cast<uint32_t>(whole);
    out |= (whole >> 32 & 1) << l;
  }
  store_32(wave, i, result);
  write_mask(wave, i.operands[1], out & wave.exec());
}

/* Operands: result, carries out, two factors, a term. */
template <class T, class Wide>
void multiply_add(Wave& wave, const Instruction& i) {
  Row<T> buffers[2];
  Row<Wide> term, result;
  const T *a = fetch<T>(wave, i, 2, 0, buffers[0]), *b = fetch<T>(wave, i, 3, 1, buffers[1]);
  const Wide* c = fetch<Wide>(wave, i, 4, 2, term);
  uint64_t out = 0;
  for (unsigned l = 0; l < wave.lanes; l++) {
    const uint64_t product = static_cast<uint64_t>(Wide{a[l]} * Wide{b[l]}),
                   whole = product + static_cast<uint64_t>(c[l]);
    result.of[l] = static_cast<Wide>(whole);
    out |= uint64_t{whole < product} << l;
  }
  store(wave, i, result);
  // The carry of signed operations is not modelled: the wrong bits are written, so that a use would show.
  write_mask(wave, i.operands[1], (std::is_signed_v<T> ? ~out : out) & wave.exec());
}

}  // namespace

void add_vector_carries(Table& t) {
  t.add("v_add_co_u32", add_with_carry<Sum::kAdd, false>);
  t.add("v_sub_co_u32", add_with_carry<Sum::kSubtract, false>);
  t.add("v_subrev_co_u32", add_with_carry<Sum::kSubtractFromSecond, false>);
  t.add({"v_addc_co_u32", "v_add_co_ci_u32"}, add_with_carry<Sum::kAdd, true>);
  t.add({"v_subb_co_u32", "v_sub_co_ci_u32"}, add_with_carry<Sum::kSubtract, true>);
  t.add({"v_subbrev_co_u32", "v_subrev_co_ci_u32"}, add_with_carry<Sum::kSubtractFromSecond, true>);
  t.add({"v_mad_u64_u32", "v_mad_co_u64_u32"}, multiply_add<uint32_t, uint64_t>);
  t.add({"v_mad_i64_i32", "v_mad_co_i64_i32"}, multiply_add<int32_t, int64_t>);
}

}  // namespace vmafx::emulator::isa
