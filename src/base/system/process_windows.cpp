#include "base/system/process.h"

#include <windows.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <thread>

namespace vmafx::system {
namespace {

/* The threads that the job of this process leaves it, by a hard limit of the processors' time. */
int job_threads(int processors) {
  JOBOBJECT_CPU_RATE_CONTROL_INFORMATION rate{};
  constexpr DWORD kHard = JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;
  const bool is_told =
      QueryInformationJobObject(nullptr, JobObjectCpuRateControlInformation, &rate, sizeof rate, nullptr) != 0;
  if (!is_told || (rate.ControlFlags & kHard) != kHard) return processors;
  constexpr double kWhole = 10000;  // hundredths of a per cent
  return std::max(1, static_cast<int>(std::lround(processors * (rate.CpuRate / kWhole))));
}

/* Units of 100 ns. */
double seconds_of(const FILETIME& kernel, const FILETIME& user) {
  const auto units = [](const FILETIME& time) {
    return static_cast<double>(time.dwHighDateTime) * 4294967296.0 + static_cast<double>(time.dwLowDateTime);
  };
  return (units(kernel) + units(user)) * 1e-7;
}

}  // namespace

long process_id() { return static_cast<long>(GetCurrentProcessId()); }

/* The affinity of a process in several groups of processors is told as 0. */
int usable_processors() {
  DWORD_PTR mine = 0, all = 0;
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  if (GetProcessAffinityMask(GetCurrentProcess(), &mine, &all) && mine) threads = std::popcount(mine);
  return job_threads(threads);
}

double process_seconds() {
  FILETIME begin, end, kernel, user;
  return GetProcessTimes(GetCurrentProcess(), &begin, &end, &kernel, &user) ? seconds_of(kernel, user) : 0;
}

double thread_seconds() {
  FILETIME begin, end, kernel, user;
  return GetThreadTimes(GetCurrentThread(), &begin, &end, &kernel, &user) ? seconds_of(kernel, user) : 0;
}

bool other_threads_are_gone() {
  using Function = BOOLEAN(NTAPI*)();
  const HMODULE library = GetModuleHandleW(L"ntdll.dll");
  const auto ends =
      library ? reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(library, "RtlDllShutdownInProgress")))
              : nullptr;
  return ends && ends();
}

}  // namespace vmafx::system
