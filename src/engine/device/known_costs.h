/* KnownCosts: what earlier sessions measured of GPUs and of plans, in a small file of the user's cache folder. Scores
 * do not depend on it: it tells only when opening a GPU pays (engine/device/costs.h). */
#ifndef VMAFX_ENGINE_KNOWN_COSTS_H
#define VMAFX_ENGINE_KNOWN_COSTS_H

#include <cstdint>
#include <optional>
#include <string>

namespace vmafx {

/* Seconds of wall time; see StreamCosts. */
struct PlanCosts {
  double cpu_pair = 0, gpu_pair = 0;  // 0: not known
  int64_t pairs = 0;                  // of a usual stream; 0: not known
};

struct DeviceCosts {
  double opening = 0;
  std::string pci_address;  // of the device that was opened
};

/* The file: the environment variable VMAFX_COSTS, else vmafx/costs.txt in the user's cache folder. "": none, for an
 * empty variable or if there is no such folder. */
std::string known_costs_file();

class KnownCosts {
 public:
  /* A file that is missing, damaged or another program's counts as an empty one. */
  static KnownCosts read(const std::string& path);

  bool any() const { return !text_.empty(); }
  std::optional<PlanCosts> of_plan(const std::string& plan) const;
  std::optional<DeviceCosts> of_device(const std::string& device) const;

 private:
  std::string text_;
};

/* Replaces what the file says of a plan and, unless null, of a device, in one step: readers see the old file or the new
 * one. Keeps the latest 64 of each. Does nothing if that fails, or if the file is not one of KnownCosts. `plan`,
 * `device`: names without quotes and line feeds. */
void keep_costs(const std::string& path, const std::string& plan, const PlanCosts& of_plan, const std::string& device,
                const DeviceCosts* of_device);

}  // namespace vmafx

#endif
