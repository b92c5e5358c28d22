#include "compat/vship/devices.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "vmafx/vmafx.h"

namespace vship {
namespace {

struct Found {
  std::map<int, Vship_DeviceInfo> gpus;  // by the number that the option `device` takes
  std::vector<int> usable;
  Vship_DeviceInfo cpu{};
};

void set_name(Vship_DeviceInfo* info, const std::string& name) {
  info->name[name.copy(info->name, sizeof(info->name) - 1)] = '\0';
}

void note(void* cookie, VmafxLogLevel, const char* message) {
  auto* const found = static_cast<Found*>(cookie);
  const auto fact = nlohmann::json::parse(message, nullptr, false);
  const std::string kind = fact.value("kind", "");
  if (kind == "cpu") {
    set_name(&found->cpu, "CPU, " + fact.value("level", "plain"));
    found->cpu.integrated = 1;
    found->cpu.MultiProcessorCount = fact.value("threads", 1);
    found->cpu.WarpSize = 1;
  } else if (kind == "device") {
    Vship_DeviceInfo& gpu = found->gpus[fact.value("index", 0)];
    set_name(&gpu, fact.value("name", "GPU"));
    gpu.VRAMSize = fact.value("memory_bytes", uint64_t{0});
    gpu.integrated = fact.value("integrated", false);
  } else if (kind == "trial" && fact.value("error", 0) == 0) {
    found->usable.push_back(fact.value("index", 0));
  }
}

std::vector<Vship_DeviceInfo> find() {
  Found found;
  vmafx_examine(note, &found);
  std::vector<Vship_DeviceInfo> all;
  for (const auto& [index, gpu] : found.gpus)
    if (std::ranges::find(found.usable, index) != found.usable.end()) all.push_back(gpu);
  if (all.empty()) all.push_back(found.cpu);
  return all;
}

}  // namespace

const std::vector<Vship_DeviceInfo>& devices() {
  static const std::vector<Vship_DeviceInfo> all = find();
  return all;
}

std::vector<std::pair<std::string, std::string>> device_options(int gpu_id) {
  const char* const backend = std::getenv("VMAFX_BACKEND");
  return {{"backend", backend && *backend ? backend : "auto"},
          {"device", gpu_id > 0 ? std::to_string(gpu_id) : "auto"}};
}

}  // namespace vship
