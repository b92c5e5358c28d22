#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/status.h"

namespace vmafx {

struct Hash::State {
  XXH3_state_t state;
};

Hash::Hash() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->state); }
Hash::~Hash() = default;

void Hash::add(const void* data, size_t bytes) { XXH3_64bits_update(&state_->state, data, bytes); }
uint64_t Hash::value() const { return XXH3_64bits_digest(&state_->state); }
std::string Hash::text(uint64_t value) { return format_text("%016llx", static_cast<unsigned long long>(value)); }

}  // namespace vmafx
