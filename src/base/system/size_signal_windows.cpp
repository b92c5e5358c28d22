#include "base/system/size_signal.h"

namespace vmafx {

SizeSignalHeld::SizeSignalHeld() = default;

SizeSignalHeld::~SizeSignalHeld() { static_cast<void>(was_pending_ || was_held_); }

}  // namespace vmafx
