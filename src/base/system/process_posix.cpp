#include "base/system/process.h"

#include <unistd.h>

namespace vmafx::system {

long process_id() { return getpid(); }

bool other_threads_are_gone() { return false; }

}  // namespace vmafx::system
