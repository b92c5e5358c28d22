#include "base/system/foreign_memory.h"

#include <cerrno>

namespace vmafx::system {

const char* why_no_foreign_memory() { return "vmafx does not import memory of other drivers on Windows yet"; }

int duplicate_foreign(int, int* copy) {
  *copy = -1;
  return ENOTSUP;
}

void close_foreign(int) {}

int identify_foreign(int, ForeignIdentity*) { return ENOTSUP; }

int wait_for_foreign(int, std::chrono::milliseconds) { return ENOTSUP; }

std::string bus_name_of_device(int, const std::string&) { return ""; }

}  // namespace vmafx::system
