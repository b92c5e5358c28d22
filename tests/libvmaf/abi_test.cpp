/* The binary interface of our libvmaf.so.3 against libvmaf's, which abi.txt has recorded from its headers
 * (`tests/libvmaf/run --record` writes it anew, and checks it): names, values, layouts, the types of functions, and
 * what the library exports. */
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <type_traits>

#include "compat/libvmaf/abi.h"
#include "tests/support/check_main.h"
#include "tests/support/paths.h"

using namespace vmafx::test;

namespace {

#define STRUCT(type) std::fprintf(out, "struct " #type " %zu\n", sizeof(type));
#define FIELD(type, field) \
  std::fprintf(out, "  " #field " %zu %zu\n", offsetof(type, field), sizeof(((static_cast<type*>(nullptr))->field)));
#define VALUE(name) std::fprintf(out, "value " #name " %d\n", static_cast<int>(name));
#define FUNCTION(name, result, parameters)                              \
  static_assert(std::is_same_v<decltype(&name), result(*) parameters>); \
  std::fprintf(out, "function " #name "\n");

std::string facts() {
  char* text = nullptr;
  size_t size = 0;
  FILE* const out = open_memstream(&text, &size);
  ck_assert_ptr_nonnull(out);
#include "facts.inc"
  std::fclose(out);
  const std::string facts(text, size);
  std::free(text);
  return facts;
}

/* The lines of a command's output. */
std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  ck_assert_ptr_nonnull(pipe);
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  ck_assert_int_eq(pclose(pipe), 0);
  return text;
}

}  // namespace

START_TEST(our_header_is_as_recorded) {
  std::ostringstream recorded;
  recorded << std::ifstream(TOP_SRCDIR "/tests/libvmaf/abi.txt").rdbuf();
  assert_text_eq(facts(), recorded.str());
}
END_TEST

/* What libvmaf's headers declare after the recorded release. */
constexpr const char* kLater =
    "vmaf_picture_convert vmaf_picture_convert_context_close vmaf_picture_convert_context_init vmaf_picture_wrap";

/* The library exports the recorded functions and the later ones, all without a version, and nothing else. */
START_TEST(exports_are_as_recorded) {
  const std::string recorded =
      output_of(std::string("(sed -n 's/^function //p' " TOP_SRCDIR "/tests/libvmaf/abi.txt; printf '%s\\n' ") +
                kLater + ") | LC_ALL=C sort");
  assert_contains(recorded, "vmaf_read_pictures\n");
  assert_text_eq(
      output_of("nm -D --defined-only --with-symbol-versions " LIBVMAF " | awk '{print $3}' | LC_ALL=C sort"),
      recorded);
}
END_TEST

START_TEST(the_name_is_libvmafs) {
  assert_text_eq(output_of("readelf -d " LIBVMAF " | sed -n 's/.*soname: \\[\\(.*\\)\\].*/\\1/p'"), "libvmaf.so.3\n");
  assert_contains(output_of("readlink -f " LIBVMAF), "/libvmaf.so.3.2.0\n");
}
END_TEST

int main() {
  return run_suite(
      "libvmaf_abi",
      {{"header", our_header_is_as_recorded}, {"exports", exports_are_as_recorded}, {"name", the_name_is_libvmafs}});
}
