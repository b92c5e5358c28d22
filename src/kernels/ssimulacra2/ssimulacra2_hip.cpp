#include "kernels/device_twin.h"
#include "kernels/ssimulacra2/ssimulacra2.h"

namespace vmafx {

std::unique_ptr<DeviceTwin> ssimulacra2_hip(const Ssimulacra2Params&) { return nullptr; }

}  // namespace vmafx
