/* Cases for cvvdp (tests/support/parity.h). */
#ifndef VMAFX_TESTS_KERNELS_CVVDP_CASES_H
#define VMAFX_TESTS_KERNELS_CVVDP_CASES_H

#include "tests/support/parity.h"

namespace vmafx::test {

inline ParityCases cvvdp_cases() {
  const auto colored = [](int w, int h, int bpc, Chroma chroma, int transfer) {
    VideoFormat format = color(w, h, bpc, chroma);
    format.color = {.matrix = 1, .transfer = transfer, .range = Color::Range::kLimited};
    return format;
  };
  constexpr int kSdr = 1, kPq = 16, kHlg = 18;
  ParityCases cases;
  for (const auto& [bpc, chroma, transfer] :
       {std::tuple{8, Chroma::k420, kSdr}, {10, Chroma::k422, kPq}, {12, Chroma::k444, kHlg}, {16, Chroma::k400, kSdr}})
    cases.push_back(
        {.format = colored(37, 29, bpc, chroma, transfer), .frames = 4, .batch = 2, .options = {{"fps", "24"}}});
  cases.push_back({.format = colored(40, 36, 8, Chroma::k420, kSdr),
                   .frames = 10,
                   .batch = 4,
                   .options = {{"fps", "120"}, {"display", "standard_phone"}}});
  return cases;
}

}  // namespace vmafx::test

#endif
