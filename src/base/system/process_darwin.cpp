#include <thread>

#include "base/system/process.h"

namespace vmafx::system {

int usable_processors() { return static_cast<int>(std::thread::hardware_concurrency()); }

}  // namespace vmafx::system
