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
  void* stack_pointer = nullptr;
#else
  ucontext_t context;
#endif
};

class Fibre {
 public:
  static constexpr size_t kStackSize = 64 << 10;

  /* Stacks are whole pages; those of different `number`s begin in different lines of the cache. */
  explicit Fibre(size_t number);
  ~Fibre();
  Fibre(const Fibre&) = delete;

  /* The next switch to it calls `entry`, which must not return. */
  void restart(void (*entry)());

  uintptr_t stack_begin() const { return stack_; }
  uintptr_t stack_end() const { return stack_ + kStackSize; }
  Context& context() { return context_; }

 private:
  uintptr_t stack_;
  size_t color_;  // bytes left free at the stack's top
  Context context_;
};

/* Leaves the running thread of control in `from` and continues with `to`. */
void switch_context(Context& from, Context& to);

}  // namespace vmafx::emulator

#endif
