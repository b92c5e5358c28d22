#include "emulator/runtime/report.h"
#include "emulator/runtime/system/pages.h"
#include "emulator/source/fibre.h"

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

Fibre::Fibre(size_t number) : color_(number % kColors * kCacheLine) {
  void* pages = take_pages(kPage + kStackSize);  // the first one is a guard
  set_reach(pages, kPage, Reach::kNone);
  stack_ = reinterpret_cast<uintptr_t>(pages) + kPage;
}

Fibre::~Fibre() { give_back_pages(reinterpret_cast<void*>(stack_ - kPage), kPage + kStackSize); }

FibreHost::FibreHost() = default;

FibreHost::~FibreHost() { static_cast<void>(is_changed_); }

#if defined(__x86_64__)

/* Prepares the stack as if the entry had been called and switched away at once: six registers, and the return
 * address. */
void Fibre::restart(void (*entry)()) {
  constexpr int kRegisters = 6;
  entry_ = entry;
  void** top = reinterpret_cast<void**>(stack_ + kStackSize - color_) - 2;  // at the entry 8 bytes off a multiple of 16
  *top = reinterpret_cast<void*>(entry_);
  for (int i = 1; i <= kRegisters; i++) top[-i] = nullptr;
  context_.state = top - kRegisters;
}

void switch_context(Context& from, Context& to) { vmafx_switch_stacks(&from.state, &to.state); }

#else

void Fibre::restart(void (*entry)()) {
  entry_ = entry;
  if (getcontext(&context_.context)) die("getcontext failed");
  context_.context.uc_stack.ss_sp = reinterpret_cast<void*>(stack_);
  context_.context.uc_stack.ss_size = kStackSize - color_;
  context_.context.uc_link = nullptr;
  makecontext(&context_.context, entry_, 0);
}

void switch_context(Context& from, Context& to) { swapcontext(&from.context, &to.context); }

#endif

}  // namespace vmafx::emulator
