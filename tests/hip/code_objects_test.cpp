/* What the compilers made of the kernels: each embedded AMD code object's own metadata, read with llvm-readelf.
 * Skipped in a build without device code. */
#include "hip/code_objects.h"

#include <check.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::hip;

namespace {

constexpr int kSkipped = 77;             // to automake
constexpr int kMostShared = 48 * 1024;   // bytes: what gpu.h allows a kernel
constexpr int kMostVectorRegisters = 256;

using Kernel = std::map<std::string, std::string>;  // ".vgpr_count" -> "20"

struct Metadata {
  std::string target;  // "amdgcn-amd-amdhsa--gfx1100"
  std::vector<Kernel> kernels;
};

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

/* "    .vgpr_count:     20" of a kernel; an argument's keys stand further in. */
void read_line(const std::string& line, Metadata* metadata) {
  const size_t colon = line.find(':');
  if (colon == std::string::npos) return;
  const size_t value = line.find_first_not_of(' ', colon + 1);
  const std::string text = value == std::string::npos ? "" : line.substr(value);
  if (starts_with(line, "amdhsa.target:")) metadata->target = text;
  if (starts_with(line, "  - .")) metadata->kernels.emplace_back();
  if ((starts_with(line, "  - .") || starts_with(line, "    .")) && !metadata->kernels.empty())
    metadata->kernels.back()[line.substr(4, colon - 4)] = text;
}

Metadata read_metadata(const CodeObject& object) {
  char path[] = "/tmp/vmafx_code_XXXXXX";
  const int file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  ck_assert_int_eq(write(file, object.image.data(), object.image.size()), static_cast<ssize_t>(object.image.size()));
  close(file);
  FILE* output = popen(format_text("%s --notes %s", LLVM_READELF, path).c_str(), "r");
  ck_assert_ptr_nonnull(output);
  Metadata metadata;
  char line[4096];
  while (std::fgets(line, sizeof line, output)) {
    std::string text = line;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    read_line(text, &metadata);
  }
  ck_assert_int_eq(pclose(output), 0);
  unlink(path);
  return metadata;
}

bool is_amd(const CodeObject& object) { return starts_with(object.arch, "gfx"); }

int number(const Kernel& kernel, const char* key) {
  const auto found = kernel.find(key);
  ck_assert_msg(found != kernel.end(), "the metadata has no %s", key);
  return std::atoi(found->second.c_str());
}

void check_kernel(const char* arch, const Kernel& kernel) {
  const std::string name = kernel.at(".name");
  const int lanes = starts_with(arch, "gfx9") ? 64 : 32;
  const auto say = [&](const char* what, int value) {
    return format_text("%s, kernel %s: %s %d", arch, name.c_str(), what, value);
  };
#define check_number(key, condition)             \
  do {                                           \
    const int value = number(kernel, key);       \
    ck_assert_msg(condition, "%s", say(key, value).c_str()); \
  } while (0)
  check_number(".wavefront_size", value == lanes);
  check_number(".group_segment_fixed_size", value <= kMostShared);
  check_number(".private_segment_fixed_size", value == 0);  // scratch memory
  check_number(".vgpr_spill_count", value == 0);
  check_number(".sgpr_spill_count", value == 0);
  check_number(".vgpr_count", value >= 1 && value <= kMostVectorRegisters);
  check_number(".max_flat_workgroup_size", value >= 64 && value <= 1024 && value % 64 == 0);
#undef check_number
  if (const auto dynamic = kernel.find(".uses_dynamic_stack"); dynamic != kernel.end())
    assert_text_eq(dynamic->second, "false");
}

std::set<std::string> names_of(const Metadata& metadata) {
  std::set<std::string> names;
  for (const Kernel& kernel : metadata.kernels) names.insert(kernel.at(".name"));
  return names;
}

}  // namespace

START_TEST(amd_code_needs_no_scratch) {
  for (const CodeObject& object : embedded_code_objects()) {
    if (!is_amd(object)) continue;
    const Metadata metadata = read_metadata(object);
    assert_text_eq(metadata.target, std::string("amdgcn-amd-amdhsa--") + object.arch);
    ck_assert_uint_ge(metadata.kernels.size(), 1);
    for (const Kernel& kernel : metadata.kernels) check_kernel(object.arch, kernel);
  }
}
END_TEST

START_TEST(all_objects_have_the_same_kernels) {
  std::set<std::string> names;
  for (const CodeObject& object : embedded_code_objects()) {
    if (!is_amd(object)) continue;
    const auto here = names_of(read_metadata(object));
    if (names.empty()) names = here;
    ck_assert_msg(names == here, "%s has other kernels", object.arch);
    ck_assert_msg(names.count("vmafx_self_test") == 1, "%s has no self-test", object.arch);
  }
}
END_TEST

START_TEST(ptx_is_a_text_without_local_memory) {
  for (const CodeObject& object : embedded_code_objects()) {
    if (!starts_with(object.arch, "compute_")) continue;
    const char* text = reinterpret_cast<const char*>(object.image.data());
    ck_assert_int_eq(text[object.image.size()], 0);
    assert_contains(text, ".entry vmafx_self_test");
    ck_assert_msg(std::string(text).find(".local") == std::string::npos, "a kernel uses local memory");
  }
}
END_TEST

int main() {
  if (embedded_code_objects().empty() || LLVM_READELF == std::string("no")) {
    std::puts("skipped: this build has no device code, or there is no llvm-readelf");
    return kSkipped;
  }
  size_t bytes = 0;
  for (const CodeObject& object : embedded_code_objects()) {
    std::printf("%-12s %zu bytes\n", object.arch, object.image.size());
    bytes += object.image.size();
  }
  std::printf("%zu bytes in all\n", bytes);
  return vmafx::test::run_suite("code_objects", {{"amd", amd_code_needs_no_scratch},
                                                 {"names", all_objects_have_the_same_kernels},
                                                 {"ptx", ptx_is_a_text_without_local_memory}});
}
