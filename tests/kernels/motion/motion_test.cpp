#include "kernels/motion/motion.h"

#include <check.h>

#include <string>
#include <vector>

#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

/* -- Sums ---------------------------------------------------------------------------------------------------------- */

using Twin = decltype(&motion_sad_plain);

uint64_t sad_of(Twin twin, const SamplePlane& earlier, const SamplePlane& current, int bpc) {
  const TestScratch scratch(motion_scratch_bytes({{.w = current.w}, 1, false}));
  return twin(earlier, current, bpc, scratch.get());
}

void assert_twins_agree(const std::string& target, const SamplePlane& earlier, const SamplePlane& current, int bpc,
                        const std::string& what) {
  const uint64_t want = sad_of(motion_sad_plain, earlier, current, bpc);
  const uint64_t got = sad_of(motion_sad_simd, earlier, current, bpc);
  ck_assert_msg(got == want, "%s %dx%d %d bit %s: %llu, the definition says %llu", target.c_str(), current.w, current.h,
                bpc, what.c_str(), static_cast<unsigned long long>(got), static_cast<unsigned long long>(want));
}

template <class T>
void check_all_fills(const std::string& target, int w, int h, int bpc) {
  TestPlane<T> earlier(w, h, w % 5, w % 3, w % 2), current(w, h, w % 7, h % 4, h % 2);
  for (const Fill a : kFills) {
    earlier.fill(a, bpc, w + 1);
    for (const Fill b : kFills) {
      current.fill(b, bpc, w + 2);
      assert_twins_agree(target, earlier.sample_plane(), current.sample_plane(), bpc,
                         std::string(fill_name(a)) + " against " + fill_name(b));
    }
  }
}

/* -- Scores -------------------------------------------------------------------------------------------------------- */

constexpr VideoFormat kSmall = {.w = 16, .h = 16, .bpc = 8, .chroma = Chroma::k420};

/* The sum of a 16x16 frame whose score is `sad`, for multiples of 1/65536. */
MotionSums sums_for(double sad) { return {static_cast<uint64_t>(sad * 65536)}; }

std::unique_ptr<Extractor> make(const OptionTexts& given, const VideoFormat& format = kSmall) {
  return make_extractor(kMotionExtractor, format, given);
}

constexpr const char* kSad = "VMAF_integer_feature_motion_sad_score";

/* Scores a stream whose frames have these sums; expects sad, motion2 and motion3. */
void expect(const OptionTexts& options, const std::vector<double>& sums, const char* sad, const char* motion2,
            const char* motion3) {
  const auto motion = make(options);
  const auto scorer = motion->make_scorer();
  Scores scores(*motion);
  for (size_t n = 0; n < sums.size(); n++) {
    const MotionSums frame = sums_for(sums[n]);
    scorer->finalize(n, &frame, scores);
  }
  ck_assert(scorer->flush(scores).ok());
  const int frames = static_cast<int>(sums.size());
  assert_text_eq(scores.text(kSad, frames), sad);
  assert_text_eq(scores.text("integer_motion2", frames), motion2);
  assert_text_eq(scores.text("integer_motion3", frames), motion3);
}

}  // namespace

START_TEST(impulse_and_shift) {
  /* A lone difference of 1 at 8 bit: the columns are 14 63 103 63 14, their rows add up to 14 61 103 61 14. */
  TestPlane<uint8_t> earlier(9, 9), current(9, 9);
  earlier.fill(Fill::kZero, 8, 1);
  current.fill(Fill::kZero, 8, 1);
  current.at(4, 4) = 1;
  ck_assert_uint_eq(sad_of(motion_sad_plain, earlier.sample_plane(), current.sample_plane(), 8), 253);

  /* All of a frame brighter by the whole range: each sample counts 256 times the difference at 8 bit. */
  earlier.fill(Fill::kMax, 8, 1);
  current.fill(Fill::kZero, 8, 1);
  ck_assert_uint_eq(sad_of(motion_sad_plain, earlier.sample_plane(), current.sample_plane(), 8), 81 * 256 * 255);

  TestPlane<uint16_t> dark(9, 9), bright(9, 9);
  dark.fill(Fill::kZero, 16, 1);
  bright.fill(Fill::kMax, 16, 1);
  ck_assert_uint_eq(sad_of(motion_sad_plain, dark.sample_plane(), bright.sample_plane(), 16), 81 * 65535);
}
END_TEST

START_TEST(simd_equals_plain) {
  for_each_cpu_target([](const std::string& target) {
    for (int bpc = 8; bpc <= 16; bpc++)
      with_sample_type(bpc, [&]<class T>(T) {
        for (int w = kMotionMinSize; w <= 70; w++) check_all_fills<T>(target, w, 3 + w % 5, bpc);
        check_all_fills<T>(target, 131, 37, bpc);
      });
  });
}
END_TEST

START_TEST(rows_that_stand_still) {
  static constexpr int kW = 75, kH = 23;
  for_each_cpu_target([](const std::string& target) {
    for (const int bpc : {8, 10, 16})
      with_sample_type(bpc, [&]<class T>(T) {
        for (int y = 0; y < kH; y++) {
          TestPlane<T> earlier(kW, kH), current(kW, kH);
          earlier.fill(Fill::kRandom, bpc, 7);
          current.fill(Fill::kRandom, bpc, 7);
          for (int x = 0; x < kW; x++) current.at(x, y) ^= x % 3;
          assert_twins_agree(target, earlier.sample_plane(), current.sample_plane(), bpc, "one row moves");
        }
      });
  });
}
END_TEST

/* Differences of half the range and around it, of both signs: a blurred column just fits in 16 bits, or just does
 * not. */
START_TEST(differences_of_half_the_range) {
  static constexpr int kW = 75, kH = 9;
  for_each_cpu_target([](const std::string& target) {
    for (const int bpc : {8, 10, 14})
      with_sample_type(bpc, [&]<class T>(T) {
        const int half = 1 << (bpc - 1);
        for (int diff = half - 2; diff <= half + 1; diff++)
          for (int rows = 1; rows <= kH; rows += 4) {
            TestPlane<T> earlier(kW, kH), current(kW, kH);
            earlier.fill(Fill::kZero, bpc, 1);
            current.fill(Fill::kZero, bpc, 1);
            for (int y = 0; y < rows; y++)
              for (int x = 0; x < kW; x++) (x % 8 < 4 ? current : earlier).at(x, y) = static_cast<T>(diff);
            assert_twins_agree(target, earlier.sample_plane(), current.sample_plane(), bpc,
                               "rows that differ by " + std::to_string(diff));
          }
      });
  });
}
END_TEST

START_TEST(very_wide_rows) {
  constexpr int kW = (1 << 17) + 37;
  for_each_cpu_target([](const std::string& target) {
    TestPlane<uint8_t> earlier(kW, 3), current(kW, 3);
    earlier.fill(Fill::kMax, 8, 1);
    current.fill(Fill::kZero, 8, 1);
    assert_twins_agree(target, earlier.sample_plane(), current.sample_plane(), 8, "max against zero");
    earlier.fill(Fill::kRandom, 8, 1);
    assert_twins_agree(target, earlier.sample_plane(), current.sample_plane(), 8, "random against zero");
  });
}
END_TEST

/* Buffers of exactly the samples: the sanitizers see every step outside. */
START_TEST(reads_only_samples) {
  for_each_cpu_target([](const std::string& target) {
    for (const int bpc : {8, 12, 16})
      with_sample_type(bpc, [&]<class T>(T) {
        for (int w = kMotionMinSize; w <= 130; w++) {
          const std::vector<T> earlier(w * 4, 1), current(w * 4, 77);
          const ptrdiff_t stride = w * sizeof(T);
          assert_twins_agree(target, {earlier.data(), stride, w, 4}, {current.data(), stride, w, 4}, bpc, "tight");
        }
      });
  });
}
END_TEST

START_TEST(extract_picks_the_earlier_frame) {
  TestPlane<uint8_t> planes[3] = {{16, 16}, {16, 16}, {16, 16}};
  for (int i = 0; i < 3; i++) planes[i].fill(Fill::kRandom, 8, i);
  const auto picture = [&](int i) { return Picture{.bpc = 8, .plane = {planes[i].sample_plane()}}; };
  const auto sad = [&](const OptionTexts& options, int64_t index) {
    const auto motion = make(options);
    const TestScratch scratch(motion->scratch_bytes());
    MotionSums sums = {};
    FrameSet frames{.index = index, .ref = picture(0), .dist = {}, .earlier_ref = {}};
    if (index > 0) frames.earlier_ref[0] = picture(1);
    if (index > 1) frames.earlier_ref[1] = picture(2);
    motion->extract(frames, scratch.get(), &sums);
    return sums.sad;
  };
  const auto want = [&](int i) {
    return sad_of(motion_sad_plain, planes[i].sample_plane(), planes[0].sample_plane(), 8);
  };
  ck_assert_uint_ne(want(1), want(2));
  ck_assert_uint_eq(sad({}, 0), 0);
  ck_assert_uint_eq(sad({}, 1), want(1));
  ck_assert_uint_eq(sad({}, 2), want(1));
  ck_assert_uint_eq(sad({{"motion_five_frame_window", "true"}}, 1), 0);
  ck_assert_uint_eq(sad({{"motion_five_frame_window", "true"}}, 2), want(2));
  ck_assert_uint_eq(sad({{"motion_force_zero", "true"}}, 2), 0);
}
END_TEST

START_TEST(reads) {
  const Reads plain = make({})->reads();
  ck_assert(plain.ref == 1 && plain.dist == 0 && plain.history == 1 && plain.every_frame);
  ck_assert_int_eq(make({{"motion_five_frame_window", "true"}})->reads().history, 2);
  const Reads zero = make({{"motion_force_zero", "true"}})->reads();
  ck_assert(zero.ref == 0 && zero.dist == 0 && zero.history == 0);
}
END_TEST

START_TEST(scores_by_default) {
  expect({}, {9, 4, 2, 6, 1}, "0 4 2 6 1", "0 2 2 1 1", "4 2 2 1 1");
  expect({}, {9}, "0", "0", "0");
  expect({}, {9, 4}, "0 4", "0 4", "4 4");
  expect({}, {9, 4, 2}, "0 4 2", "0 2 2", "4 2 2");
  expect({}, {}, "", "", "");
}
END_TEST

START_TEST(scores_of_five_frames) {
  const OptionTexts five = {{"motion_five_frame_window", "true"}};
  expect(five, {9, 9, 5, 3, 7, 2}, "0 0 5 3 7 2", "0 0 3 5 2 2", "5 5 3 5 2 2");
  expect(five, {9}, "0", "0", "0");
  expect(five, {9, 9}, "0 0", "0 0", "0 0");
  expect(five, {9, 9, 5}, "0 0 5", "0 0 5", "5 5 5");
  expect(five, {9, 9, 5, 8}, "0 0 5 8", "0 0 8 8", "5 5 8 8");
}
END_TEST

START_TEST(scores_of_a_moving_average) {
  expect({{"motion_moving_average", "true"}}, {9, 4, 2, 6, 1}, "0 4 2 6 1", "0 2 2 1 1", "4 3 2 1.5 1");
  expect({{"motion_moving_average", "true"}, {"motion_five_frame_window", "true"}}, {9, 9, 5, 3, 7, 2}, "0 0 5 3 7 2",
         "0 0 3 5 2 2", "5 5 4 4 3.5 2");
  expect({{"motion_moving_average", "true"}}, {9}, "0", "0", "0");
}
END_TEST

START_TEST(scores_blended_weighted_clipped) {
  expect({{"motion_blend_factor", "0.5"}, {"motion_blend_offset", "3"}}, {9, 4, 2, 6}, "0 4 2 6", "0 2 2 6",
         "3.5 2 2 4.5");
  expect({{"motion_max_val", "3"}}, {9, 4, 2, 6}, "0 3 2 3", "0 2 2 3", "3 2 2 3");
  expect({{"motion_fps_weight", "0.5"}}, {9, 4, 2, 6}, "0 2 1 3", "0 1 1 3", "2 1 1 3");
  expect({{"motion_fps_weight", "2"}, {"motion_max_val", "10"}}, {9, 4, 2, 6}, "0 8 4 10", "0 4 4 10", "8 4 4 10");
  expect({{"motion_force_zero", "true"}}, {0, 0, 0}, "0 0 0", "0 0 0", "0 0 0");
}
END_TEST

START_TEST(debug_adds_motion) {
  const auto motion = make({{"debug", "true"}});
  ck_assert_uint_eq(motion->features().size(), 4);
  const auto scorer = motion->make_scorer();
  Scores scores(*motion);
  for (int n = 0; n < 3; n++) {
    const MotionSums sums = sums_for(n + 1);
    scorer->finalize(n, &sums, scores);
  }
  ck_assert(scorer->flush(scores).ok());
  assert_text_eq(scores.text(kSad, 3), "0 2 3");
  assert_text_eq(scores.text("integer_motion", 3), "0 2 3");
  assert_text_eq(scores.text("integer_motion2", 3), "0 2 3");
  assert_text_eq(scores.text("integer_motion3", 3), "2 2 3");
}
END_TEST

/* Two encodes of one extractor, frame by frame in turns. */
START_TEST(scorers_do_not_share_a_stream) {
  const auto motion = make({});
  Scores of_one(*motion), of_other(*motion);
  const auto one = motion->make_scorer(), other = motion->make_scorer();
  for (int n = 0; n < 3; n++) {
    const MotionSums sums = sums_for(n + 1), larger = sums_for(10 * (n + 1));
    one->finalize(n, &sums, of_one);
    other->finalize(n, &larger, of_other);
  }
  ck_assert(one->flush(of_one).ok() && other->flush(of_other).ok());
  assert_text_eq(of_one.text("integer_motion2", 3), "0 2 3");
  assert_text_eq(of_other.text("integer_motion2", 3), "0 20 30");
  assert_text_eq(of_one.text("integer_motion3", 3), "2 2 3");
  assert_text_eq(of_other.text("integer_motion3", 3), "20 20 30");
}
END_TEST

START_TEST(looks_one_frame_ahead) {
  const auto motion = make({});
  const auto scorer = motion->make_scorer();
  Scores scores(*motion);
  const auto add = [&](int n) {
    const MotionSums sums = sums_for(n);
    scorer->finalize(n, &sums, scores);
  };
  add(0);
  assert_text_eq(scores.text(kSad, 2), "0 -");
  assert_text_eq(scores.text("integer_motion2", 2), "0 -");
  assert_text_eq(scores.text("integer_motion3", 2), "- -");
  add(1);
  assert_text_eq(scores.text(kSad, 2), "0 1");
  assert_text_eq(scores.text("integer_motion2", 2), "0 -");
  assert_text_eq(scores.text("integer_motion3", 2), "1 -");
  add(2);
  assert_text_eq(scores.text("integer_motion2", 3), "0 1 -");
  assert_text_eq(scores.text("integer_motion3", 3), "1 1 -");
  ck_assert(scorer->flush(scores).ok());
  assert_text_eq(scores.text("integer_motion3", 3), "1 1 2");
}
END_TEST

START_TEST(sizes_below_the_blur_are_refused) {
  for (const auto& [w, h] : {std::pair(2, 16), std::pair(16, 2), std::pair(1, 1)}) {
    const VideoFormat format = {.w = w, .h = h, .bpc = 8, .chroma = Chroma::k400};
    assert_contains(refusal(kMotionExtractor, format), "at least 3x3");
    make({{"motion_force_zero", "true"}}, format);
  }
}
END_TEST

int main() {
  return run_suite("motion", {{"impulse", impulse_and_shift},
                              {"simd_equals_plain", simd_equals_plain},
                              {"still_rows", rows_that_stand_still},
                              {"half_the_range", differences_of_half_the_range},
                              {"wide_rows", very_wide_rows},
                              {"reads_only_samples", reads_only_samples},
                              {"extract", extract_picks_the_earlier_frame},
                              {"reads", reads},
                              {"default", scores_by_default},
                              {"five_frames", scores_of_five_frames},
                              {"moving_average", scores_of_a_moving_average},
                              {"blend", scores_blended_weighted_clipped},
                              {"debug", debug_adds_motion},
                              {"scorers", scorers_do_not_share_a_stream},
                              {"look_ahead", looks_one_frame_ahead},
                              {"too_small", sizes_below_the_blur_are_refused}});
}
