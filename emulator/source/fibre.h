/* Threads of control that take turns on one thread of the host: the threads of a block. */
#ifndef VMAFX_EMULATOR_SOURCE_FIBRE_H
#define VMAFX_EMULATOR_SOURCE_FIBRE_H

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace vmafx::emulator {

/* The state of a thread of control while it does not run. */
struct Context {
#if defined(__x86_64__)
  void* state = nullptr;  // its stack pointer; on Windows the system's fibre
#else
  ucontext_t context;
#endif
};

class Fibre {
 public:
  static constexpr size_t kStackSize = 64 << 10;  // at least

  /* Stacks are whole pages; those of different `number`s begin in different lines of the cache. */
  explicit Fibre(size_t number);
  ~Fibre();
  Fibre(const Fibre&) = delete;

  /* The next switch to it calls `entry`, which must not return. */
  void restart(void (*entry)());

  /* Tells only of a fibre that has begun. */
  bool is_on_stack(uintptr_t address) const { return address - stack_ < stack_size_; }
  Context& context() { return context_; }

 private:
  static constexpr size_t kCacheLine = 64, kColors = 61;

  uintptr_t stack_ = 0;
  size_t stack_size_ = kStackSize;
  size_t color_;  // bytes left free at the stack's top
  void (*entry_)() = nullptr;
  Context context_;
};

/* Leaves the running thread of control in `from` and continues with `to`. */
void switch_context(Context& from, Context& to);

/* Lets this thread of the host switch to fibres while it lives. */
class FibreHost {
 public:
  FibreHost();
  ~FibreHost();
  FibreHost(const FibreHost&) = delete;

 private:
  bool is_changed_ = false;
};

}  // namespace vmafx::emulator

#endif
