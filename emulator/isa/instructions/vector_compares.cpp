/* Comparisons, whose results are masks of lanes, and the choice by such a mask. */
#include "emulator/isa/instructions/operands.h"
#include "emulator/isa/instructions/table.h"

namespace vmafx::emulator::isa {
namespace {

/* The lanes for which f is true. Instructions with two operands only (v_cmpx of gfx10 and later) name no result. */
template <class T, class F>
uint64_t compare(const Wave& wave, const Instruction& i) {
  const int first = i.count == 3 ? 1 : 0;
  Row<T> buffers[2];
  const T *a = fetch<T>(wave, i, first, 0, buffers[0]), *b = fetch<T>(wave, i, first + 1, 1, buffers[1]);
  Row<uint32_t> bits;
  each_lane(wave, [&](unsigned l) { bits.of[l] = uint32_t{F{}(a[l], b[l])} << (l & 31); });
  uint64_t mask = 0;
  for (unsigned word = 0; word < wave.lanes; word += 32) {
    uint32_t part = 0;
    for (unsigned l = 0; l < 32; l++) part |= bits.of[word + l];
    mask |= uint64_t{part} << word;
  }
  return mask & wave.exec();
}

template <class T, class F>
void add(Table& t, const std::string& name, F) {
  t.add("v_cmp_" + name, [](Wave& wave, const Instruction& i) {
    if (i.count != 3) fault(wave, "a comparison without a result");
    write_mask(wave, i.operands[0], compare<T, F>(wave, i));
  });
  t.add("v_cmpx_" + name, [](Wave& wave, const Instruction& i) {
    const uint64_t mask = compare<T, F>(wave, i);
    if (i.count == 3) write_mask(wave, i.operands[0], mask);
    wave.set_pair(kExec, mask);
  });
}

template <class T>
void add_common(Table& t, const std::string& type) {
  add<T>(t, "lt_" + type, [](T a, T b) { return a < b; });
  add<T>(t, "le_" + type, [](T a, T b) { return a <= b; });
  add<T>(t, "gt_" + type, [](T a, T b) { return a > b; });
  add<T>(t, "ge_" + type, [](T a, T b) { return a >= b; });
  add<T>(t, "eq_" + type, [](T a, T b) { return a == b; });
}

template <class T>
void add_integer(Table& t, const std::string& type) {
  add_common<T>(t, type);
  add<T>(t, "ne_" + type, [](T a, T b) { return a != b; });
}

/* "n…": not; "lg": less or greater; "o": neither is NaN; "u": one is. */
template <class T>
void add_float(Table& t, const std::string& type) {
  add_common<T>(t, type);
  add<T>(t, "nlt_" + type, [](T a, T b) { return !(a < b); });
  add<T>(t, "nle_" + type, [](T a, T b) { return !(a <= b); });
  add<T>(t, "ngt_" + type, [](T a, T b) { return !(a > b); });
  add<T>(t, "nge_" + type, [](T a, T b) { return !(a >= b); });
  add<T>(t, "neq_" + type, [](T a, T b) { return !(a == b); });
  add<T>(t, "lg_" + type, [](T a, T b) { return a < b || a > b; });
  add<T>(t, "nlg_" + type, [](T a, T b) { return !(a < b || a > b); });
  add<T>(t, "o_" + type, [](T a, T b) { return a == a && b == b; });
  add<T>(t, "u_" + type, [](T a, T b) { return a != a || b != b; });
}

/* Chooses between values of 32 bits, whose signs may be changed like those of floats. Goes by VCC if no mask is
 * named. */
void choose(Wave& wave, const Instruction& i) {
  Row<float> buffers[2];
  Row<uint32_t> result;
  const auto* a = reinterpret_cast<const uint32_t*>(fetch<float>(wave, i, 1, 0, buffers[0]));
  const auto* b = reinterpret_cast<const uint32_t*>(fetch<float>(wave, i, 2, 1, buffers[1]));
  const uint64_t mask = i.count > 3 ? read_mask(wave, i.operands[3]) : wave.mask(kVcc);
  for (unsigned l = 0; l < wave.lanes; l++) result.of[l] = mask >> l & 1 ? b[l] : a[l];
  store_32(wave, i, result);
}

}  // namespace

void add_vector_compares(Table& t) {
  add_integer<uint16_t>(t, "u16");
  add_integer<int16_t>(t, "i16");
  add_integer<uint32_t>(t, "u32");
  add_integer<int32_t>(t, "i32");
  add_integer<uint64_t>(t, "u64");
  add_integer<int64_t>(t, "i64");
  add_float<float>(t, "f32");
  add_float<double>(t, "f64");
  t.add("v_cndmask_b32", choose);
}

}  // namespace vmafx::emulator::isa
