#include "emulator/runtime/system/bad_access.h"

#include <windows.h>

namespace vmafx::emulator {
namespace {

void (*judge_of_all)(uintptr_t address) = nullptr;

LONG CALLBACK on_exception(EXCEPTION_POINTERS* exception) {
  const EXCEPTION_RECORD& record = *exception->ExceptionRecord;
  if (record.ExceptionCode == EXCEPTION_ACCESS_VIOLATION) judge_of_all(record.ExceptionInformation[1]);
  return EXCEPTION_CONTINUE_SEARCH;
}

}  // namespace

void watch_bad_accesses(void (*judge)(uintptr_t address)) {
  judge_of_all = judge;
  AddVectoredExceptionHandler(1, on_exception);
}

}  // namespace vmafx::emulator
