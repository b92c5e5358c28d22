/* ROCm's own code object manager, comgr, asked whether it accepts the embedded code objects: the HIP runtime asks it
 * before it loads one. Debian has it as libamd-comgr2 (12: ROCm 5.2.3, which is what needs version 4; 13: 6.0), and no
 * GPU is needed. Each release of it knows the architectures of its time. */
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "hip/code_objects.h"
#include "tests/support/check_main.h"

using namespace vmafx::hip;
using namespace vmafx::test;

namespace {

constexpr int kSkipped = 77;     // to automake
constexpr int kSuccess = 0;      // AMD_COMGR_STATUS_SUCCESS
constexpr int kNoFunction = -1;  // none of comgr's
constexpr int kExecutable = 8;   // AMD_COMGR_DATA_KIND_EXECUTABLE

void* library = nullptr;

/* amd_comgr_data_t and amd_comgr_metadata_node_t of amd_comgr.h */
struct Handle {
  uint64_t value = 0;
};

/* Calls amd_comgr_`name`; the types are those of amd_comgr.h, all as in C. */
template <class... Arguments>
int comgr(const char* name, Arguments... arguments) {
  const std::string symbol = std::string("amd_comgr_") + name;
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, symbol.c_str()));
  return function ? function(arguments...) : kNoFunction;
}

/* "amdgcn-amd-amdhsa--gfx90a" and others. */
std::set<std::string> known_architectures() {
  std::set<std::string> known;
  size_t count = 0;
  if (comgr("get_isa_count", &count) != kSuccess) return known;
  for (size_t i = 0; i < count; i++)
    if (const char* name = nullptr; comgr("get_isa_name", i, &name) == kSuccess) known.insert(name);
  return known;
}

std::string full_name(const CodeObject& object) { return std::string("amdgcn-amd-amdhsa--") + object.arch; }

/* The code objects of architectures that this comgr knows. */
std::vector<CodeObject> known_objects() {
  const auto known = known_architectures();
  std::vector<CodeObject> objects;
  for (const CodeObject& object : embedded_code_objects())
    if (known.count(full_name(object))) objects.push_back(object);
  return objects;
}

/* The name of the architecture that comgr finds in the object; empty when it refuses the object. */
std::string read_architecture(const CodeObject& object) {
  Handle data;
  ck_assert_int_eq(comgr("create_data", kExecutable, &data), kSuccess);
  ck_assert_int_eq(comgr("set_data", data, object.image.size(), reinterpret_cast<const char*>(object.image.data())),
                   kSuccess);
  size_t size = 0;
  std::string name;
  if (comgr("get_data_isa_name", data, &size, static_cast<char*>(nullptr)) == kSuccess) {
    name.resize(size);
    ck_assert_int_eq(comgr("get_data_isa_name", data, &size, name.data()), kSuccess);
    name.resize(size - 1);  // its 0
  }
  ck_assert_int_eq(comgr("release_data", data), kSuccess);
  return name;
}

}  // namespace

START_TEST(accepts_all_that_it_knows) {
  for (const CodeObject& object : known_objects()) assert_text_eq(read_architecture(object), full_name(object));
}
END_TEST

int main() {
  for (const char* name : {"libamd_comgr.so.2", "libamd_comgr.so.3"})
    if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::puts("skipped: ROCm's code object manager is not here (Debian: libamd-comgr2)");
    return kSkipped;
  }
  if (known_objects().empty()) {
    std::puts("skipped: this comgr knows none of the architectures that are embedded");
    return kSkipped;
  }
  return run_suite("comgr", {{"accepts", accepts_all_that_it_knows}});
}
