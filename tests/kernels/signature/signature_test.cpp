#include "kernels/signature/signature.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <check.h>  // after what includes streams: it defines a macro fail()

#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

/* -- One plane ----------------------------------------------------------------------------------------------------- */

/* Everything of one plane, which stands for luma and for Cb. */
std::unique_ptr<PictureSignature> plain(const SamplePlane& plane, int bpc) {
  auto signature = std::make_unique<PictureSignature>();
  signature_luma_plain(plane, bpc, *signature);
  signature_chroma_plain(plane, bpc, signature->chroma[0]);
  signature_chroma_profiles_plain(plane, bpc, signature->chroma_profiles[0]);
  signature_profiles_plain(plane, bpc, nullptr, *signature);
  return signature;
}

std::unique_ptr<PictureSignature> simd(const SamplePlane& plane, int bpc) {
  auto signature = std::make_unique<PictureSignature>();
  std::vector<uint32_t> sums_of_columns(static_cast<size_t>(plane.w), 7);
  signature_luma_simd(plane, bpc, *signature);
  signature_chroma_simd(plane, bpc, signature->chroma[0]);
  signature_chroma_profiles_simd(plane, bpc, signature->chroma_profiles[0]);
  signature_profiles_simd(plane, bpc, sums_of_columns.data(), *signature);
  return signature;
}

template <class Sums>
void assert_part_equal(const Sums& got, const Sums& want, const char* part, const std::string& what) {
  ck_assert_msg(!std::memcmp(&got, &want, sizeof got), "%s: %s differ from the definition's", what.c_str(), part);
}

void assert_twins_agree(const std::string& target, const SamplePlane& plane, int bpc, const std::string& what) {
  const auto got = simd(plane, bpc), want = plain(plane, bpc);
  const std::string of = format_text("%s %dx%d %d bit %s", target.c_str(), plane.w, plane.h, bpc, what.c_str());
  assert_part_equal(got->luma, want->luma, "cells of luma", of);
  assert_part_equal(got->chroma, want->chroma, "cells of chroma", of);
  assert_part_equal(got->columns, want->columns, "columns", of);
  assert_part_equal(got->rows, want->rows, "rows", of);
  assert_part_equal(got->row_difference, want->row_difference, "differences of rows", of);
  assert_part_equal(got->column_difference, want->column_difference, "differences of columns", of);
  assert_part_equal(got->chroma_profiles, want->chroma_profiles, "profiles of chroma", of);
}

template <class T>
void check_all_fills(const std::string& target, int w, int h, int bpc) {
  TestPlane<T> plane(w, h, w % 5, w % 3, (w + h) % 2);
  for (const Fill fill : kFills) {
    plane.fill(fill, bpc, static_cast<uint32_t>(w + h));
    assert_twins_agree(target, plane.sample_plane(), bpc, fill_name(fill));
  }
}

uint64_t total(const uint32_t* sums, size_t count) {
  uint64_t all = 0;
  for (size_t i = 0; i < count; i++) all += sums[i];
  return all;
}

template <class Sums>
uint64_t total(const Sums& sums) {
  return total(reinterpret_cast<const uint32_t*>(&sums), sizeof sums / sizeof(uint32_t));
}

/* -- Pairs --------------------------------------------------------------------------------------------------------- */

const VideoFormat kFormat = {.w = 70, .h = 40, .bpc = 8, .chroma = Chroma::k420};

struct TestPair {
  TestPlane<uint8_t> ref[3] = {{70, 40}, {35, 20}, {35, 20}}, dist[3] = {{70, 40}, {35, 20}, {35, 20}};

  TestPair() {
    uint32_t seed = 0;
    for (auto* planes : {ref, dist})
      for (int p = 0; p < 3; p++) planes[p].fill(Fill::kRandom, 8, seed++);
  }
  FrameSet frame(int64_t number) {
    FrameSet frame;
    frame.number = number;
    for (int p = 0; p < 3; p++) {
      frame.ref.plane[p] = ref[p].sample_plane();
      frame.dist.plane[p] = dist[p].sample_plane();
    }
    return frame;
  }
};

std::vector<SignatureSums> sums_of(const std::vector<FrameSet>& frames, const VideoFormat& format) {
  const auto signature = make_extractor(kSignatureExtractor, format);
  std::vector<SignatureSums> sums(frames.size());
  std::vector<void*> addresses;
  for (SignatureSums& of : sums) addresses.push_back(&of);
  const TestScratch scratch(signature->encodes_scratch_bytes(static_cast<int>(frames.size())));
  signature->extract_encodes(frames, scratch.get(), addresses);
  return sums;
}

bool equal(const PictureSignature& a, const PictureSignature& b) { return !std::memcmp(&a, &b, sizeof a); }

/* What a frame without detail has of a signature. */
PictureSignature without_detail(const PictureSignature& whole) {
  PictureSignature signature = {};
  std::memcpy(signature.luma, whole.luma, sizeof whole.luma);
  return signature;
}

}  // namespace

/* 128 x 360: cells of 2 x 10 samples, of which the rows 3 to 6 are read; samples are their row's number. */
START_TEST(known_cells) {
  TestPlane<uint16_t> plane(128, 360);
  for (int y = 0; y < 360; y++)
    for (int x = 0; x < 128; x++) plane.at(x, y) = static_cast<uint16_t>(y);
  const auto signature = plain(plane.sample_plane(), 10);
  for (uint32_t j = 0; j < 36; j++)
    for (int i = 0; i < 64; i++) {
      ck_assert_uint_eq(signature->luma[0][j][i], 2 * (10 * j + 4) + 2 * (10 * j + 6));
      ck_assert_uint_eq(signature->luma[1][j][i], 2 * (10 * j + 3) + 2 * (10 * j + 5));
    }
  /* Cells of 8 x 40, rows 18 to 21. */
  for (uint32_t j = 0; j < 9; j++)
    for (int i = 0; i < 16; i++) ck_assert_uint_eq(signature->chroma[0][j][i], 8 * (4 * 40 * j + 18 + 19 + 20 + 21));
}
END_TEST

/* 3 x 2 samples: most cells and bins are empty. The last sample of w is in the last cell. */
START_TEST(few_samples) {
  TestPlane<uint8_t> plane(3, 2);
  for (int y = 0; y < 2; y++)
    for (int x = 0; x < 3; x++) plane.at(x, y) = static_cast<uint8_t>(1 + x + 10 * y);
  const auto signature = plain(plane.sample_plane(), 8);
  ck_assert_uint_eq(signature->luma[0][17][21], 1);
  ck_assert_uint_eq(signature->luma[0][17][42], 2);
  ck_assert_uint_eq(signature->luma[0][17][63], 3);
  ck_assert_uint_eq(signature->luma[1][35][63], 13);
  ck_assert_uint_eq(total(signature->luma), 1 + 2 + 3 + 11 + 12 + 13);
  ck_assert_uint_eq(signature->columns[0][341], 1);
  ck_assert_uint_eq(signature->columns[1][1023], 13);
  ck_assert_uint_eq(total(signature->columns), 42);
  ck_assert_uint_eq(signature->rows[0][511], 1);  // the left half has one column
  ck_assert_uint_eq(signature->rows[1][1023], 12 + 13);
  ck_assert_uint_eq(total(signature->rows), 42);
  ck_assert_uint_eq(signature->row_difference[0] + signature->row_difference[1], 0);
}
END_TEST

/* Two columns of a bin, three rows of another. */
START_TEST(known_profiles) {
  TestPlane<uint8_t> plane(2048, 3072);
  for (int y = 0; y < 3072; y++)
    for (int x = 0; x < 2048; x++) plane.at(x, y) = static_cast<uint8_t>(y < 1536 ? x / 1024 : 10);
  const auto signature = plain(plane.sample_plane(), 8);
  ck_assert_uint_eq(signature->columns[0][511], 0);
  ck_assert_uint_eq(signature->columns[0][512], 2 * 1536);
  ck_assert_uint_eq(signature->columns[1][511], 10 * 2 * 1536);
  ck_assert_uint_eq(signature->rows[0][511], 0);
  ck_assert_uint_eq(signature->rows[1][511], 3 * 1024);
  ck_assert_uint_eq(signature->rows[0][512], 10 * 3 * 1024);
}
END_TEST

/* Fields that differ by 5: their rows alternate. */
START_TEST(combed_rows_differ) {
  TestPlane<uint8_t> plane(30, 11);
  for (int y = 0; y < 11; y++)
    for (int x = 0; x < 30; x++) plane.at(x, y) = static_cast<uint8_t>(y % 2 ? 20 : 25);
  plane.at(3, 6) = 26;  // two below the row 4
  plane.at(4, 8) = 99;  // a row whose group is not whole
  const auto signature = plain(plane.sample_plane(), 8);
  ck_assert_uint_eq(signature->row_difference[0], 2 * 30 * 5);
  ck_assert_uint_eq(signature->row_difference[1], 1);
}
END_TEST

/* Columns that differ by 5 from one to the next, in the rows whose group of four is whole. */
START_TEST(columns_differ) {
  TestPlane<uint8_t> plane(30, 11);
  for (int y = 0; y < 11; y++)
    for (int x = 0; x < 30; x++) plane.at(x, y) = static_cast<uint8_t>(x % 2 ? 20 : 25);
  plane.at(29, 0) = 23;  // two further right than the last one that counts
  const auto signature = plain(plane.sample_plane(), 8);
  ck_assert_uint_eq(signature->column_difference[0], 2 * 28 * 5);
  ck_assert_uint_eq(signature->column_difference[1], 3);
}
END_TEST

/* The window of a wide plane is in its middle; that of a low one is all of its rows. */
START_TEST(known_profiles_of_chroma) {
  TestPlane<uint16_t> plane(515, 6);
  for (int y = 0; y < 6; y++)
    for (int x = 0; x < 515; x++) plane.at(x, y) = static_cast<uint16_t>(x + 1000 * y);
  const auto signature = plain(plane.sample_plane(), 16);
  const ChromaProfiles& profiles = signature->chroma_profiles[0];
  for (uint32_t i = 0; i < 512; i++) ck_assert_uint_eq(profiles.columns[i], 6 * (i + 1) + 15000);
  for (uint32_t j = 0; j < 512; j++)
    ck_assert_uint_eq(profiles.rows[j], j < 6 ? 512 * (1000 * j + 1) + 512 * 511 / 2 : 0);
}
END_TEST

/* Sums of white above 32 bits lose a bit; they do not wrap. */
START_TEST(large_pictures_do_not_overflow) {
  const int w = 2048, h = 80000, bpc = 16;
  ck_assert_int_eq(profile_shift(w, h, bpc), 1);
  const std::vector<uint16_t> row(static_cast<size_t>(w), 65535);
  for_each_cpu_target([&](const std::string&) {
    PictureSignature signature = {};
    std::vector<uint32_t> sums_of_columns(static_cast<size_t>(w));
    signature_profiles_simd({row.data(), 0, w, h}, bpc, sums_of_columns.data(), signature);
    for (int bin = 0; bin < kProfileBins; bin++)
      for (int band = 0; band < 2; band++) ck_assert_uint_eq(signature.columns[band][bin], 80000u * 65535ull >> 1);
  });
}
END_TEST

START_TEST(simd_equals_plain) {
  for_each_cpu_target([](const std::string& target) {
    for (int bpc = 8; bpc <= 16; bpc++)
      with_sample_type(bpc, [&]<class T>(T) {
        for (int w = 1 + bpc % 2; w <= 134; w += 2) check_all_fills<T>(target, w, 1 + w % 9, bpc);
      });
  });
}
END_TEST

/* Rows of cells with one to many sampled rows, cells of several vectors. */
START_TEST(simd_equals_plain_at_size) {
  for_each_cpu_target([](const std::string& target) {
    for (const int bpc : {8, 10, 16})
      with_sample_type(bpc, [&]<class T>(T) {
        for (const auto& [w, h] : {std::pair{200, 71}, {321, 145}, {1023, 1025}, {4163, 9}, {16384, 5}})
          check_all_fills<T>(target, w, h, bpc);
      });
  });
}
END_TEST

/* Buffers of exactly the samples: the sanitizers see every step outside. */
START_TEST(reads_only_samples) {
  for_each_cpu_target([](const std::string& target) {
    for (const int bpc : {8, 12, 16})
      with_sample_type(bpc, [&]<class T>(T) {
        for (int w = 1; w <= 134; w++) {
          const std::vector<T> samples(static_cast<size_t>(w) * 6, 77);
          assert_twins_agree(target, {samples.data(), static_cast<ptrdiff_t>(w * sizeof(T)), w, 6}, bpc, "tight");
        }
      });
  });
}
END_TEST

START_TEST(reads_chroma_that_is_there) {
  const auto reads = [](int w, int h, Chroma chroma) {
    return make_extractor(kSignatureExtractor, {.w = w, .h = h, .bpc = 8, .chroma = chroma})->reads();
  };
  ck_assert_uint_eq(reads(16, 16, Chroma::k420).ref, 7);
  ck_assert_uint_eq(reads(16, 16, Chroma::k420).dist, 7);
  ck_assert(reads(16, 16, Chroma::k420).every_frame);
  ck_assert_uint_eq(reads(1, 16, Chroma::k422).ref, 1);
  ck_assert_uint_eq(reads(1, 1, Chroma::k444).ref, 7);
  ck_assert_uint_eq(reads(16, 16, Chroma::k400).dist, 1);
}
END_TEST

/* Luma, Cb and Cr of both pictures, each in its place. */
START_TEST(frames_with_detail_have_all) {
  TestPair pair;
  const SignatureSums sums = sums_of({pair.frame(kDetailPeriod)}, kFormat).at(0);
  for (auto [planes, signature] : {std::pair{pair.ref, &sums.ref}, {pair.dist, &sums.dist}}) {
    auto want = plain(planes[0].sample_plane(), 8);
    for (int p = 0; p < 2; p++) {
      const auto chroma = plain(planes[1 + p].sample_plane(), 8);
      std::memcpy(want->chroma[p], chroma->chroma[0], sizeof want->chroma[p]);
      want->chroma_profiles[p] = chroma->chroma_profiles[0];
    }
    ck_assert(equal(*signature, *want));
  }
}
END_TEST

/* The other frames read no chroma: the planes need not be there. */
START_TEST(other_frames_have_luma) {
  TestPair pair;
  const SignatureSums whole = sums_of({pair.frame(0)}, kFormat).at(0);
  FrameSet frame = pair.frame(1);
  for (int p = 1; p < 3; p++) frame.ref.plane[p] = frame.dist.plane[p] = {};
  const SignatureSums sums = sums_of({frame}, kFormat).at(0);
  ck_assert(equal(sums.ref, without_detail(whole.ref)));
  ck_assert(equal(sums.dist, without_detail(whole.dist)));
}
END_TEST

/* Encodes of one picture that number it each for itself. */
START_TEST(encodes_have_detail_by_their_numbers) {
  TestPair pair;
  const SignatureSums whole = sums_of({pair.frame(0)}, kFormat).at(0);
  const auto sums = sums_of({pair.frame(1), pair.frame(0), pair.frame(2), pair.frame(2 * kDetailPeriod)}, kFormat);
  for (const size_t i : {0, 2}) {
    ck_assert(equal(sums[i].ref, without_detail(whole.ref)));
    ck_assert(equal(sums[i].dist, without_detail(whole.dist)));
  }
  for (const size_t i : {1, 3}) ck_assert(equal(sums[i].ref, whole.ref) && equal(sums[i].dist, whole.dist));
}
END_TEST

START_TEST(puts_no_scores) {
  TestPair pair;
  const auto signature = make_extractor(kSignatureExtractor, kFormat);
  const FrameSet frame = pair.frame(0);
  ck_assert(score_frame(*signature, frame.ref, frame.dist).of.empty());
  ck_assert(signature->features().empty());
}
END_TEST

int main() {
  return run_suite("signature", {{"known_cells", known_cells},
                                 {"few_samples", few_samples},
                                 {"known_profiles", known_profiles},
                                 {"combed", combed_rows_differ},
                                 {"columns_differ", columns_differ},
                                 {"known_profiles_of_chroma", known_profiles_of_chroma},
                                 {"overflow", large_pictures_do_not_overflow},
                                 {"simd_equals_plain", simd_equals_plain},
                                 {"simd_at_size", simd_equals_plain_at_size},
                                 {"reads_only_samples", reads_only_samples},
                                 {"chroma", reads_chroma_that_is_there},
                                 {"detail", frames_with_detail_have_all},
                                 {"luma", other_frames_have_luma},
                                 {"encodes", encodes_have_detail_by_their_numbers},
                                 {"no_scores", puts_no_scores}});
}
