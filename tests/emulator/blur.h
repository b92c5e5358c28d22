/* Kernels of faulty.hip that are right, and what they must give. */
#ifndef VMAFX_TESTS_EMULATOR_BLUR_H
#define VMAFX_TESTS_EMULATOR_BLUR_H

#include <random>
#include <vector>

#include "tests/emulator/harness.h"

namespace vmafx::test {

struct Blurred {
  std::vector<uint16_t> out;
  uint64_t sums[2] = {0, 0};
};

inline Blurred blur(const std::vector<uint8_t>& in, int w, int h) {
  constexpr int kTaps[5] = {1, 4, 6, 4, 1};
  const auto clamp = [](int i, int size) { return i < 0 ? 0 : i < size ? i : size - 1; };
  Blurred result;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      uint64_t sum = 0;
      for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++) sum += kTaps[j] * kTaps[i] * in[clamp(y + j - 2, h) * w + clamp(x + i - 2, w)];
      result.out.push_back(static_cast<uint16_t>(sum));
      result.sums[0] += sum;
      result.sums[1] += sum * sum;
    }
  return result;
}

inline std::vector<uint8_t> random_picture(int w, int h) {
  std::mt19937 random(7);
  std::vector<uint8_t> samples(static_cast<size_t>(w) * h);
  for (uint8_t& sample : samples) sample = static_cast<uint8_t>(random());
  return samples;
}

/* Runs test_blur, a kernel with all that is right, and looks at what comes out. */
inline void check_blur(int w, int h) {
  const std::vector<uint8_t> samples = random_picture(w, h);
  const Blurred want = blur(samples, w, h);
  Session hip;
  auto* out = static_cast<uint16_t*>(hip.device(samples.size() * 2));
  auto* sums = hip.zeros<uint64_t>(2);
  const Picture in{hip.uploaded(samples), w, w, h};
  Hip::expect(hip.try_launch("test_blur", (w + 31) / 32, (h + 7) / 8, 32, 8, in, out, sums) == kSuccess,
              "launch failed");
  Hip::expect(hip.downloaded<uint16_t>(out, samples.size()) == want.out, "wrong samples");
  Hip::expect(hip.downloaded<uint64_t>(sums, 2) == std::vector<uint64_t>(want.sums, want.sums + 2), "wrong sums");
}

/* Launches test_copy of 64 numbers and waits. */
inline void copy_64(Session& hip, const void* in, int offset) {
  hip.launch("test_copy", 1, 64, CopyArgs{in, hip.device(64 * 4), offset});
  hip.wait();
}

}  // namespace vmafx::test

#endif
