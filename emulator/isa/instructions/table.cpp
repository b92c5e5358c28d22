#include "emulator/isa/instructions/table.h"

namespace vmafx::emulator::isa {

const Entry* find_entry(const std::string& name) {
  static const Table& table = []() -> Table& {
    auto& all = *new Table;
    for (const auto add :
         {add_vector_integers, add_vector_floats, add_vector_divisions, add_vector_compares, add_vector_carries,
          add_across_lanes, add_scalars, add_control, add_device_memory, add_local_memory})
      add(all);
    return all;
  }();
  return table.find(name);
}

}  // namespace vmafx::emulator::isa
