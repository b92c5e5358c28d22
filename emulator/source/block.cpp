#include "emulator/source/block.h"

#include <algorithm>
#include <cstring>

#include "emulator/runtime/report.h"
#include "emulator/runtime/settings.h"
#include "emulator/runtime/system/code_place.h"

namespace vmafx::emulator {

constinit thread_local Worker* worker [[gnu::tls_model("initial-exec")]] = nullptr;

std::string describe_code(const void* code) {
  if (!code) return "";
  const CodePlace place = find_code(code);
  return place.library.empty() ? "" : text(" [%s+0x%zx]", place.library.c_str(), place.offset);
}

/* -- Between the threads of the kernel ----------------------------------------------------------------------------- */

Worker::Worker() : lanes_per_wave_(settings().lanes), shared_(kSharedBytes, "thread") {}

void Worker::run(Launch& launch, uint64_t block_number) {
  const FibreHost host;
  launch_ = &launch;
  block_number_ = static_cast<uint32_t>(block_number);
  block_id_ = launch.block_id(block_number);
  shared_.begin_block();
  const unsigned threads = launch.threads(), lanes = lanes_per_wave_;
  lanes_.assign(threads, {State::kNew, nullptr});
  if (std::memcmp(&block_size_, &launch.block, sizeof block_size_)) number_threads(launch.block);
  do {
    for (unsigned begin = 0; begin < threads; begin += lanes) run_wave(begin, std::min(begin + lanes, threads));
  } while (pass_barrier());
  if (abandoned_) fibres_.clear(), idle_.clear();  // they stand somewhere inside the kernel
  abandoned_ = false;
}

void Worker::number_threads(Dim3 size) {
  block_size_ = size;
  thread_ids_.clear();
  for (unsigned z = 0; z < size.z; z++)
    for (unsigned y = 0; y < size.y; y++)
      for (unsigned x = 0; x < size.x; x++) thread_ids_.push_back({x, y, z});
}

void Worker::run_wave(unsigned begin, unsigned end) {
  wave_end_ = end;
  do {
    for (unsigned rank = begin; rank < end && !abandoned_; rank++)
      if (lanes_[rank].state <= State::kReady) resume(rank);
  } while (pass_shuffle(begin, end));
}

/* Runs the thread until it waits or ends, and then those behind it in the wave. */
void Worker::resume(unsigned rank) {
  enter(rank);
  worker = this;
  switch_context(scheduler_, running_->context());
  worker = nullptr;
}

/* Makes the thread the running one; its fibre is to be switched to. */
void Worker::enter(unsigned rank) {
  const Lane& lane = lanes_[rank];
  running_ = lane.state == State::kNew ? take_fibre() : lane.fibre;
  rank_ = rank;
}

Fibre* Worker::take_fibre() {
  if (idle_.empty()) {
    fibres_.push_back(std::make_unique<Fibre>(fibres_.size()));
    fibres_.back()->restart(fibre_main);
    return fibres_.back().get();
  }
  Fibre* fibre = idle_.back();
  idle_.pop_back();
  return fibre;
}

unsigned Worker::count(State state, unsigned begin, unsigned end) const {
  return std::count_if(&lanes_[begin], &lanes_[0] + end, [&](const Lane& lane) { return lane.state == state; });
}

unsigned Worker::first_not(State state, unsigned begin) const {
  while (lanes_[begin].state == state) begin++;
  return begin;
}

/* True: all lanes of the wave wait at a shuffle, and may go on. */
bool Worker::pass_shuffle(unsigned begin, unsigned end) {
  if (abandoned_) return false;
  const unsigned waiting = count(State::kAtShuffle, begin, end), lanes = lanes_per_wave_;
  if (waiting == 0) return false;
  if (waiting < lanes) {
    if (waiting < end - begin) rank_ = first_not(State::kAtShuffle, begin);
    abandon(end - begin < lanes
                ? text("shuffle in a wave of %u threads; blocks must be whole waves of %u", end - begin, lanes)
                : text("shuffle with %u of %u lanes; every lane of the wave must come to it, and this one does not",
                       waiting, lanes));
    return false;
  }
  for (unsigned rank = begin; rank < end; rank++) lanes_[rank].state = State::kReady;
  phase_ ^= 1;
  return true;
}

/* True: all threads of the block wait at a barrier, and may go on. */
bool Worker::pass_barrier() {
  if (abandoned_) return false;
  const unsigned threads = launch_->threads(), waiting = count(State::kAtBarrier, 0, threads);
  if (waiting == 0) return false;
  if (waiting < threads) {
    rank_ = first_not(State::kAtBarrier, 0);
    abandon(text("block_sync() with %u of %u threads; this one left the kernel before", waiting, threads));
    return false;
  }
  for (Lane& lane : lanes_) lane.state = State::kReady;
  shared_.begin_interval();
  return true;
}

void Worker::abandon(const std::string& what) {
  const Dim3 t = thread_id();
  abandoned_ = true;
  fail(*launch_, block_number_, text("thread (%u, %u, %u)", t.x, t.y, t.z), what);
}

/* -- On a fibre: these run as a thread of the kernel --------------------------------------------------------------- */

/* Thread-local variables of the host are read here only: a fibre may go on in another thread of the host, which the
 * compiler does not expect. */
void Worker::fibre_main() {
  Worker& self = *worker;
  for (;;) {
    self.run_lanes();
    self.idle_.push_back(self.running_);
    switch_context(self.running_->context(), self.scheduler_);
  }
}

void Worker::run_lanes() {
  for (;;) {
    static_cast<const SourceKernel*>(launch_->kernel)->call(launch_->argument_addresses.data());
    lanes_[rank_].state = State::kDone;
    if (rank_ + 1 == wave_end_ || lanes_[rank_ + 1].state != State::kNew) return;
    rank_++;
  }
}

/* The next thread of the wave continues, if it can: one switch instead of two. */
void Worker::suspend(State state) {
  Fibre* from = running_;
  lanes_[rank_] = {state, from};
  const unsigned next = rank_ + 1;
  if (next < wave_end_ && lanes_[next].state <= State::kReady) {
    enter(next);
    switch_context(from->context(), running_->context());
  } else {
    switch_context(from->context(), scheduler_);
  }
}

void Worker::wait_for_block() { suspend(State::kAtBarrier); }

uint64_t Worker::exchange(uint64_t value, unsigned mask) {
  if (mask >= lanes_per_wave_) fault(text("shuffle with mask %u in waves of %u lanes", mask, lanes_per_wave_));
  const unsigned row = phase_, from = lane() ^ mask;
  posted_[row][lane()] = value;
  suspend(State::kAtShuffle);
  return posted_[row][from];
}

void Worker::fault(std::string what, const void* code) {
  worker = nullptr;
  abandon(std::move(what) + describe_code(code));
  switch_context(running_->context(), scheduler_);
  __builtin_unreachable();
}

}  // namespace vmafx::emulator

/* -- The language, as gpu_host.h declares it ----------------------------------------------------------------------- */

namespace vmafx::gpu {

using emulator::worker;

Dim3 thread_id() { return worker->thread_id(); }
Dim3 block_id() { return worker->block_id(); }
Dim3 block_size() { return worker->launch().block; }
Dim3 grid_size() { return worker->launch().grid; }
unsigned wave_size() { return worker->wave_size(); }
unsigned lane_id() { return worker->lane(); }
void block_sync() { worker->wait_for_block(); }
uint32_t shuffle_xor(uint32_t value, unsigned mask) { return static_cast<uint32_t>(worker->exchange(value, mask)); }
uint64_t shuffle_xor(uint64_t value, unsigned mask) { return worker->exchange(value, mask); }

void check_alignment(const void* address, size_t alignment) {
  if (reinterpret_cast<uintptr_t>(address) % alignment)
    worker->fault(emulator::text("%zu bytes at once at %p, which is not a multiple of that", alignment, address),
                  __builtin_return_address(0));
}

void* host::shared_array(const void* key, const char* name, size_t size) {
  void* array = worker->shared().array(key, name, size);
  if (!array)
    worker->fault(emulator::text("shared array %s of %zu bytes: with it the block needs more than %zu bytes", name,
                                 size, emulator::kSharedBytes));
  return array;
}

}  // namespace vmafx::gpu
