#include "emulator/runtime/system/pages.h"

#include <windows.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "emulator/runtime/report.h"

namespace vmafx::emulator {
namespace {

void* allocate(void* at, size_t size, DWORD kind, DWORD protection) {
  void* pages = VirtualAlloc(at, size, kind, protection);
  if (!pages) die("no room for %zu bytes of memory", size);
  return pages;
}

/* -- Zeros: Windows counts memory when it is allocated, so it is allocated when it is touched ---------------------- */

constexpr size_t kTouched = 64 << 10;  // bytes that are allocated at once

struct Zeros {
  uintptr_t begin, size;
};
std::array<Zeros, 4> all_zeros;
size_t zeros_count = 0;

LONG CALLBACK on_exception(EXCEPTION_POINTERS* exception) {
  const EXCEPTION_RECORD& record = *exception->ExceptionRecord;
  if (record.ExceptionCode != EXCEPTION_ACCESS_VIOLATION) return EXCEPTION_CONTINUE_SEARCH;
  const uintptr_t address = record.ExceptionInformation[1];
  for (const Zeros& zeros : all_zeros) {
    if (address - zeros.begin >= zeros.size) continue;
    const size_t begin = (address - zeros.begin) / kTouched * kTouched;
    allocate(reinterpret_cast<void*>(zeros.begin + begin), std::min(kTouched, zeros.size - begin), MEM_COMMIT,
             PAGE_READWRITE);
    return EXCEPTION_CONTINUE_EXECUTION;
  }
  return EXCEPTION_CONTINUE_SEARCH;
}

}  // namespace

void* take_pages(size_t size) { return allocate(nullptr, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }

void give_back_pages(void* pages, size_t) { VirtualFree(pages, 0, MEM_RELEASE); }

void* take_zeros(size_t size) {
  void* pages = reserve_pages(size);
  if (zeros_count == 0) AddVectoredExceptionHandler(1, on_exception);
  if (zeros_count == all_zeros.size()) die("too many areas of zeros");
  all_zeros[zeros_count++] = {reinterpret_cast<uintptr_t>(pages), size};
  return pages;
}

void clear_zeros(void* pages, size_t size) { VirtualFree(pages, size, MEM_DECOMMIT); }

void* reserve_pages(size_t size) { return allocate(nullptr, size, MEM_RESERVE, PAGE_NOACCESS); }

void drop_pages(void* pages, size_t size) { VirtualFree(pages, size, MEM_DECOMMIT); }

/* Reserved pages may have no memory yet. */
void set_reach(void* pages, size_t size, Reach reach) {
  const DWORD protection = reach == Reach::kNone   ? PAGE_NOACCESS
                           : reach == Reach::kRead ? PAGE_READONLY
                                                   : PAGE_READWRITE;
  DWORD before = 0;
  allocate(pages, size, MEM_COMMIT, protection);
  if (!VirtualProtect(pages, size, protection, &before)) die("VirtualProtect failed");
}

bool put_file(void*, size_t, int, size_t) { return false; }

void take_file_away(void*, size_t) {}

}  // namespace vmafx::emulator
