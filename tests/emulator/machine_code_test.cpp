/* The kernels of faulty.hip as machine code of AMD's GPUs, with waves of 32 and of 64 lanes: the right ones run right,
 * the wrong ones are stopped by name, and where barriers or waits are taken out of a right one, that shows. */
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/emulator/blur.h"

using namespace vmafx::test;

namespace {

constexpr int kSkipped = 77;  // to automake

struct Machine {
  std::string architecture, code;

  bool has_64_lanes() const { return architecture.starts_with("gfx9"); }
};

/* The machines that this build compiles for. */
const std::vector<Machine>& machines() {
  static const std::vector<Machine> all = [] {
    std::vector<Machine> found;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(FAULTY_OBJECTS, none)) {
      if (entry.path().extension() != ".co") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      found.push_back({entry.path().stem(), {std::istreambuf_iterator<char>(file), {}}});
    }
    return found;
  }();
  return all;
}

void use(const Machine& machine) {
  tested = {MACHINE_CODE_LIBRARY, machine.code};
  setenv("VMAFX_HIP_EMULATOR_ARCH", machine.architecture.c_str(), 1);
}

/* In another order of waves and blocks, interrupted after a few instructions, with loads that come as late as they
 * may. */
const Variables kHard = {{"SEED", "7"}, {"QUANTUM", "9"}, {"LATE", "1"}};

void run_simple(const char* kernel, unsigned blocks, unsigned threads = 64) {
  Session hip;
  hip.launch(kernel, blocks, threads, hip.zeros<uint64_t>(256));
  hip.wait();
}

void sum_256(const char* kernel, bool is_right) {
  int64_t want = 0;
  for (const int32_t n : numbers()) want += n;
  Session hip;
  auto* sum = hip.zeros<uint64_t>(1);
  hip.launch(kernel, 1, 256, hip.uploaded(numbers()), sum);
  Hip::expect((hip.downloaded<int64_t>(sum, 1)[0] == want) == is_right, is_right ? "wrong sum" : "right sum");
}

/* -- Changed code -------------------------------------------------------------------------------------------------- */

/* s_barrier, of gfx12 s_barrier_wait. */
uint32_t barrier_of(const Machine& machine) {
  if (machine.architecture.starts_with("gfx12")) return 0xbf94ffff;
  return machine.architecture.starts_with("gfx11") ? 0xbfbd0000 : 0xbf8a0000;
}

constexpr uint32_t kNop = 0xbf800000;  // s_nop 0

/* Has another word wherever `from` is; or only where `before` follows, with at most two words between. */
Machine replaced(Machine machine, uint32_t from, uint32_t to, uint32_t before = 0) {
  std::vector<uint32_t> words(machine.code.size() / sizeof(uint32_t));
  std::memcpy(words.data(), machine.code.data(), words.size() * sizeof(uint32_t));
  int changed = 0;
  for (size_t n = 0; n + 3 < words.size(); n++) {
    const auto next = words.begin() + static_cast<ptrdiff_t>(n) + 1;
    if (words[n] != from || (before && std::find(next, next + 3, before) == next + 3)) continue;
    words[n] = to;
    changed++;
  }
  ck_assert_msg(changed > 0, "%s: no word %08x", machine.architecture.c_str(), from);
  std::memcpy(machine.code.data(), words.data(), words.size() * sizeof(uint32_t));
  return machine;
}

Machine without_barriers(const Machine& machine) { return replaced(machine, barrier_of(machine), kNop); }

/* s_waitcnt lgkmcnt(0), s_wait_dscnt 0 before barriers. */
Machine without_waits_for_shared_memory(const Machine& machine) {
  const bool is_gfx12 = machine.architecture.starts_with("gfx12"), is_gfx11 = machine.architecture.starts_with("gfx11");
  constexpr uint32_t kSignal = 0xbe804ec1;
  return replaced(machine,
                  is_gfx12   ? 0xbfc60000
                  : is_gfx11 ? 0xbf89fc07
                             : 0xbf8cc07f,
                  kNop, is_gfx12 ? kSignal : barrier_of(machine));
}

/* s_waitcnt_vscnt null, 0 or s_wait_storecnt 0. */
Machine without_waits_for_stores(const Machine& machine) {
  const bool is_gfx12 = machine.architecture.starts_with("gfx12"), is_gfx11 = machine.architecture.starts_with("gfx11");
  return replaced(machine, is_gfx12 ? 0xbfc10000 : is_gfx11 ? 0xbc7c0000 : 0xbbfd0000, kNop);
}

void exchange() {
  Session hip;
  auto* out = static_cast<int32_t*>(hip.device(256 * 4));
  hip.launch("test_exchange", 1, 256, out);
  Hip::expect(hip.downloaded<int32_t>(out, 256)[3] == 131, "wrong number");
}

}  // namespace

START_TEST(right_kernels_run_right) {
  for (const Machine& machine : machines()) {
    use(machine);
    for (const Variables& variables : {Variables{}, kHard}) {
      expect_good(variables, [] { check_blur(33, 9); });
      expect_good(variables, [] { check_blur(64, 64); });
      expect_good(variables, [] { sum_256("test_sum", true); });
    }
  }
}
END_TEST

START_TEST(accesses_beyond_memory_are_caught) {
  for (const Machine& machine : machines()) {
    use(machine);
    const char* name = machine.architecture.c_str();
    expect_stop({}, {"kernel test_copy", "load", "past the end of allocation #1 (256 bytes)", name, "global_load"}, [] {
      Session hip;
      copy_64(hip, hip.uploaded(std::vector<int32_t>(64)), 1);
    });
    expect_stop({}, {"kernel test_copy", "store", "past the end of allocation #2 (252 bytes)", name, "global_store"},
                [] {
                  Session hip;
                  hip.launch("test_copy", 1, 64, CopyArgs{hip.uploaded(std::vector<int32_t>(64)), hip.device(252), 0});
                  hip.wait();
                });
    expect_stop({}, {"kernel test_copy", "never written, at byte 0 of allocation #1"}, [] {
      Session hip;
      copy_64(hip, hip.device(256), 0);
    });
    expect_stop({}, {"kernel test_copy", "in pinned memory of the host"}, [] {
      Session hip;
      copy_64(hip, hip.host<int32_t>(64), 0);
    });
    expect_stop({}, {"kernel test_copy_pointers", "argument 0", "not a device pointer"}, [] {
      Session hip;
      hip.launch("test_copy_pointers", 1, 64, numbers().data(), hip.device(256));
    });
  }
}
END_TEST

START_TEST(wrong_use_of_shared_memory_is_caught) {
  for (const Machine& machine : machines()) {
    use(machine);
    expect_stop({}, {"kernel test_unwritten_shared", "which no wave has written"},
                [] { run_simple("test_unwritten_shared", 1); });
    expect_stop({}, {"kernel test_past_shared", "store outside any shared array"},
                [] { run_simple("test_past_shared", 1); });
    const auto overwrites = [] { run_simple("test_overwritten_too_early", 1); };
    if (machine.has_64_lanes()) expect_good({}, overwrites);  // one wave, whose lanes go in step
    else
      expect_stop({}, {"kernel test_overwritten_too_early", "race: ", "there is no block_sync() between them"},
                  overwrites);
  }
}
END_TEST

START_TEST(order_among_blocks_is_caught) {
  for (const Machine& machine : machines()) {
    use(machine);
    expect_stop({}, {"kernel test_blocks_in_order", "race: block 0 of the same launch wrote there"},
                [] { run_simple("test_blocks_in_order", 4); });
    expect_stop({}, {"kernel test_sum_without_atomic", "store", "of the same launch wrote there"},
                [] { run_simple("test_sum_without_atomic", 4); });
  }
}
END_TEST

START_TEST(assumption_of_32_lanes_shows) {
  for (const Machine& machine : machines()) {
    use(machine);
    expect_good({}, [&] { sum_256("test_32_lanes", !machine.has_64_lanes()); });
  }
}
END_TEST

START_TEST(missing_barrier_is_caught) {
  for (const Machine& machine : machines()) {
    use(without_barriers(machine));
    for (const Variables& variables : {Variables{}, kHard})
      expect_stop(variables, {"kernel test_blur", "of shared memory: "}, [] { check_blur(64, 64); });
  }
}
END_TEST

START_TEST(missing_wait_before_a_barrier_is_caught) {
  for (const Machine& machine : machines()) {
    use(without_waits_for_shared_memory(machine));
    for (const Variables& variables : {Variables{}, kHard})
      expect_stop(variables, {"kernel test_blur", "without having waited for its write to shared memory", "_barrier"},
                  [] { check_blur(64, 64); });
  }
}
END_TEST

/* On gfx9 the waves of a block share a cache, and the compiler waits for no store. */
START_TEST(missing_wait_for_a_store_is_caught) {
  for (const Machine& machine : machines()) {
    use(machine);
    expect_good({}, exchange);
    expect_good(kHard, exchange);
    if (machine.has_64_lanes()) continue;
    use(without_waits_for_stores(machine));
    for (const Variables& variables : {Variables{}, kHard})
      expect_stop(
          variables,
          {"kernel test_exchange", "without having waited for that before the barrier", "global_load", "global_store"},
          exchange);
  }
}
END_TEST

/* One wait state fewer than the compiler has put between two instructions. */
START_TEST(missing_wait_states_are_caught) {
  for (const Machine& machine : machines()) {
    const bool is_gfx942 = machine.architecture == "gfx942";
    if (!is_gfx942 && !machine.architecture.starts_with("gfx110")) continue;
    constexpr uint32_t kNop2 = kNop + 1, kWaitForVectors = 0xbf880fff;
    use(is_gfx942 ? replaced(machine, kNop2, kNop) : replaced(machine, kWaitForVectors, kNop));
    const char* what = is_gfx942 ? "of 2 wait states after" : "of 6 wait states after";
    expect_stop({}, {"kernel test_blur", "comes too soon", what, "missing", machine.architecture.c_str()},
                [] { check_blur(64, 64); });
  }
}
END_TEST

/* Each wait lets one load too many stay on its way. */
START_TEST(missing_wait_shows) {
  for (const Machine& machine : machines()) {
    use(machine);
    const Outcome outcome = run({{"LATE", "2"}}, [] { check_blur(64, 64); });
    ck_assert_msg(!outcome.is_good(), "%s: right without waits", machine.architecture.c_str());
  }
}
END_TEST

START_TEST(other_architectures_are_refused) {
  for (const Machine& machine : machines()) {
    use(machine);
    setenv("VMAFX_HIP_EMULATOR_ARCH", machine.has_64_lanes() ? "gfx1030" : "gfx906", 1);
    expect_good({}, [] {
      Hip hip;
      void* module = nullptr;
      Hip::expect(hip.call("hipModuleLoadData", &module, hip.image()) == kInvalidImage, "it was loaded");
    });
    setenv("VMAFX_HIP_EMULATOR_ARCH", "gfx1", 1);
    expect_stop({}, {"VMAFX_HIP_EMULATOR_ARCH=gfx1", "gfx906, gfx908"}, [] {
      int count = 0;
      Hip().call("hipDeviceTotalMem", &count, 0);
      Session hip;
    });
  }
}
END_TEST

START_TEST(missing_disassembler_is_told) {
  use(machines().front());
  expect_stop({}, {"llvm-objdump-19", "install the package llvm-19"}, [] {
    setenv("PATH", "/nowhere", 1);
    Session hip;
  });
}
END_TEST

int main() {
  if (machines().empty()) {
    std::puts("skipped: this build has no machine code of AMD's GPUs");
    return kSkipped;
  }
  if (std::system(
          "command -v llvm-objdump-19 llvm-objdump-20 llvm-objdump-21 llvm-objdump-22 llvm-objdump >/dev/null")) {
    std::puts("skipped: llvm-objdump, which decodes machine code, is not installed (package llvm-19)");
    return kSkipped;
  }
  return run_suite("machine_code",
                   {{"right_kernels_run_right", right_kernels_run_right},
                    {"accesses_beyond_memory_are_caught", accesses_beyond_memory_are_caught},
                    {"wrong_use_of_shared_memory_is_caught", wrong_use_of_shared_memory_is_caught},
                    {"order_among_blocks_is_caught", order_among_blocks_is_caught},
                    {"assumption_of_32_lanes_shows", assumption_of_32_lanes_shows},
                    {"missing_barrier_is_caught", missing_barrier_is_caught},
                    {"missing_wait_before_a_barrier_is_caught", missing_wait_before_a_barrier_is_caught},
                    {"missing_wait_for_a_store_is_caught", missing_wait_for_a_store_is_caught},
                    {"missing_wait_states_are_caught", missing_wait_states_are_caught},
                    {"missing_wait_shows", missing_wait_shows},
                    {"other_architectures_are_refused", other_architectures_are_refused},
                    {"missing_disassembler_is_told", missing_disassembler_is_told}});
}
