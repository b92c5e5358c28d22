/* Pictures on which the SIMD twins of the integer and the floating-point ADM are held against their definitions. */
#ifndef VMAFX_TESTS_KERNELS_ADM_TWINS_H
#define VMAFX_TESTS_KERNELS_ADM_TWINS_H

#include <string>
#include <vector>

#include "base/picture.h"
#include "kernels/adm/adm_scales.h"
#include "tests/kernels/adm/adm_pictures.h"
#include "tests/support/check_main.h"

namespace vmafx::test {

/* A pair of planes of one size. */
template <class T>
struct Pair {
  Pair(int w, int h, int pad = 0, int offset = 0, bool upside_down = false)
      : w(w), h(h), ref(w, h, pad, offset, upside_down),
        dist(w, h, (pad * 3) % 7, (offset * 2) % 5, !upside_down && pad) {}

  void make_lookalike(int bpc, uint32_t seed, double contrast, int noise_bits) {
    test::make_lookalike(ref, dist, w, h, bpc, seed, contrast, noise_bits);
  }

  int w, h;
  TestPlane<T> ref, dist;
};

struct AdmCase {
  int bpc;
  OptionTexts options;
  std::string what;
  SamplePlane ref, dist;
};

template <class T>
AdmCase adm_case(Pair<T>& pair, int bpc, const OptionTexts& options, const std::string& what) {
  return {bpc, options, what, pair.ref.sample_plane(), pair.dist.sample_plane()};
}

/* Fails the test unless the twins agree. */
using AdmCheck = void (*)(const AdmCase&);

inline void check_adm_widths(AdmCheck check) {
  constexpr int kWidest = 64 / sizeof(int32_t);  // lanes of the widest vector, of scale 3's samples
  for (int w = kAdmMinSize; w <= 16 * (2 * kWidest + 1); w++) {
    Pair<uint8_t> pair(w, kAdmMinSize + w % 7, w % 5, w % 3, w % 2);
    pair.ref.fill(Fill::kRandom, 8, w);
    if (w % 3) pair.make_lookalike(8, w, 0.8 + 0.1 * (w % 4), w % 8);
    else pair.dist.fill(Fill::kRandom, 8, w + 1);
    check(adm_case(pair, 8, {}, "random"));
  }
}

inline void check_adm_heights(AdmCheck check) {
  for (int h = kAdmMinSize; h <= 16 * 11; h++) {
    Pair<uint16_t> pair(kAdmMinSize + 2 * (h % 11), h, h % 3, h % 5, h % 2);
    pair.ref.fill(Fill::kRandom, 10, h);
    pair.make_lookalike(10, h, 0.9, 1 + h % 9);
    check(adm_case(pair, 10, {}, "random"));
  }
}

template <class T>
void check_adm_fills(AdmCheck check, Pair<T>& pair, int bpc, const OptionTexts& options, Fill ref, Fill dist) {
  pair.ref.fill(ref, bpc, 7);
  pair.dist.fill(dist, bpc, 8);
  check(adm_case(pair, bpc, options, std::string(fill_name(ref)) + " against " + fill_name(dist)));
}

inline void check_adm_fills_and_depths(AdmCheck check) {
  int turn = 0;
  for (int bpc = 8; bpc <= 16; bpc++) {
    with_sample_type(bpc, [&]<class T>(T) {
      Pair<T> pair(97, 51, 3, 1);
      for (const Fill ref : kFills)
        for (const Fill dist : kFills)
          if (turn++ % every_under_sanitizers(3) == 0) check_adm_fills(check, pair, bpc, {}, ref, dist);
    });
  }
}

inline void check_adm_options(AdmCheck check, const std::vector<OptionTexts>& sets) {
  int turn = 0;
  for (const OptionTexts& options : sets) {
    for (const int bpc : {8, 10, 16}) {
      with_sample_type(bpc, [&]<class T>(T) {
        Pair<T> pair(163, 85);
        check_adm_fills(check, pair, bpc, options, Fill::kRandom, Fill::kRandom);
        check_adm_fills(check, pair, bpc, options, Fill::kSparse, Fill::kCheckerboard);
        check_adm_fills(check, pair, bpc, options, Fill::kColumns, Fill::kGradient);
        for (const double contrast : {0.5, 0.95, 1.0, 1.3}) {
          if (turn++ % every_under_sanitizers(3)) continue;
          for (const int noise_bits : {0, bpc - 5, bpc - 3}) {
            pair.ref.fill(Fill::kRandom, bpc, 9);
            pair.make_lookalike(bpc, 10, contrast, noise_bits);
            check(adm_case(pair, bpc, options, format_text("contrast %g, noise of %d bits", contrast, noise_bits)));
          }
        }
      });
    }
  }
}

inline void check_large_adm(AdmCheck check) {
  Pair<uint8_t> pair(1923, 541);
  pair.ref.fill(Fill::kGradient, 8, 1);
  pair.make_lookalike(8, 2, 0.9, 4);
  check(adm_case(pair, 8, {}, "noise on a gradient"));
  pair.ref.fill(Fill::kRandom, 8, 3);
  pair.make_lookalike(8, 4, 0.97, 3);
  check(adm_case(pair, 8, {}, "lookalike"));
}

}  // namespace vmafx::test

#endif
