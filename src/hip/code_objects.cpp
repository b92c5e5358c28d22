#include "hip/code_objects.h"

#include <array>
#include <cstdio>
#include <initializer_list>
#include <iterator>

#include "base/system/embed.h"

/* device_code/list.inc is written by the build: a line per object, none when there was no device compiler. PTX is a
 * text, which ends in a zero. */
#define VMAFX_CODE_OBJECT(symbol, arch, path) VMAFX_EMBED(vmafx_code_##symbol, path)
#include "device_code/list.inc"
#undef VMAFX_CODE_OBJECT

namespace vmafx::hip {
namespace {

struct Extent {
  const char* arch;
  const std::byte *begin, *end;
};

constexpr Extent kExtents[] = {
#define VMAFX_CODE_OBJECT(symbol, arch, path) {arch, vmafx_code_##symbol, vmafx_code_##symbol##_end},
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

/* LLVM's families of AMD GPUs for which code is compiled once, and how their members' names begin ("Generic processors"
 * in the User Guide for AMDGPU Backend). A member that comes later counts as one; the runtime knows whether it is. */
struct Family {
  const char* generic;
  std::initializer_list<const char*> members;
};

constexpr Family kFamilies[] = {{"gfx9-generic", {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}},
                                {"gfx9-4-generic", {"gfx94", "gfx95"}},
                                {"gfx10-1-generic", {"gfx101"}},
                                {"gfx10-3-generic", {"gfx103"}},
                                {"gfx11-generic", {"gfx110", "gfx115"}},
                                {"gfx12-generic", {"gfx120"}}};

const char* generic_of(const std::string& arch) {
  for (const Family& family : kFamilies)
    for (const char* member : family.members)
      if (arch.starts_with(member)) return family.generic;
  return "";
}

/* How well an object suits the AMD device `arch`: its own code above that of its family. */
int amd_rank(const std::string& object, const std::string& arch) {
  if (object == arch) return 2;
  return object == generic_of(arch) ? 1 : 0;
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
    const int rank = device < 0 ? amd_rank(object.arch, arch) : cuda_rank(object.arch, device);
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
