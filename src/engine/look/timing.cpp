#include "engine/look/timing.h"

namespace vmafx::look {

class Timing::Registration {};

Timing::Timing(const VideoFormat&) : registration_(std::make_unique<Registration>()) {}
Timing::~Timing() = default;
void Timing::add(int64_t, const SignatureSums&) {}
void Timing::finish(std::vector<Finding>*) {}

}  // namespace vmafx::look
