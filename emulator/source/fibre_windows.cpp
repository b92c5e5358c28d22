#include <windows.h>

#include "emulator/runtime/report.h"
#include "emulator/runtime/system/pages.h"
#include "emulator/source/fibre.h"

namespace vmafx::emulator {

/* Windows gives each fibre a stack, and grows it where it is touched. */
Fibre::Fibre(size_t number) : color_(number % kColors * kCacheLine) {}

Fibre::~Fibre() {
  if (context_.state) DeleteFiber(context_.state);
}

/* The fibre itself asks where its stack is, when it begins. */
void Fibre::restart(void (*entry)()) {
  constexpr auto begin = [](void* self) {
    Fibre& fibre = *static_cast<Fibre*>(self);
    ULONG_PTR lowest = 0, end = 0;
    GetCurrentThreadStackLimits(&lowest, &end);
    fibre.stack_ = lowest;
    fibre.stack_size_ = end - lowest;
    const void* left_free = __builtin_alloca(fibre.color_);
    asm volatile("" : : "r"(left_free));
    fibre.entry_();
  };
  entry_ = entry;
  if (context_.state) DeleteFiber(context_.state);
  context_.state = CreateFiberEx(kPage, kStackSize, FIBER_FLAG_FLOAT_SWITCH, begin, this);
  if (!context_.state) die("no room for the stack of a fibre");
}

void switch_context(Context& from, Context& to) {
  from.state = GetCurrentFiber();
  SwitchToFiber(to.state);
}

FibreHost::FibreHost() : is_changed_(!IsThreadAFiber()) {
  if (is_changed_ && !ConvertThreadToFiberEx(nullptr, FIBER_FLAG_FLOAT_SWITCH)) die("no fibres in this thread");
}

FibreHost::~FibreHost() {
  if (is_changed_) ConvertFiberToThread();
}

}  // namespace vmafx::emulator
