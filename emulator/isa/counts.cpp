#include "emulator/isa/counts.h"

#include <cstdio>
#include <iterator>
#include <numeric>

#include "emulator/isa/instruction.h"
#include "emulator/runtime/report.h"

namespace vmafx::emulator::isa {
namespace {

struct Uses {
  size_t all = 0, run = 0;
};

void add(const Instruction& i, bool has_run, std::map<std::string, Uses>& uses) {
  if (i.mnemonic.empty()) return;
  Uses& of = uses[i.mnemonic];
  of.all++;
  of.run += has_run;
}

}  // namespace

void write_counts(const std::string& path, const std::vector<std::unique_ptr<CodeObject>>& objects) {
  FILE* file = std::fopen(path.c_str(), "a");
  if (!file) die("cannot write %s", path.c_str());
  std::map<std::string, Uses> uses;
  for (const auto& object : objects)
    for (const std::string& name : object->kernel_names()) {
      const auto& kernel = *static_cast<const MachineKernel*>(object->find(name));
      const MachineKernel::Counts& counts = *kernel.counts;
      const auto executed = [&](Unit unit) { return size_t{counts.executed[static_cast<unsigned>(unit)]}; };
      const size_t memory = executed(Unit::kVectorMemory) + executed(Unit::kScalarMemory);
      const size_t of_kind[] = {executed(Unit::kVector), executed(Unit::kScalar), memory, executed(Unit::kLocalMemory),
                                executed(Unit::kControl)};
      std::fprintf(file, "kernel %s %zu %zu %zu %zu", name.c_str(), size_t{counts.launches}, size_t{counts.blocks},
                   size_t{counts.waves}, std::accumulate(std::begin(of_kind), std::end(of_kind), size_t{0}));
      for (const size_t n : of_kind) std::fprintf(file, " %zu", n);
      std::fprintf(file, " %zu\n", size_t{counts.conflict_cycles});
      for (const Instruction& i : kernel.code) {
        if (!i.pair) add(i, i.has_run, uses);
        else add(i.pair->first, i.has_run, uses), add(i.pair->second, i.has_run, uses);
      }
    }
  for (const auto& [mnemonic, of] : uses)
    std::fprintf(file, "instruction %s %zu %zu\n", mnemonic.c_str(), of.all, of.run);
  std::fclose(file);
}

}  // namespace vmafx::emulator::isa
