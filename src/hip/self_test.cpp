#include "hip/self_test.h"

#include <cerrno>

#include "hip/device.h"
#include "hip/launch.h"
#include "hip/memory.h"
#include "hip/stream.h"

namespace vmafx::hip {
namespace {

constexpr uint32_t kSeed = 20260611;

struct Answer {
  uint64_t sum;
  uint32_t words[kSelfTestWords + 1];
};

uint64_t expected_sum() {
  uint64_t sum = 0;
  for (uint32_t place = 0; place < kSelfTestWords; place++) sum += self_test_word(place, kSeed);
  return sum;
}

Status check(const Answer& answer, int wave_size) {
  for (uint32_t place = 0; place < kSelfTestWords; place++)
    if (answer.words[place] != self_test_answer(place, kSeed))
      return error(EBADMSG, "the self-test failed: word %u is %u, not %u", place, answer.words[place],
                   self_test_answer(place, kSeed));
  if (answer.sum != expected_sum())
    return error(EBADMSG, "the self-test failed: the sum is %llu, not %llu",
                 static_cast<unsigned long long>(answer.sum), static_cast<unsigned long long>(expected_sum()));
  if (const uint32_t lanes = answer.words[kSelfTestWords]; lanes != static_cast<uint32_t>(wave_size))
    return error(EBADMSG, "the self-test failed: the code runs waves of %u lanes, the device says %d", lanes,
                 wave_size);
  return {};
}

}  // namespace

Status self_test(const ContextPtr& context, const Module& kernels) {
  VMAFX_ASSIGN(const auto kernel,
               (kernels.kernel<DevicePtr<uint32_t>, DevicePtr<uint64_t>, uint32_t>("vmafx_self_test")));
  VMAFX_ASSIGN(const auto on_device, DeviceBuffer<Answer>::create(context, 1));
  VMAFX_ASSIGN(const auto on_host, PinnedBuffer<Answer>::create(context, 1));
  VMAFX_ASSIGN(Stream stream, Stream::create(context));
  VMAFX_TRY(stream.clear(on_device.ptr().as<std::byte>(), sizeof(Answer)));
  VMAFX_TRY(launch(stream, kernel, {kSelfTestBlocks}, {kSelfTestThreads}, 0,
                   on_device.ptr().as<uint32_t>(offsetof(Answer, words)), on_device.ptr().as<uint64_t>(), kSeed));
  VMAFX_TRY(stream.download(on_host.data(), DevicePtr<const Answer>(on_device.ptr()), 1));
  VMAFX_TRY(stream.drain());
  return check(*on_host.data(), context->device().wave_size);
}

}  // namespace vmafx::hip
