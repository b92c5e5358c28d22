/* Reading sources and writing results. */
#ifndef VMAFX_EMULATOR_ISA_INSTRUCTIONS_OPERANDS_H
#define VMAFX_EMULATOR_ISA_INSTRUCTIONS_OPERANDS_H

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "emulator/isa/wave.h"

namespace vmafx::emulator::isa {

[[noreturn]] void fault(const Wave& wave, const std::string& what);

/* -- Scalars ------------------------------------------------------------------------------------------------------- */

uint32_t read_scalar(const Wave& wave, const Operand& operand);
uint64_t read_scalar_pair(const Wave& wave, const Operand& operand);
void write_scalar(Wave& wave, const Operand& operand, uint32_t value);
void write_scalar_pair(Wave& wave, const Operand& operand, uint64_t value);
/* A bit for each lane: one scalar with 32 lanes, two with 64. */
uint64_t read_mask(const Wave& wave, const Operand& operand);
void write_mask(Wave& wave, const Operand& operand, uint64_t mask);

/* -- Vectors ------------------------------------------------------------------------------------------------------- */

/* The constant of 64 bits that an operand stands for. */
enum class Wide { kBits, kSigned, kFloat };

/* The row of an operand, in `buffer` unless it is a register as it is. */
const uint32_t* fetch_32(const Wave& wave, const Operand& operand, bool is_float, Row<uint32_t>& buffer);
void fetch_64(const Wave& wave, const Operand& operand, Wide kind, Row<uint64_t>& buffer);
/* The half that op_sel says for source 0, 1 or 2. */
void fetch_16(const Wave& wave, const Instruction& i, int operand, int source, Row<uint16_t>& buffer);

/* Writes the active lanes. */
void write_row(Wave& wave, unsigned reg, const uint32_t* row);
void store_32(Wave& wave, const Instruction& i, Row<uint32_t>& row);
void store_64(Wave& wave, const Instruction& i, const Row<uint64_t>& row);
void store_16(Wave& wave, const Instruction& i, const Row<uint16_t>& row);

/* A source of an instruction as values of type T, and its result. */
template <class T>
constexpr bool kIsFloat = std::is_floating_point_v<T>;

template <class T>
const T* fetch(const Wave& wave, const Instruction& i, int operand, int source, Row<T>& buffer) {
  constexpr Wide kKind = kIsFloat<T> ? Wide::kFloat : std::is_signed_v<T> ? Wide::kSigned : Wide::kBits;
  const Operand& from = i.operands[operand];
  if constexpr (sizeof(T) == 8) {
    fetch_64(wave, from, kKind, reinterpret_cast<Row<uint64_t>&>(buffer));
    return buffer.of;
  } else if constexpr (sizeof(T) == 4) {
    return reinterpret_cast<const T*>(fetch_32(wave, from, kIsFloat<T>, reinterpret_cast<Row<uint32_t>&>(buffer)));
  } else {
    fetch_16(wave, i, operand, source, reinterpret_cast<Row<uint16_t>&>(buffer));
    return buffer.of;
  }
}

/* "times 2", "half", and to 0 … 1, where NaN becomes 0. */
template <class T>
void modify_output(const Wave& wave, const Instruction& i, Row<T>& row) {
  const T factor = i.output_modifier == 1   ? T{2}
                   : i.output_modifier == 2 ? T{4}
                   : i.output_modifier == 3 ? T{0.5}
                                            : T{1};
  if (i.output_modifier) each_lane(wave, [&](unsigned l) { row.of[l] *= factor; });
  if (i.clamp)
    each_lane(wave, [&](unsigned l) { row.of[l] = row.of[l] > 0 ? (row.of[l] < 1 ? row.of[l] : T{1}) : T{0}; });
}

template <class T>
void store(Wave& wave, const Instruction& i, Row<T>& row) {
  if constexpr (kIsFloat<T>) modify_output(wave, i, row);
  if constexpr (sizeof(T) == 8) store_64(wave, i, reinterpret_cast<Row<uint64_t>&>(row));
  else if constexpr (sizeof(T) == 4) store_32(wave, i, reinterpret_cast<Row<uint32_t>&>(row));
  else store_16(wave, i, reinterpret_cast<Row<uint16_t>&>(row));
}

/* -- An instruction that does the same in each lane ---------------------------------------------------------------- */

template <class F, class R, class... Args>
void run_lane_wise(Wave& wave, const Instruction& i, R (F::*)(Args...) const) {
  std::tuple<Row<Args>...> buffers;  // only those that are needed are written
  Row<R> result;
  [&]<size_t... n>(std::index_sequence<n...>) {
    const std::tuple<const Args*...> rows(
        fetch<Args>(wave, i, static_cast<int>(n) + 1, static_cast<int>(n), std::get<n>(buffers))...);
    each_lane(wave, [&](unsigned l) { result.of[l] = F{}(std::get<n>(rows)[l]...); });
  }(std::index_sequence_for<Args...>());
  store(wave, i, result);
}

/* The handler of a function of the sources of one lane: lane_wise([](float a, float b) { return a + b; }). */
template <class F>
Handler lane_wise(F) {
  return [](Wave& wave, const Instruction& i) { run_lane_wise(wave, i, &F::operator()); };
}

}  // namespace vmafx::emulator::isa

#endif
