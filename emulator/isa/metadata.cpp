#include "emulator/isa/metadata.h"

#include <nlohmann/json.hpp>

#include "emulator/runtime/report.h"

namespace vmafx::emulator::isa {
namespace {

using nlohmann::json;

KernelMetadata read_kernel(const json& from) {
  KernelMetadata kernel{from.at(".name"), from.at(".max_flat_workgroup_size"), {}};
  for (const json& argument : from.value(".args", json::array()))
    kernel.arguments.push_back({argument.at(".offset"), argument.at(".size"), argument.at(".value_kind")});
  return kernel;
}

}  // namespace

std::vector<KernelMetadata> read_metadata(const uint8_t* note, size_t size) {
  std::vector<KernelMetadata> kernels;
  try {
    const json metadata = json::from_msgpack(note, note + size);
    for (const json& kernel : metadata.at("amdhsa.kernels")) kernels.push_back(read_kernel(kernel));
  } catch (const json::exception& what) {
    die("metadata of a code object: %s", what.what());
  }
  return kernels;
}

}  // namespace vmafx::emulator::isa
