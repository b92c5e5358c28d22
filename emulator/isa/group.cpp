#include "emulator/isa/group.h"

#include <algorithm>
#include <cstring>

#include "emulator/isa/instruction.h"
#include "emulator/isa/options.h"
#include "emulator/runtime/report.h"
#include "emulator/runtime/settings.h"

namespace vmafx::emulator::isa {
namespace {

/* Thrown to leave a wave in the middle, where the program goes on after a fault. */
struct Abandoned {};

/* A byte of memory that nobody has written. */
uint8_t garbage() { return static_cast<uint8_t>(0xa5 + 37 * (settings().seed - 1)); }

std::string place(const Instruction& i) { return text("[%06zx: %s]", static_cast<size_t>(i.address), i.text.c_str()); }

template <class T>
void note_each(const Access& access, void (*note)(const Access&)) {
  for (size_t i = 0; i < access.size; i += sizeof(T)) {
    Access part{access.by, access.kind, access.address + i, sizeof(T)};
    note(part);
  }
}

/* The hardware takes any address: an access that is not aligned is checked byte by byte. */
template <void (*note8)(const Access&), void (*note4)(const Access&), void (*note2)(const Access&),
          void (*note1)(const Access&)>
void note_all(const Access& access) {
  const uintptr_t odd = access.address | access.size;
  if (access.size == 4 && odd % 4 == 0) note4(access);
  else if (odd % 8 == 0) note_each<uint64_t>(access, note8);
  else if (odd % 4 == 0) note_each<uint32_t>(access, note4);
  else if (odd % 2 == 0) note_each<uint16_t>(access, note2);
  else note_each<uint8_t>(access, note1);
}

/* A value that the runtime adds to the arguments of a kernel, by the kind that its metadata names. */
uint64_t hidden_value(const std::string& kind, const Launch& launch) {
  const Dim3 g = launch.grid, b = launch.block;
  const auto is = [&](const char* name) { return kind.substr(std::strlen("hidden_")) == name; };
  if (is("block_count_x")) return g.x;
  if (is("block_count_y")) return g.y;
  if (is("block_count_z")) return g.z;
  if (is("group_size_x")) return b.x;
  if (is("group_size_y")) return b.y;
  if (is("group_size_z")) return b.z;
  if (is("grid_dims")) return g.z > 1 ? 3 : g.y > 1 ? 2 : 1;
  return 0;  // no remainders and no offsets; what else there is kernels of ours do not ask for
}

}  // namespace

Group::Group() : architecture_(find_architecture(options().architecture)), local_(kLocalBytes, "wave") {}

/* xorshift64. */
uint64_t Group::random() {
  random_state_ ^= random_state_ << 13;
  random_state_ ^= random_state_ >> 7;
  random_state_ ^= random_state_ << 17;
  return random_state_;
}

void Group::fault(std::string what, const void*) {
  const Instruction* at = running_ ? running_->at : nullptr;
  const std::string where = running_ ? text("wave %u", running_->number) : "all waves";
  if (at) what += text(" [%s: %06zx: %s]", architecture_->name, static_cast<size_t>(at->address), at->text.c_str());
  fail(*launch_, block_number_, where, what);
  throw Abandoned();
}

/* -- Memory -------------------------------------------------------------------------------------------------------- */

bool Group::is_readable(uintptr_t address, unsigned bytes) const {
  const auto is_in = [&](const void* begin, size_t size) {
    const uintptr_t offset = address - reinterpret_cast<uintptr_t>(begin);
    return offset < size && bytes <= size - offset;
  };
  const auto image = kernel_->object->image();
  return is_in(arguments_.data(), arguments_.size()) || is_in(dispatch_, sizeof dispatch_) ||
         is_in(image.data(), image.size());
}

/* A wave of the same block, on the other compute unit, may not see what another one stored until that one has waited
 * for it. If all waves of a block share their first cache, it keeps the order ("Memory Model" in LLVM's User Guide for
 * the AMDGPU backend). */
bool Group::notes_stores() const {
  return wave_count_ > 1 && architecture_->generation >= 10 && kernel_->descriptor.is_on_two_units();
}

void Group::arrive_at_barrier(Wave& wave) {
  if (wave.local.has_write_on_its_way())
    fault("comes to a barrier without having waited for its write to shared memory, " + place(*wave.local.writer));
  const uint64_t done = wave.device.done;
  std::erase_if(late_stores_,
                [&](const auto& late) { return late.second.wave == wave.number && late.second.number <= done; });
  for (const StoredBytes& stored : wave.stored_bytes)
    for (uintptr_t byte = stored.address; stored.number > done && byte < stored.address + stored.size; byte++)
      late_stores_[byte] = {wave.number, stored.number, stored.by};
}

void Group::check_late_stores(uintptr_t address, unsigned bytes) {
  for (uintptr_t byte = address; byte < address + bytes; byte++) {
    const auto late = late_stores_.find(byte);
    if (late == late_stores_.end() || late->second.wave == running_->number) continue;
    fault(text("loads what wave %u stored without having waited for that before the barrier, ", late->second.wave) +
          place(*late->second.by));
  }
}

const uint8_t* Group::load(uintptr_t address, unsigned bytes) {
  const Access access{*this, "load", address, bytes};
  if (!late_stores_.empty()) check_late_stores(address, bytes);
  if (is_device_memory(address))
    note_all<note_load<uint64_t>, note_load<uint32_t>, note_load<uint16_t>, note_load<uint8_t>>(access);
  else if (!is_readable(address, bytes)) access.fault(DeviceMemory::get().describe(address));
  return reinterpret_cast<const uint8_t*>(address);
}

uint8_t* Group::store(uintptr_t address, unsigned bytes) {
  const Access access{*this, "store", address, bytes};
  if (!is_device_memory(address)) access.fault(DeviceMemory::get().describe(address));
  note_all<note_store<uint64_t>, note_store<uint32_t>, note_store<uint16_t>, note_store<uint8_t>>(access);
  if (notes_stores()) running_->stored_bytes.push_back({address, bytes, running_->device.issued, running_->at});
  return reinterpret_cast<uint8_t*>(address);
}

uint64_t* Group::atomic(uintptr_t address) {
  const Access access{*this, "atomic addition", address, sizeof(uint64_t)};
  if (!is_device_memory(address)) access.fault(DeviceMemory::get().describe(address));
  note_atomic_add(access);
  return reinterpret_cast<uint64_t*>(address);
}

void Group::check_local(uint32_t address, unsigned bytes, bool good) {
  if (good) return;
  fault(text("%u bytes at %u of shared memory: %s", bytes, address, local_.problem().c_str()));
}

const uint8_t* Group::load_local(uint32_t address, unsigned bytes) {
  const uint8_t* at = local_bytes_ + address;
  check_local(address, bytes, local_.load(reinterpret_cast<uintptr_t>(at), bytes, running_->number));
  return at;
}

uint8_t* Group::store_local(uint32_t address, unsigned bytes) {
  uint8_t* at = local_bytes_ + address;
  check_local(address, bytes, local_.store(reinterpret_cast<uintptr_t>(at), bytes, running_->number));
  return at;
}

uint32_t* Group::atomic_local(uint32_t address) {
  uint8_t* at = local_bytes_ + address;
  constexpr unsigned kBytes = sizeof(uint32_t);
  if (address % kBytes) fault(text("an atomic addition at %u of shared memory, no multiple of %u", address, kBytes));
  check_local(address, kBytes, local_.atomic(reinterpret_cast<uintptr_t>(at), kBytes));
  return reinterpret_cast<uint32_t*>(at);
}

/* -- The beginning of a block -------------------------------------------------------------------------------------- */

void Group::take_arguments(const Launch& launch) {
  arguments_.assign(std::max<size_t>(kernel_->descriptor.argument_bytes, 8), garbage());
  size_t next = 0;
  for (const Argument& argument : kernel_->metadata.arguments) {
    if (argument.offset + argument.size > arguments_.size())
      die("kernel %s: its arguments have no room", kernel_->name.c_str());
    const uint64_t hidden = argument.is_hidden() ? hidden_value(argument.kind, launch) : 0;
    const void* from = argument.is_hidden() ? &hidden : launch.argument_addresses[next++];
    std::memcpy(&arguments_[argument.offset], from, argument.size);
  }
}

/* The block's size at byte 4, 16 bits each; the grid's at byte 12, in threads. */
void Group::describe_dispatch(const Launch& launch) {
  const Dim3 g = launch.grid, b = launch.block;
  dispatch_[1] = b.x | b.y << 16;
  dispatch_[2] = b.z;
  dispatch_[3] = g.x * b.x;
  dispatch_[4] = g.y * b.y;
  dispatch_[5] = g.z * b.z;
}

/* Gives each lane its place in the block. */
void Group::number_threads(Wave& wave) const {
  const Dim3 size = launch_->block;
  for (unsigned lane = 0; lane < wave.lanes; lane++) {
    const unsigned rank = wave.number * wave.lanes + lane;
    const unsigned id[3] = {rank % size.x, rank / size.x % size.y, rank / size.x / size.y};
    if (architecture_->packs_thread_id()) wave.vector[0].of[lane] = id[0] | id[1] << 10 | id[2] << 20;
    else
      for (int d = 0; d < kernel_->descriptor.thread_id_dimensions(); d++) wave.vector[d].of[lane] = id[d];
  }
}

/* "Initial Kernel Execution State" in LLVM's User Guide: what the descriptor's properties ask for, in this order. */
void Group::set_scalars(Wave& wave) const {
  const Descriptor& d = kernel_->descriptor;
  enum { kScratch = 1, kDispatch = 2, kQueue = 4, kArguments = 8, kDispatchId = 16, kFlatScratch = 32, kSize = 64 };
  unsigned next = 0;
  const auto has = [&](unsigned property) { return (d.properties & property) != 0; };
  if (has(kScratch)) next += 4;
  if (has(kDispatch)) wave.set_pair(next, reinterpret_cast<uint64_t>(dispatch_)), next += 2;
  if (has(kQueue)) next += 2;
  if (has(kArguments)) wave.set_pair(next, reinterpret_cast<uint64_t>(arguments_.data())), next += 2;
  if (has(kDispatchId)) next += 2;
  if (has(kFlatScratch)) next += 2;
  if (has(kSize)) next += 1;
  if (next > d.user_scalars()) die("kernel %s: %u scalars, not %u", kernel_->name.c_str(), next, d.user_scalars());
  next = d.user_scalars();
  const unsigned id[3] = {block_id_.x, block_id_.y, block_id_.z};
  if (architecture_->has_block_id_in_traps()) {
    wave.scalar[kTrap + 9] = id[0];
    wave.scalar[kTrap + 7] = id[1] | id[2] << 16;
  } else {
    for (int dimension = 0; dimension < 3; dimension++)
      if (d.has_block_id(dimension)) wave.scalar[next++] = id[dimension];
  }
}

void Group::begin_wave(Wave& wave) {
  std::memset(wave.scalar, garbage(), sizeof wave.scalar);
  std::memset(wave.vector, garbage(), sizeof wave.vector[0] * kernel_->vector_registers);
  wave.group = this;
  wave.architecture = architecture_;
  wave.lanes = architecture_->lanes();
  wave.next = 0;
  wave.at = nullptr;
  wave.scc = random() & 1;
  wave.stands = wave.is_at_barrier = false;
  wave.executed = {};
  wave.conflict_cycles = 0;
  wave.arrivals.clear();
  wave.recent.begin(*architecture_, options().checks_scalars);
  wave.local = wave.device = {};
  wave.stored_bytes.clear();
  const unsigned threads = std::min(wave.lanes, launch_->threads() - wave.number * wave.lanes);
  wave.set_pair(kExec, threads == 64 ? ~uint64_t{0} : (uint64_t{1} << threads) - 1);
  number_threads(wave);
  set_scalars(wave);
}

/* -- Running it ---------------------------------------------------------------------------------------------------- */

void Group::run(Launch& launch, uint64_t block_number) {
  launch_ = &launch;
  kernel_ = static_cast<const MachineKernel*>(launch.kernel);
  block_number_ = static_cast<uint32_t>(block_number);
  block_id_ = launch.block_id(block_number);
  random_state_ = (settings().seed << 40 ^ uint64_t{launch.number} << 20 ^ block_number) * 0x9e3779b97f4a7c15 | 1;
  local_.begin_block();
  local_bytes_ = static_cast<uint8_t*>(local_.array(kernel_, "LDS", kernel_->descriptor.local_bytes));
  std::memset(local_bytes_, garbage(), kernel_->descriptor.local_bytes);
  late_stores_.clear();
  take_arguments(launch);
  describe_dispatch(launch);
  const unsigned lanes = architecture_->lanes();
  wave_count_ = (launch.threads() + lanes - 1) / lanes;
  while (waves_.size() < wave_count_) waves_.push_back(std::make_unique<Wave>());
  for (unsigned n = 0; n < wave_count_; n++) {
    waves_[n]->number = n;
    begin_wave(*waves_[n]);
  }
  try {
    run_waves();
  } catch (const Abandoned&) {}
  MachineKernel::Counts& counts = *kernel_->counts;
  if (block_number == 0) counts.launches++;
  counts.blocks++;
  counts.waves += wave_count_;
  for (unsigned n = 0; n < wave_count_; n++) {
    for (unsigned unit = 0; unit < kUnits; unit++) counts.executed[unit] += waves_[n]->executed[unit];
    counts.conflict_cycles += waves_[n]->conflict_cycles;
  }
}

/* In turn, in any order with another seed than 1; or each for a few instructions, at random. */
void Group::run_waves() {
  std::vector<Wave*> able;
  for (;;) {
    able.clear();
    for (unsigned n = 0; n < wave_count_; n++)
      if (!waves_[n]->stands) able.push_back(waves_[n].get());
    if (able.empty()) {
      if (!pass_barrier()) return;
    } else if (const uint64_t quantum = options().quantum) {
      run_wave(*able[random() % able.size()], 1 + random() % quantum);
    } else {
      if (settings().seed != 1)
        for (size_t n = able.size(); n > 1; n--) std::swap(able[n - 1], able[random() % n]);
      for (Wave* wave : able) run_wave(*wave, ~uint64_t{0});
    }
  }
}

void Group::run_wave(Wave& wave, uint64_t most) {
  running_ = &wave;
  const Instruction* const code = kernel_->code.data();
  uint64_t n = 0;
  for (; !wave.stands && n < most; n++) {
    const Instruction& i = code[wave.next++];
    wave.at = &i;
    if (!wave.recent.issue(i)) fault(wave.recent.problem());
    __atomic_store_n(&i.has_run, true, __ATOMIC_RELAXED);
    wave.executed[static_cast<unsigned>(i.unit)]++;
    i.run(wave, i);
  }
  running_ = nullptr;
}

/* True: all waves wait at a barrier, and may go on. False: all have ended. */
bool Group::pass_barrier() {
  unsigned waiting = 0;
  for (unsigned n = 0; n < wave_count_; n++) waiting += waves_[n]->is_at_barrier;
  if (waiting == 0) return false;
  if (waiting < wave_count_)
    fault(text("barrier with %u of %u waves; the others have ended before", waiting, wave_count_));
  for (unsigned n = 0; n < wave_count_; n++) waves_[n]->is_at_barrier = waves_[n]->stands = false;
  local_.begin_interval();
  return true;
}

}  // namespace vmafx::emulator::isa
