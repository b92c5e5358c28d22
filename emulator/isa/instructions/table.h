/* All instructions by name, without the suffix of an encoding. */
#ifndef VMAFX_EMULATOR_ISA_INSTRUCTIONS_TABLE_H
#define VMAFX_EMULATOR_ISA_INSTRUCTIONS_TABLE_H

#include <initializer_list>
#include <map>
#include <string>

#include "emulator/isa/instruction.h"

namespace vmafx::emulator::isa {

/* How the text behind the name is read. */
enum class Form {
  kOperands,
  kAccumulates,  // the result is a source, too, the last one
  kBranch,
  kWait,
  kHint,  // to the hardware; not read
};

struct Entry {
  Handler run;
  Form form = Form::kOperands;
};

class Table {
 public:
  /* An instruction under all its names: those of gfx9, of gfx11, … */
  void add(std::initializer_list<std::string> names, Handler run, Form form = Form::kOperands) {
    for (const std::string& name : names) entries_[name] = {run, form};
  }
  void add(const std::string& name, Handler run, Form form = Form::kOperands) { entries_[name] = {run, form}; }
  const Entry* find(const std::string& name) const {
    const auto found = entries_.find(name);
    return found == entries_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, Entry> entries_;
};

/* nullptr: there is none. */
const Entry* find_entry(const std::string& name);

/* The parts of the table; each is a file. */
void add_vector_integers(Table& table);
void add_vector_floats(Table& table);
void add_vector_divisions(Table& table);
void add_vector_compares(Table& table);
void add_vector_carries(Table& table);
void add_across_lanes(Table& table);
void add_scalars(Table& table);
void add_control(Table& table);
void add_device_memory(Table& table);
void add_local_memory(Table& table);

}  // namespace vmafx::emulator::isa

#endif
