/* Pictures on which the kernels of the integer and the floating-point ADM are held against their CPU twins. */
#ifndef VMAFX_TESTS_KERNELS_ADM_DEVICE_H
#define VMAFX_TESTS_KERNELS_ADM_DEVICE_H

#include <utility>
#include <vector>

#include "kernels/adm/adm_scales.h"
#include "tests/kernels/adm/adm_pictures.h"
#include "tests/support/device.h"
#include "tests/support/scores.h"

namespace vmafx::test {

/* Frames of luma alone. */
template <class T>
class AdmFrames {
 public:
  AdmFrames(const ExtractorInfo& info, int w, int h, int bpc, int count)
      : info_(info), format_{.w = w, .h = h, .bpc = bpc, .chroma = Chroma::k400} {
    for (int i = 0; i < 2 * count; i++) planes_.emplace_back(w, h, i % 5);
  }

  void fill(int frame, Fill ref, Fill dist) {
    planes_[2 * frame].fill(ref, format_.bpc, 2 * frame + 7);
    planes_[2 * frame + 1].fill(dist, format_.bpc, 2 * frame + 8);
  }

  void make_lookalike(int frame, Fill fill, double contrast, int noise_bits) {
    TestPlane<T>&ref = planes_[2 * frame], &dist = planes_[2 * frame + 1];
    ref.fill(fill, format_.bpc, frame);
    test::make_lookalike(ref, dist, format_.w, format_.h, format_.bpc, frame + 100, contrast, noise_bits);
  }

  T& ref(int frame, int x, int y) { return planes_[2 * frame].at(x, y); }
  T& dist(int frame, int x, int y) { return planes_[2 * frame + 1].at(x, y); }

  void check(int batch, const OptionTexts& options = {}) {
    std::vector<PicturePair> pairs(planes_.size() / 2);
    for (size_t i = 0; i < pairs.size(); i++) {
      pairs[i].ref.bpc = pairs[i].dist.bpc = format_.bpc;
      pairs[i].ref.plane[0] = planes_[2 * i].sample_plane();
      pairs[i].dist.plane[0] = planes_[2 * i + 1].sample_plane();
    }
    assert_device_agrees(*make_extractor(info_, format_, options, Placement::kDevice), format_, pairs, batch, info_.name + text_of(options));
  }

 private:
  const ExtractorInfo& info_;
  const VideoFormat format_;
  std::vector<TestPlane<T>> planes_;
};

/* One frame of noise, and one of a lookalike. */
inline void check_adm_size(const ExtractorInfo& info, int w, int h, int bpc) {
  with_sample_type(bpc, [&]<class T>(T) {
    AdmFrames<T> frames(info, w, h, bpc, 2);
    frames.fill(0, Fill::kRandom, Fill::kRandom);
    frames.make_lookalike(1, Fill::kRandom, 0.9, bpc - 5);
    frames.check(2);
  });
}

/* The smallest there are, those whose coarse scales have no border, and rows of tiles with one column in the last. */
inline void check_adm_sizes(const ExtractorInfo& info) {
  for (int n = 0; n < 24; n++) check_adm_size(info, kAdmMinSize + n, kAdmMinSize + n * 7 % 24, n % 2 ? 8 : 10);
  for (const auto& [w, h] : {std::pair(37, 33), std::pair(131, 67), std::pair(153, 17), std::pair(155, 40),
                             std::pair(157, 36), std::pair(311, 34), std::pair(390, 90), std::pair(17, 300)})
    for (const int bpc : {8, 16}) check_adm_size(info, w, h, bpc);
}

inline void check_adm_depths_and_fills(const ExtractorInfo& info) {
  for (int bpc = 8; bpc <= 16; bpc++) {
    with_sample_type(bpc, [&]<class T>(T) {
      AdmFrames<T> frames(info, 97, 51, bpc, static_cast<int>(std::size(kFills)));
      for (size_t shift = 0; shift < std::size(kFills); shift++) {
        for (size_t i = 0; i < std::size(kFills); i++)
          frames.fill(static_cast<int>(i), kFills[i], kFills[(i + shift) % std::size(kFills)]);
        frames.check(8);
      }
    });
  }
}

inline void check_adm_options(const ExtractorInfo& info, const std::vector<OptionTexts>& sets) {
  for (const OptionTexts& options : sets) {
    for (const int bpc : {8, 10, 16}) {
      with_sample_type(bpc, [&]<class T>(T) {
        AdmFrames<T> frames(info, 131, 67, bpc, 6);
        frames.fill(0, Fill::kRandom, Fill::kRandom);
        frames.fill(1, Fill::kSparse, Fill::kCheckerboard);
        frames.make_lookalike(2, Fill::kRandom, 0.5, 0);
        frames.make_lookalike(3, Fill::kRandom, 1.3, bpc - 5);
        frames.make_lookalike(4, Fill::kGradient, 1.0, bpc - 3);
        frames.make_lookalike(5, Fill::kSparse, 0.95, bpc - 3);
        frames.check(6, options);
      });
    }
  }
}

inline void check_adm_batches(const ExtractorInfo& info) {
  AdmFrames<uint8_t> frames(info, 150, 70, 8, 11);
  for (int i = 0; i < 11; i++) frames.make_lookalike(i, Fill::kRandom, 0.8 + 0.05 * i, i % 7);
  for (const int batch : {1, 3, 8}) frames.check(batch);
}

/* Several tiles across and down at scale 0, some without a sample that counts, and more than one at scale 2. */
inline void check_large_adm(const ExtractorInfo& info, const OptionTexts& options) {
  AdmFrames<uint8_t> frames(info, 823, 361, 8, 1);
  frames.make_lookalike(0, Fill::kRandom, 0.97, 3);
  frames.check(1, options);
}

}  // namespace vmafx::test

#endif
