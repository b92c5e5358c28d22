/* Checks the compiled kernels by each embedded code object's own account of its kernels' needs. For AMD that is the
 * MessagePack note of the code object (LLVM's "User Guide for AMDGPU Backend"), for NVIDIA the section .nv.info. Prints
 * it, too. */
#include "hip/code_objects.h"

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <check.h>  // after <sstream>: defines a macro `fail`

#include "base/status.h"
#include "tests/hip/device_elf.h"
#include "tests/support/check_main.h"
#include "tests/support/paths.h"

using namespace vmafx;
using namespace vmafx::hip;
using namespace vmafx::test;
using nlohmann::json;

namespace {

constexpr int kSkipped = 77;            // to automake
constexpr int kMostShared = 48 * 1024;  // bytes: what gpu.h allows a kernel
/* Scalars that find no register go to lanes of a vector register, not to memory: a move each, and only kernels with
 * long argument lists on gfx9, which has fewest, need it. */
constexpr int kMostScalarSpills = 32;
constexpr int kMostVectorRegisters = 256;  // two waves of 64 lanes on each SIMD of gfx9, four of 32 lanes on later ones
constexpr int kCudaReservedShared = 1024;  // bytes that CUDA itself takes in each block

using Names = std::set<std::string>;

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }
bool is_amd(const CodeObject& object) { return starts_with(object.arch, "gfx"); }
bool is_cubin(const CodeObject& object) { return starts_with(object.arch, "sm_"); }

std::string say(const char* arch, const std::string& kernel, const char* what, int value) {
  return format_text("%s, kernel %s: %s %d", arch, kernel.c_str(), what, value);
}

/* -- AMD ----------------------------------------------------------------------------------------------------------- */

json amd_metadata(const CodeObject& object) {
  constexpr uint32_t kMetadataNote = 32;  // NT_AMDGPU_METADATA
  const DeviceElf elf(object.image);
  const Section* notes = elf.find(".note");
  ck_assert_ptr_nonnull(notes);
  const auto aligned = [](size_t size) { return (size + 3) & ~size_t{3}; };
  for (size_t at = 0; at < notes->bytes.size();) {
    const auto note = read_at<Elf64_Nhdr>(notes->bytes, at);
    const size_t text = at + sizeof note + aligned(note.n_namesz);
    if (note.n_type == kMetadataNote) {
      const auto metadata = notes->bytes.subspan(text, note.n_descsz);
      return json::from_msgpack(reinterpret_cast<const uint8_t*>(metadata.data()),
                                reinterpret_cast<const uint8_t*>(metadata.data()) + metadata.size());
    }
    at = text + aligned(note.n_descsz);
  }
  ck_abort_msg("%s has no metadata", object.arch);
}

Names kernel_names(const json& metadata) {
  Names names;
  for (const json& kernel : metadata.at("amdhsa.kernels")) names.insert(kernel.at(".name").get<std::string>());
  return names;
}

void check_amd_kernel(const char* arch, const json& kernel) {
  const std::string name = kernel.at(".name");
  const auto number = [&](const char* key) { return kernel.value(key, 0); };
  const auto check_range = [&](const char* key, int least, int most) {
    ck_assert_msg(kernel.contains(key), "%s: no %s", arch, key);
    ck_assert_msg(number(key) >= least && number(key) <= most, "%s", say(arch, name, key, number(key)).c_str());
  };
  std::printf("%-8s %-32s %3d vgpr %3d sgpr %5d bytes shared\n", arch, name.c_str(), number(".vgpr_count"),
              number(".sgpr_count"), number(".group_segment_fixed_size"));
  const int lanes = starts_with(arch, "gfx9") ? 64 : 32;
  check_range(".wavefront_size", lanes, lanes);
  check_range(".group_segment_fixed_size", 0, kMostShared);
  check_range(".private_segment_fixed_size", 0, 0);  // scratch memory
  check_range(".vgpr_spill_count", 0, 0);
  check_range(".sgpr_spill_count", 0, kMostScalarSpills);
  check_range(".vgpr_count", 1, kMostVectorRegisters);
  check_range(".max_flat_workgroup_size", 64, 1024);
  ck_assert_msg(number(".max_flat_workgroup_size") % 64 == 0, "%s: not whole waves", name.c_str());
  ck_assert_msg(number(".agpr_count") == 0, "%s", say(arch, name, ".agpr_count", number(".agpr_count")).c_str());
  ck_assert_msg(!kernel.value(".uses_dynamic_stack", false), "%s, kernel %s: dynamic stack", arch, name.c_str());
}

/* -- NVIDIA -------------------------------------------------------------------------------------------------------- */

struct CudaFunction {
  int registers = 0;  // 0: no kernel, but a function that kernels call
  int stack = 0;      // bytes of local memory, spilled registers among them
  int shared = 0;     // bytes
};

/* Entries of .nv.info: a format, an attribute, then a size and that many bytes (format 4) or two bytes of value. */
std::map<std::string, CudaFunction> cubin_functions(const CodeObject& object) {
  constexpr int kSized = 4, kFrameSize = 0x11, kRegisters = 0x2f;  // attributes: a symbol and a number
  const DeviceElf elf(object.image);
  const Section* info = elf.find(".nv.info");
  ck_assert_ptr_nonnull(info);
  std::map<std::string, CudaFunction> functions;
  for (size_t at = 0; at < info->bytes.size();) {
    const auto format = read_at<uint8_t>(info->bytes, at), attribute = read_at<uint8_t>(info->bytes, at + 1);
    const auto size = format == kSized ? read_at<uint16_t>(info->bytes, at + 2) : uint16_t{0};
    if (format == kSized && (attribute == kFrameSize || attribute == kRegisters)) {
      CudaFunction& function = functions[elf.symbol(read_at<uint32_t>(info->bytes, at + 4))];
      (attribute == kFrameSize ? function.stack : function.registers) = read_at<int32_t>(info->bytes, at + 8);
    }
    at += 4 + size;
  }
  for (auto& [name, function] : functions)
    if (const Section* shared = elf.find(".nv.shared." + name)) function.shared = static_cast<int>(shared->size);
  return functions;
}

void check_cuda_function(const char* arch, const std::string& name, const CudaFunction& function) {
  std::printf("%-8s %-32s %3d registers %5d bytes shared\n", arch, name.c_str(), function.registers, function.shared);
  ck_assert_msg(function.stack == 0, "%s", say(arch, name, "bytes of stack", function.stack).c_str());
  ck_assert_msg(function.shared <= kMostShared + kCudaReservedShared, "%s",
                say(arch, name, "bytes shared", function.shared).c_str());
}

Names ptx_kernels(const std::string& text) {
  Names names;
  for (size_t at = 0; (at = text.find(".entry ", at)) != std::string::npos;) {
    at += 7;
    names.insert(text.substr(at, text.find('(', at) - at));
  }
  return names;
}

std::string ptx_text(const CodeObject& object) { return reinterpret_cast<const char*>(object.image.data()); }

Names names_in(const CodeObject& object) {
  if (is_amd(object)) return kernel_names(amd_metadata(object));
  if (!is_cubin(object)) return ptx_kernels(ptx_text(object));
  Names names;
  for (const auto& [name, function] : cubin_functions(object))
    if (function.registers > 0) names.insert(name);
  return names;
}

}  // namespace

START_TEST(all_that_configure_chose_is_there) {
  Names chosen, embedded;
  std::istringstream files(CODE_OBJECTS);
  for (std::string file; files >> file;)
    chosen.insert(file.substr(file.find('/') + 1, file.find('.') - file.find('/') - 1));
  for (const CodeObject& object : embedded_code_objects()) embedded.insert(object.arch);
  ck_assert_msg(chosen == embedded, "configure chose '%s', embedded are %s", CODE_OBJECTS,
                list_architectures(embedded_code_objects()).c_str());
}
END_TEST

/* Version 4 of code objects is the newest that ROCm 5.0 to 5.2 load; version 5 has ABI version 3. Code for a family is
 * of version 6, the first that has families. */
START_TEST(amd_objects_suit_rocm_5_0) {
  constexpr uint8_t kAmdHsa = 64;                  // ELFOSABI_AMDGPU_HSA
  constexpr uint8_t kVersion4 = 2, kVersion6 = 4;  // ELFABIVERSION_AMDGPU_HSA_V4, _V6
  for (const CodeObject& object : embedded_code_objects()) {
    if (!is_amd(object)) continue;
    const DeviceElf elf(object.image);
    ck_assert_msg(elf.os_abi() == kAmdHsa && elf.abi_version() == (object.is_generic() ? kVersion6 : kVersion4),
                  "%s: ABI %d, version %d", object.arch, elf.os_abi(), elf.abi_version());
  }
}
END_TEST

START_TEST(amd_kernels_need_no_scratch) {
  for (const CodeObject& object : embedded_code_objects()) {
    if (!is_amd(object)) continue;
    const json metadata = amd_metadata(object);
    assert_text_eq(metadata.at("amdhsa.target").get<std::string>(), std::string("amdgcn-amd-amdhsa--") + object.arch);
    for (const json& kernel : metadata.at("amdhsa.kernels")) check_amd_kernel(object.arch, kernel);
  }
}
END_TEST

START_TEST(nvidia_kernels_need_no_stack) {
  for (const CodeObject& object : embedded_code_objects())
    if (is_cubin(object))
      for (const auto& [name, function] : cubin_functions(object)) check_cuda_function(object.arch, name, function);
}
END_TEST

START_TEST(ptx_is_a_text_without_local_memory) {
  for (const CodeObject& object : embedded_code_objects()) {
    if (!starts_with(object.arch, "compute_")) continue;
    ck_assert_uint_eq(ptx_text(object).size(), object.image.size());
    ck_assert_msg(ptx_text(object).find(".local") == std::string::npos, "a kernel uses local memory");
  }
}
END_TEST

START_TEST(all_objects_have_the_same_kernels) {
  const auto objects = embedded_code_objects();
  const Names first = names_in(objects.front());
  ck_assert_msg(first.count("vmafx_self_test") == 1, "there is no self-test");
  for (const CodeObject& object : objects)
    ck_assert_msg(names_in(object) == first, "%s has other kernels than %s", object.arch, objects.front().arch);
}
END_TEST

int main() {
  if (std::string(CODE_OBJECTS).empty()) {
    std::puts("skipped: configure found no device compiler");
    return kSkipped;
  }
  for (const CodeObject& object : embedded_code_objects())
    std::printf("%-12s %zu bytes\n", object.arch, object.image.size());
  return run_suite("code_objects", {{"chosen", all_that_configure_chose_is_there},
                                    {"amd_version", amd_objects_suit_rocm_5_0},
                                    {"amd", amd_kernels_need_no_scratch},
                                    {"nvidia", nvidia_kernels_need_no_stack},
                                    {"ptx", ptx_is_a_text_without_local_memory},
                                    {"names", all_objects_have_the_same_kernels}});
}
