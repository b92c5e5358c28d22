#include "hip/code_objects.h"

#include <array>
#include <cstdio>
#include <iterator>

#include "base/system/embed.h"

/* device_code/list.inc is written by the build: a line per object, none when there was no device compiler. PTX is a
 * text, which ends in a zero. */
#define VMAFX_CODE_OBJECT(name, path) VMAFX_EMBED(vmafx_code_##name, path)
#include "device_code/list.inc"
#undef VMAFX_CODE_OBJECT

namespace vmafx::hip {
namespace {

struct Extent {
  const char* arch;
  const std::byte *begin, *end;
};

constexpr Extent kExtents[] = {
#define VMAFX_CODE_OBJECT(name, path) {#name, vmafx_code_##name, vmafx_code_##name##_end},
#include "device_code/list.inc"
#undef VMAFX_CODE_OBJECT
    {nullptr, nullptr, nullptr}};

constexpr size_t kCount = std::size(kExtents) - 1;

/* 90 for "sm_90" with prefix "sm_"; -1 for anything else. */
int version_after(const char* prefix, const std::string& arch) {
  int version = 0, length = 0;
  const std::string format = std::string(prefix) + "%d%n";
  const bool whole =
      std::sscanf(arch.c_str(), format.c_str(), &version, &length) == 1 && length == static_cast<int>(arch.size());
  return whole ? version : -1;
}

/* How well an object suits NVIDIA device version `device`: 0 not at all, PTX below machine code, newer above older. */
int cuda_rank(const std::string& object, int device) {
  const int code = version_after("sm_", object), ptx = version_after("compute_", object);
  if (code >= 0) return code / 10 == device / 10 && code <= device ? 1000 + code : 0;
  return ptx >= 0 && ptx <= device ? ptx : 0;
}

}  // namespace

std::span<const CodeObject> embedded_code_objects() {
  static const auto objects = [] {
    std::array<CodeObject, kCount> list{};
    for (size_t i = 0; i < kCount; i++) list[i] = {kExtents[i].arch, {kExtents[i].begin, kExtents[i].end}};
    return list;
  }();
  return objects;
}

const CodeObject* find_code_object(std::span<const CodeObject> objects, const std::string& arch) {
  const int device = version_after("sm_", arch);
  const CodeObject* best = nullptr;
  int best_rank = 0;
  for (const CodeObject& object : objects) {
    if (device < 0 && object.arch == arch) return &object;
    const int rank = device < 0 ? 0 : cuda_rank(object.arch, device);
    if (rank > best_rank) best = &object, best_rank = rank;
  }
  return best;
}

std::string list_architectures(std::span<const CodeObject> objects) {
  std::string list;
  for (const CodeObject& object : objects) list += (list.empty() ? "" : ", ") + std::string(object.arch);
  return list.empty() ? "none" : list;
}

}  // namespace vmafx::hip
