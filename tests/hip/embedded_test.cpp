/* Code objects in the library: each is the file that the device compiler wrote, byte by byte. */
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "hip/code_objects.h"
#include "tests/support/check_main.h"
#include "tests/support/paths.h"

using namespace vmafx::hip;

namespace {

/* "gfx1100" of "device_code/gfx1100.co". */
std::string arch_of(const std::string& file) {
  const size_t begin = file.find('/') + 1;
  return file.substr(begin, file.find('.') - begin);
}

std::string content_of(const std::string& file) {
  std::ifstream stream(TOP_BUILDDIR "/" + file, std::ios::binary);
  ck_assert_msg(stream.good(), "%s cannot be read", file.c_str());
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

START_TEST(objects_are_the_compilers_files) {
  const auto objects = embedded_code_objects();
  size_t count = 0;
  std::istringstream files(CODE_OBJECTS);
  for (std::string file; files >> file; count++) {
    const auto found = std::ranges::find(objects, arch_of(file), &CodeObject::arch);
    ck_assert_msg(found != objects.end(), "%s is not in the library", file.c_str());
    const std::string wanted = content_of(file);
    ck_assert_msg(!wanted.empty(), "%s is empty", file.c_str());
    ck_assert_uint_eq(found->image.size(), wanted.size());
    ck_assert_msg(std::memcmp(found->image.data(), wanted.data(), wanted.size()) == 0, "%s differs", file.c_str());
  }
  ck_assert_uint_eq(count, objects.size());
}
END_TEST

int main() { return vmafx::test::run_suite("embedded", {{"files", objects_are_the_compilers_files}}); }
