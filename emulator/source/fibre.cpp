#include "emulator/source/fibre.h"

#include <sys/mman.h>

#include "emulator/runtime/report.h"

#if defined(__x86_64__)
/* The registers that a called function must keep (System V ABI) go on the old stack and come from the new one. The
 * library's own swapcontext also makes a system call each time, which is 30 times slower. */
asm(R"(
    .text
    .local vmafx_switch_stacks
    .type vmafx_switch_stacks, @function
vmafx_switch_stacks:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq (%rsi), %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size vmafx_switch_stacks, .-vmafx_switch_stacks
)");
extern "C" void vmafx_switch_stacks(void** from, void** to);
#endif

namespace vmafx::emulator {
namespace {
constexpr size_t kGuard = 4096;
constexpr size_t kCacheLine = 64, kColors = 61;
}  // namespace

Fibre::Fibre(size_t number) : color_(number % kColors * kCacheLine) {
  void* pages =
      mmap(nullptr, kGuard + kStackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages, kGuard, PROT_NONE)) die("no room for the stack of a fibre");
  stack_ = reinterpret_cast<uintptr_t>(pages) + kGuard;
}

Fibre::~Fibre() { munmap(reinterpret_cast<void*>(stack_ - kGuard), kGuard + kStackSize); }

#if defined(__x86_64__)

/* Prepares the stack as if the entry had been called and switched away at once: six registers, and the return
 * address. */
void Fibre::restart(void (*entry)()) {
  constexpr int kRegisters = 6;
  void** top = reinterpret_cast<void**>(stack_end() - color_) - 2;  // at the entry 8 bytes off a multiple of 16
  *top = reinterpret_cast<void*>(entry);
  for (int i = 1; i <= kRegisters; i++) top[-i] = nullptr;
  context_.stack_pointer = top - kRegisters;
}

void switch_context(Context& from, Context& to) { vmafx_switch_stacks(&from.stack_pointer, &to.stack_pointer); }

#else

void Fibre::restart(void (*entry)()) {
  if (getcontext(&context_.context)) die("getcontext failed");
  context_.context.uc_stack.ss_sp = reinterpret_cast<void*>(stack_);
  context_.context.uc_stack.ss_size = kStackSize - color_;
  context_.context.uc_link = nullptr;
  makecontext(&context_.context, entry, 0);
}

void switch_context(Context& from, Context& to) { swapcontext(&from.context, &to.context); }

#endif

}  // namespace vmafx::emulator
