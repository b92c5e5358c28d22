/* Memory on cache lines and on huge pages. */
#include "base/aligned.h"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <check.h>  // after the streams: it defines a macro fail()

#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

constexpr int kSkipped = 77;  // to automake
constexpr size_t kMiB = size_t{1} << 20;

uintptr_t address(const AlignedBytes& memory) { return reinterpret_cast<uintptr_t>(memory.get()); }

/* Whether the kernel has noted the wish for huge pages there: the flag `hg` of proc(5). */
bool is_advised(uintptr_t address) {
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t from, to;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
      here = from <= address && address < to;
    if (here && line.starts_with("VmFlags:")) return line.find(" hg") != std::string::npos;
  }
  return false;
}

}  // namespace

START_TEST(all_of_it_can_be_written) {
  for (size_t bytes :
       {size_t{0}, size_t{1}, size_t{100}, kMiB - 1, kMiB, 2 * kMiB + 1, 3 * kMiB - 1, 3 * kMiB, 9 * kMiB}) {
    const AlignedBytes memory = allocate_aligned(bytes);
    ck_assert_uint_eq(address(memory) % (bytes < kMiB ? kCacheLine : 2 * kMiB), 0);
    std::memset(memory.get(), 1, bytes);
  }
}
END_TEST

START_TEST(large_memory_asks_for_huge_pages) {
  const bool has_any = std::filesystem::exists("/sys/kernel/mm/transparent_hugepage");
  const AlignedBytes large = allocate_aligned(8 * kMiB + 1), small = allocate_aligned(kMiB / 2);
  for (size_t offset : {size_t{0}, 8 * kMiB - 1}) ck_assert_int_eq(is_advised(address(large) + offset), has_any);
  ck_assert(!is_advised(address(small)));
}
END_TEST

int main() {
  std::vector<vmafx::test::NamedTest> tests = {{"written", all_of_it_can_be_written},
                                               {"huge", large_memory_asks_for_huge_pages}};
  const bool emulated = std::getenv("VMAFX_TEST_QEMU");
  if (emulated) {
    std::puts("skipped: huge: qemu does not pass the wish for huge pages on to the kernel");
    tests.pop_back();
  }
  const int status = vmafx::test::run_suite("aligned", tests);
  return status == 0 && emulated ? kSkipped : status;
}
