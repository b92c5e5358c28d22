/* Running one block of a kernel: its waves take turns, from barrier to barrier. */
#ifndef VMAFX_EMULATOR_ISA_GROUP_H
#define VMAFX_EMULATOR_ISA_GROUP_H

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/isa/code_object.h"
#include "emulator/isa/wave.h"
#include "emulator/runtime/device_access.h"
#include "emulator/runtime/launch.h"
#include "emulator/runtime/shared.h"

namespace vmafx::emulator::isa {

inline constexpr size_t kLocalBytes = 64 << 10;

class Group final : public BlockRunner, public Accessor {
 public:
  Group();

  void run(Launch& launch, uint64_t block_number) override;

  uint32_t block_number() const override { return block_number_; }
  /* The running wave did wrong. */
  [[noreturn]] void fault(std::string what, const void* code = nullptr) override;

  /* The memory of `bytes` that a lane loads or stores; an access that is not allowed is a fault. */
  const uint8_t* load(uintptr_t address, unsigned bytes);
  uint8_t* store(uintptr_t address, unsigned bytes);
  uint64_t* atomic(uintptr_t address);
  /* The block's own memory, in which addresses count from 0. */
  const uint8_t* load_local(uint32_t address, unsigned bytes);
  uint8_t* store_local(uint32_t address, unsigned bytes);
  uint32_t* atomic_local(uint32_t address);

  uint64_t random();

  /* Checks that the wave's writes to shared memory have arrived there. */
  void arrive_at_barrier(Wave& wave);

 private:
  void take_arguments(const Launch& launch);
  void describe_dispatch(const Launch& launch);
  void begin_wave(Wave& wave);
  void set_scalars(Wave& wave) const;
  void number_threads(Wave& wave) const;
  void run_waves();
  void run_wave(Wave& wave, uint64_t most);
  bool pass_barrier();
  void check_local(uint32_t address, unsigned bytes, bool good);
  bool is_readable(uintptr_t address, unsigned bytes) const;
  bool notes_stores() const;
  void check_late_stores(uintptr_t address, unsigned bytes);

  const Architecture* architecture_ = nullptr;
  Launch* launch_ = nullptr;
  const MachineKernel* kernel_ = nullptr;
  uint32_t block_number_ = 0;
  Dim3 block_id_{};
  std::vector<uint8_t> arguments_;  // the kernel's segment
  uint32_t dispatch_[16] = {};      // hsa_kernel_dispatch_packet_t, as much as kernels read
  std::vector<std::unique_ptr<Wave>> waves_;
  unsigned wave_count_ = 0;
  Wave* running_ = nullptr;
  struct LateStore {
    unsigned wave;
    uint64_t number;
    const Instruction* by;
  };
  std::unordered_map<uintptr_t, LateStore> late_stores_;  // by bytes: those that were on their way at a barrier
  SharedMemory local_;
  uint8_t* local_bytes_ = nullptr;
  uint64_t random_state_ = 1;
};

}  // namespace vmafx::emulator::isa

#endif
