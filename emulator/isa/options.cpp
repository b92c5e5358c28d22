#include "emulator/isa/options.h"

#include "emulator/runtime/report.h"
#include "emulator/runtime/settings.h"

namespace vmafx::emulator::isa {
namespace {

Options read() {
  Options o;
  o.architecture = variable("ARCH");
  if (o.architecture.empty()) o.architecture = "gfx1100";
  o.quantum = number_variable("QUANTUM", 0);
  o.perturbs = number_variable("PERTURB", 0) != 0;
  o.checks_scalars = number_variable("SCALARS", 0) != 0;
  const uint64_t late = number_variable("LATE", 0);
  if (late > 2) die("VMAFX_HIP_EMULATOR_LATE=%zu: it is 0, 1 or 2", static_cast<size_t>(late));
  o.loads = static_cast<Loads>(late);
  o.counts_conflicts = number_variable("CONFLICTS", 0) != 0;
  o.counts_file = variable("COUNTS");
  return o;
}

}  // namespace

const Options& options() {
  static const Options& o = *new Options(read());
  return o;
}

}  // namespace vmafx::emulator::isa
