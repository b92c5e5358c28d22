/* Running one block of a kernel: its threads take turns as fibres, from barrier to barrier. A thread that meets no
 * barrier and no shuffle costs no switch: the next one follows it on the same stack. */
#ifndef VMAFX_EMULATOR_SOURCE_BLOCK_H
#define VMAFX_EMULATOR_SOURCE_BLOCK_H

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/runtime/device_access.h"
#include "emulator/runtime/launch.h"
#include "emulator/runtime/shared.h"
#include "emulator/source/fibre.h"

namespace vmafx::emulator {

inline constexpr size_t kSharedBytes = 48 << 10;  // NVIDIA's limit for arrays of fixed size; AMD has 64 KiB

/* A kernel of the library's own. */
struct SourceKernel : Kernel {
  void (*call)(void* const* arguments) = nullptr;  // the address of each
};

/* Runs blocks on one thread of the host, one after the other. */
class Worker final : public BlockRunner, public Accessor {
 public:
  Worker();

  void run(Launch& launch, uint64_t block_number) override;

  /* The state of the thread that runs now. */
  const Launch& launch() const { return *launch_; }
  uint32_t block_number() const override { return block_number_; }
  unsigned rank() const { return rank_; }
  unsigned lane() const { return rank_ % lanes_per_wave_; }
  unsigned wave_size() const { return lanes_per_wave_; }
  Dim3 thread_id() const { return thread_ids_[rank_]; }
  Dim3 block_id() const { return block_id_; }
  SharedMemory& shared() { return shared_; }
  bool is_on_stack(uintptr_t address) const { return running_->is_on_stack(address); }

  void wait_for_block();
  uint64_t exchange(uint64_t value, unsigned mask);

  /* The running thread did wrong: says what and where, and ends the program or else the launch. */
  [[noreturn]] void fault(std::string what, const void* code = nullptr) override;

 private:
  enum class State : uint8_t { kNew, kReady, kAtShuffle, kAtBarrier, kDone };
  struct Lane {
    State state;
    Fibre* fibre;
  };

  static void fibre_main();
  void run_lanes();
  void resume(unsigned rank);
  void suspend(State state);
  void enter(unsigned rank);
  void number_threads(Dim3 size);
  void run_wave(unsigned begin, unsigned end);
  bool pass_shuffle(unsigned begin, unsigned end);
  bool pass_barrier();
  unsigned count(State state, unsigned begin, unsigned end) const;
  unsigned first_not(State state, unsigned begin) const;
  Fibre* take_fibre();
  void abandon(const std::string& what);

  const unsigned lanes_per_wave_;
  Launch* launch_ = nullptr;
  uint32_t block_number_ = 0;
  Dim3 block_id_{};
  unsigned rank_ = 0;  // the running thread's, in its block
  Dim3 block_size_{};
  std::vector<Dim3> thread_ids_;  // by rank, in blocks of that size

  Context scheduler_;
  Fibre* running_ = nullptr;
  bool abandoned_ = false;
  unsigned wave_end_ = 0;  // the rank behind the running wave
  std::vector<Lane> lanes_;
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<Fibre*> idle_;

  unsigned phase_ = 0;  // shuffles alternate between two rows of posted values
  std::array<std::array<uint64_t, 64>, 2> posted_{};
  SharedMemory shared_;
};

/* The worker of this thread of the host while the threads of a block run on it, else nullptr. Initial-exec, constinit:
 * one load, no call. */
extern constinit thread_local Worker* worker [[gnu::tls_model("initial-exec")]];

/* The place of code, for addr2line: "libvmafx_hip_emulator.so+0x1234". */
std::string describe_code(const void* code);

}  // namespace vmafx::emulator

#endif
