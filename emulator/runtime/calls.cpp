#include "emulator/runtime/calls.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "emulator/runtime/imports.h"
#include "emulator/runtime/memory.h"
#include "emulator/runtime/modules.h"
#include "emulator/runtime/queue.h"
#include "emulator/runtime/settings.h"
#include "emulator/runtime/system/bad_access.h"

namespace vmafx::emulator {
namespace {

/* Outlives the program's other static objects, which may still give things back. */
struct State {
  std::mutex mutex;
  uint64_t calls = 0;
  std::vector<const char*> names;                // names of calls, if they go into a file
  std::map<std::string_view, uint64_t> of_name;  // calls
  int lost = 0;                                  // the error since the device was lost
  bool hung = false;
  bool may_leak = false;
};

State& state() {
  static State& s = *new State;
  return s;
}

/* -- Host code that touches device memory -------------------------------------------------------------------------- */

void judge_bad_access(uintptr_t address) {
  if (address - reserve.begin < reserve.size)
    die("host code touches device memory: 0x%zx, %s", static_cast<size_t>(address),
        DeviceMemory::get().describe(address).c_str());
}

/* Makes what all threads use before the first of them starts: a sanitizer does not see who initializes what in a
 * library that was not built for it. */
[[gnu::constructor]] void at_load() {
  state();
  DeviceMemory::get();
  watch_bad_accesses(judge_bad_access);
}

/* -- The end ------------------------------------------------------------------------------------------------------- */

void write_calls(const std::string& path) {
  FILE* file = std::fopen(path.c_str(), "w");
  if (!file) die("cannot write %s", path.c_str());
  const auto& names = state().names;
  std::fprintf(file, "%zu\n", names.size());
  for (size_t i = 0; i < names.size(); i++) std::fprintf(file, "%zu %s\n", i + 1, names[i]);
  std::fclose(file);
}

template <class T>
void add_leaks(Handles<T>& handles, std::vector<std::string>* leaks) {
  if (handles.size())
    leaks->push_back(text("%zu %s%s", handles.size(), handles.kind(), handles.size() == 1 ? "" : "s"));
}

/* After these errors a program gives the device up. Its memory there may stay: giving it back could block for ever. */
bool is_fatal(int error) { return error == kIllegalAddress || error == kLaunchFailure || error == kUnknown; }

/* Reports leaks at the end. If a hang is planned the program waits with a short deadline, which may also pass before
 * it. */
void report_leaks() {
  if (state().may_leak || settings().hang.is_set() || settings().block.is_set()) return;
  std::vector<std::string> leaks = DeviceMemory::get().leaks();
  for (const std::string& pinned : PinnedMemory::get().leaks()) leaks.push_back(pinned);
  add_leaks(streams(), &leaks);
  add_leaks(events(), &leaks);
  add_leaks(modules(), &leaks);
  add_leaks(imports(), &leaks);
  add_leaks(semaphores(), &leaks);
  if (leaks.empty()) return;
  std::string all;
  for (const std::string& leak : leaks) all += (all.empty() ? "" : ", ") + leak;
  complain(0, "not given back at the end of the program: " + all);
}

[[gnu::destructor]] void at_unload() {
  if (!settings().calls_file.empty()) write_calls(settings().calls_file);
  report_leaks();
}

}  // namespace

/* -- A call -------------------------------------------------------------------------------------------------------- */

Call::Call(const char* name) {
  State& s = state();
  s.mutex.lock();
  const Settings& plan = settings();
  if (!plan.calls_file.empty()) s.names.push_back(name);
  const uint64_t number = ++s.calls, of_its_name = ++s.of_name[name];
  name_ = text("%s (call %zu)", name, static_cast<size_t>(number));
  if (plan.hang.hits(number, of_its_name, name)) s.hung = true;
  while (plan.block.hits(number, of_its_name, name)) std::this_thread::sleep_for(std::chrono::hours(1));
  if (plan.fail.hits(number, of_its_name, name)) {
    error_ = plan.fail_error;
    if (plan.fail_lasts) s.lost = error_;
    s.may_leak = s.may_leak || is_fatal(error_);
  }
  if (s.lost) error_ = s.lost;
  if (!error_) advance_anything();
}

Call::~Call() {
  DeviceMemory::get().close();
  state().mutex.unlock();
}

void lose_device(int error) {
  if (!state().lost) state().lost = error;
  state().may_leak = true;
}

int lost_error() { return state().lost; }

bool is_hung() { return state().hung; }

int& current_device() {
  static thread_local int device = 0;
  return device;
}

}  // namespace vmafx::emulator
