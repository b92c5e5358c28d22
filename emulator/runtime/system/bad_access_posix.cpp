#include <csignal>

#include "emulator/runtime/system/bad_access.h"

namespace vmafx::emulator {
namespace {

void (*judge_of_all)(uintptr_t address) = nullptr;
struct sigaction previous_action;

void on_segv(int signal, siginfo_t* info, void* context) {
  judge_of_all(reinterpret_cast<uintptr_t>(info->si_addr));
  if (previous_action.sa_flags & SA_SIGINFO) return previous_action.sa_sigaction(signal, info, context);
  sigaction(signal, &previous_action, nullptr);  // the instruction is tried again, and meets that
}

}  // namespace

void watch_bad_accesses(void (*judge)(uintptr_t address)) {
  judge_of_all = judge;
  struct sigaction action{};
  action.sa_sigaction = on_segv;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &previous_action);
}

}  // namespace vmafx::emulator
