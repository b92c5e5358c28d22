#include "kernels/xpsnr/xpsnr.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "tests/kernels/xpsnr/xpsnr_reference.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

VideoFormat format_of(int w, int h, int bpc = 8, Chroma chroma = Chroma::k400) {
  return {.w = w, .h = h, .bpc = bpc, .chroma = chroma};
}

XpsnrParams params_of(const VideoFormat& format, bool second_order = false) {
  return {format, xpsnr_grid(format, format.planes()), format.planes(), second_order};
}

std::unique_ptr<Extractor> make(const VideoFormat& format, const OptionTexts& given = {}) {
  return make_extractor(kXpsnrExtractor, format, given);
}

/* -- Sums ---------------------------------------------------------------------------------------------------------- */

/* A reference whose earlier pictures are the first ones of `lumas`. */
template <class T>
XpsnrReference reference_of(std::vector<TestPlane<T>>& lumas, bool second_order) {
  const auto plane = [&](size_t back) {
    return lumas[lumas.size() - 1 - std::min(back, lumas.size() - 1)].sample_plane();
  };
  return {plane(0), plane(1), plane(2), xpsnr_time_weights(second_order, lumas.size() > 1, lumas.size() > 2)};
}

template <class T>
std::vector<TestPlane<T>> filled(const VideoFormat& format, const std::vector<Fill>& fills) {
  std::vector<TestPlane<T>> lumas;
  for (const Fill fill : fills) {
    const int n = static_cast<int>(lumas.size());
    lumas.emplace_back(format.w, format.h, (format.w + n) % 5, n, n == 1);
    lumas.back().fill(fill, format.bpc, static_cast<uint32_t>(format.w + n));
  }
  return lumas;
}

void assert_twins_agree(const std::string& target, const XpsnrParams& params, const XpsnrReference& ref,
                        const SamplePlane& dist) {
  for (int n = 0; n < params.grid.blocks(); n++) {
    const XpsnrArea block = params.grid.block(0, n % params.grid.columns, n / params.grid.columns);
    const std::string where = format_text("%s %dx%d %d bit, block %d of %d", target.c_str(), params.format.w,
                                          params.format.h, params.format.bpc, n, params.grid.blocks());
    const uint64_t want_sse = xpsnr_sse_plain(ref.now, dist, block, params.format.bpc);
    ck_assert_msg(xpsnr_sse_simd(ref.now, dist, block, params.format.bpc) == want_sse, "%s: other squared errors",
                  where.c_str());
    if (!xpsnr_has_activity(params.grid, block)) continue;
    const XpsnrActivity want = xpsnr_activity_plain(params, ref, block), got = xpsnr_activity_simd(params, ref, block);
    ck_assert_msg(got.spatial == want.spatial && got.temporal == want.temporal,
                  "%s: activities %llu and %llu, the definition says %llu and %llu", where.c_str(),
                  static_cast<unsigned long long>(got.spatial), static_cast<unsigned long long>(got.temporal),
                  static_cast<unsigned long long>(want.spatial), static_cast<unsigned long long>(want.temporal));
  }
}

template <class T>
void assert_twins_agree(const std::string& target, const XpsnrParams& params, const std::vector<Fill>& fills) {
  std::vector<TestPlane<T>> lumas = filled<T>(params.format, fills);
  assert_twins_agree(target, params, reference_of(lumas, params.second_order), lumas[0].sample_plane());
}

/* The blocks of a picture that small pictures do not have: of this size, and those of pictures above HD. */
XpsnrParams with_blocks(const VideoFormat& format, int size, bool coarse, bool second_order) {
  XpsnrParams params = params_of(format, second_order);
  XpsnrGrid& grid = params.grid;
  grid.has_activity = 1;
  grid.coarse = coarse;
  grid.columns = (format.w + size - 1) / size;
  grid.rows = (format.h + size - 1) / size;
  grid.planes[0].block_w = grid.planes[0].block_h = size;
  return params;
}

/* -- Scores -------------------------------------------------------------------------------------------------------- */

using Sums = std::vector<XpsnrBlock>;

Scores score(const Extractor& xpsnr, const std::vector<Sums>& frames) {
  const auto scorer = xpsnr.make_scorer();
  Scores scores(xpsnr, kXpsnrExtractor.stream_value);
  for (size_t n = 0; n < frames.size(); n++) {
    ck_assert_uint_eq(frames[n].size() * sizeof(XpsnrBlock), xpsnr.sums_bytes());
    scorer->finalize(static_cast<int64_t>(n), frames[n].data(), scores);
  }
  ck_assert(scorer->flush(scores).ok());
  return scores;
}

/* All blocks alike, with so many samples of the high-pass each counting as much that their weight is 1 / activity. */
Sums alike(const VideoFormat& format, int activity) {
  const XpsnrGrid grid = xpsnr_grid(format, format.planes());
  Sums sums(static_cast<size_t>(grid.blocks()));
  for (int n = 0; n < grid.blocks(); n++) {
    const XpsnrArea inner = grid.inner(grid.block(0, n % grid.columns, n / grid.columns));
    sums[static_cast<size_t>(n)].spatial =
        static_cast<uint64_t>((inner.x1 - inner.x0) * (inner.y1 - inner.y0) * activity);
  }
  return sums;
}

/* √(16·2^(2·bpc-9) / √r) */
double of_picture(const VideoFormat& format) {
  const double ratio = static_cast<double>(format.w) * format.h / (3840.0 * 2160.0);
  return std::sqrt(16.0 * (1 << (2 * format.bpc - 9)) / std::sqrt(ratio));
}

double decibels(const VideoFormat& format, double wsse) {
  const double peak = (1 << format.bpc) - 1;
  return 10 * std::log10(peak * peak * format.w * format.h / wsse);
}

std::string names(const Extractor& xpsnr) {
  std::string line;
  for (const FeatureInfo& feature : xpsnr.features()) line += std::string(line.empty() ? "" : " ") + feature.name;
  return line;
}

/* -- Streams that FFmpeg has scored (xpsnr_reference.h) ------------------------------------------------------------ */

int wave(int at, int height) { return std::abs(at % (2 * height) - height); }

uint32_t noise(uint32_t x, uint32_t y, uint32_t t) {
  uint32_t h = x * 0x9E3779B1u ^ y * 0x85EBCA77u ^ t * 0xC2B2AE3Du;
  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  h = (h ^ h >> 12) * 0x297A2D39u;
  return h ^ h >> 15;
}

/* Waves that move over flat areas, with grain on one side; `dist` is coarser, here more and there less. */
int sample_of(const VideoFormat& format, int p, int x, int y, int t, bool dist) {
  const int cell = noise(static_cast<uint32_t>(x / 24), static_cast<uint32_t>(y / 20), 7) % 4;
  int value = (p ? 100 : 50) + cell * 17;
  if (cell > 1) value += wave(3 * x + y + (5 + p) * t, 30 * cell) + wave(4 * y + 2 * x - 3 * t, 20) / 2;
  value = value << 8;
  if (cell % 2)
    value +=
        static_cast<int>(noise(static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(t)) >> 20) -
        2048;
  if (dist) value = (value & ~((512 << (x / 40 + y / 30 + t) % 4) - 1)) + 300;
  return std::min(std::max(value, 0), 65535) >> (16 - format.bpc);
}

template <class T>
std::vector<T> plane_of(const VideoFormat& format, int p, int t, bool dist) {
  std::vector<T> samples;
  for (int y = 0; y < format.plane_h(p); y++)
    for (int x = 0; x < format.plane_w(p); x++) samples.push_back(static_cast<T>(sample_of(format, p, x, y, t, dist)));
  return samples;
}

template <class T>
class Stream {
 public:
  Stream(const VideoFormat& format, int frames) : format_(format) {
    for (int t = 0; t < frames; t++)
      for (const bool dist : {false, true})
        for (int p = 0; p < format.planes(); p++) planes_.push_back(plane_of<T>(format, p, t, dist));
  }

  Picture picture(int t, bool dist) const {
    Picture picture = {format_.bpc, {}};
    for (int p = 0; p < format_.planes(); p++)
      picture.plane[p] = {plane(t, dist, p).data(), static_cast<ptrdiff_t>(format_.row_bytes(p)), format_.plane_w(p),
                          format_.plane_h(p)};
    return picture;
  }

  FrameSet frame(int t) const {
    FrameSet frames;
    frames.index = t;
    frames.ref = picture(t, false);
    frames.dist = picture(t, true);
    for (int back = 1; back <= 2 && back <= t; back++) frames.earlier_ref[back - 1] = picture(t - back, false);
    return frames;
  }

  void write(const std::string& path, int frames, bool dist) const {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    ck_assert_msg(file, "%s cannot be written", path.c_str());
    for (int t = 0; t < frames; t++)
      for (int p = 0; p < format_.planes(); p++)
        std::fwrite(plane(t, dist, p).data(), sizeof(T), plane(t, dist, p).size(), file);
    ck_assert_int_eq(std::fclose(file), 0);
  }

 private:
  const std::vector<T>& plane(int t, bool dist, int p) const {
    return planes_[static_cast<size_t>((2 * t + dist) * format_.planes() + p)];
  }

  VideoFormat format_;
  std::vector<std::vector<T>> planes_;
};

template <class T>
Scores score(const Extractor& xpsnr, const Stream<T>& stream, int frames) {
  const auto scorer = xpsnr.make_scorer();
  Scores scores(xpsnr, kXpsnrExtractor.stream_value);
  const AlignedBytes sums = allocate_aligned(xpsnr.sums_bytes());
  for (int t = 0; t < frames; t++) {
    std::memset(sums.get(), 0, xpsnr.sums_bytes());
    xpsnr.extract(stream.frame(t), nullptr, sums.get());
    scorer->finalize(t, sums.get(), scores);
  }
  ck_assert(scorer->flush(scores).ok());
  return scores;
}

std::string name_of(const XpsnrReferenceStream& of) {
  constexpr const char* kPixels[] = {"gray", "yuv420p", "yuv422p", "yuv444p"};
  const std::string depth = of.format.bpc > 8 ? std::to_string(of.format.bpc) + "le" : "";
  return format_text("%dx%d_%s_%d", of.format.w, of.format.h,
                     (kPixels[static_cast<int>(of.format.chroma)] + depth).c_str(), of.fps);
}

}  // namespace

START_TEST(pictures_are_cut_into_blocks) {
  const auto blocks = [](int w, int h) {
    const XpsnrGrid grid = xpsnr_grid(format_of(w, h, 8, Chroma::k420), 3);
    return format_text("%dx%d of %dx%d and %dx%d%s%s", grid.columns, grid.rows, grid.planes[0].block_w,
                       grid.planes[0].block_h, grid.planes[1].block_w, grid.planes[1].block_h,
                       grid.has_activity ? "" : ", no activity", grid.coarse ? ", coarse" : "");
  };
  assert_text_eq(blocks(3840, 2160), "30x17 of 128x128 and 64x64, coarse");
  assert_text_eq(blocks(2048, 1153), "31x17 of 68x68 and 34x34, coarse");
  assert_text_eq(blocks(2048, 1152), "31x17 of 68x68 and 34x34");
  assert_text_eq(blocks(1920, 1080), "30x17 of 64x64 and 32x32");
  assert_text_eq(blocks(45, 45), "12x12 of 4x4 and 2x2");
  assert_text_eq(blocks(46, 44), "1x1 of 46x44 and 23x22, no activity");

  const XpsnrGrid grid = xpsnr_grid(format_of(45, 45, 8, Chroma::k420), 3);
  const XpsnrArea corner = grid.block(0, 11, 11), of_chroma = grid.block(1, 11, 11);
  ck_assert_int_eq(corner.x0, 44);
  ck_assert_int_eq(corner.x1, 45);
  ck_assert(!xpsnr_has_activity(grid, corner));  // all of it is border
  ck_assert(of_chroma.is_empty());
}
END_TEST

/* One bright sample: each tap of the high-pass meets it once, in all 12 + 4·2 + 4·1. */
START_TEST(known_high_pass) {
  const XpsnrParams params = with_blocks(format_of(9, 8), 12, false, false);
  TestPlane<uint8_t> luma(9, 8);
  luma.fill(Fill::kZero, 8, 1);
  luma.at(4, 3) = 200;
  const XpsnrReference ref = {luma.sample_plane(), luma.sample_plane(), luma.sample_plane(), {0, 0}};
  const XpsnrArea all = {0, 0, 9, 8};
  ck_assert_uint_eq(xpsnr_activity_plain(params, ref, all).spatial, 24 * 200);
  ck_assert_uint_eq(xpsnr_activity_plain(params, ref, all).temporal, 200);  // black before
  luma.at(4, 3) = 0;
  luma.at(0, 3) = 200;  // of its neighbors only those on the right have a high-pass
  ck_assert_uint_eq(xpsnr_activity_plain(params, ref, all).spatial, (1 + 2 + 1) * 200);
}
END_TEST

/* The high-pass above HD: every second tap both ways, 12 + 3 + 1, 3 + 2 + 1, and 1 + 1 + 0. */
START_TEST(known_coarse_high_pass) {
  XpsnrParams params = with_blocks(format_of(32, 24), 32, true, false);
  TestPlane<uint16_t> luma(32, 24);
  luma.fill(Fill::kZero, 12, 1);
  luma.at(12, 10) = 4000;
  const XpsnrReference ref = {luma.sample_plane(), luma.sample_plane(), luma.sample_plane(), {0, 0}};
  const XpsnrArea all = {0, 0, 32, 24};
  params.format.bpc = 12;
  ck_assert_uint_eq(xpsnr_activity_plain(params, ref, all).spatial, 24 * 4000);
  luma.at(13, 10) = 96;
  ck_assert_uint_eq(xpsnr_activity_plain(params, ref, all).temporal, 4096);  // the sum of 2x2

  /* A block that the border leaves twelve columns of has none, one of fourteen has. */
  const XpsnrParams narrow = with_blocks(format_of(46, 40), 32, true, false),
                    wide = with_blocks(format_of(48, 40), 32, true, false);
  TestPlane<uint8_t> board(48, 40);
  board.fill(Fill::kRandom, 8, 3);
  const SamplePlane whole = board.sample_plane(), less = {whole.data, whole.stride, 46, 40};
  ck_assert_uint_eq(xpsnr_activity_plain(narrow, {less, less, less, {0, 0}}, narrow.grid.block(0, 1, 0)).spatial, 0);
  ck_assert_uint_gt(xpsnr_activity_plain(wide, {whole, whole, whole, {0, 0}}, wide.grid.block(0, 1, 0)).spatial, 0);
}
END_TEST

START_TEST(known_difference_in_time) {
  const XpsnrArea all = {0, 0, 2, 2};
  std::vector<TestPlane<uint8_t>> lumas(3, TestPlane<uint8_t>(2, 2));
  for (auto& luma : lumas) luma.fill(Fill::kZero, 8, 1);
  lumas[0].at(1, 1) = 5;  // the one before the last
  lumas[1].at(1, 1) = 30;
  lumas[2].at(1, 1) = 10;
  const auto temporal = [&](bool second_order) {
    const XpsnrParams params = with_blocks(format_of(2, 2), 4, false, second_order);
    return xpsnr_activity_plain(params, reference_of(lumas, second_order), all).temporal;
  };
  ck_assert_uint_eq(temporal(false), 20);
  ck_assert_uint_eq(temporal(true), 45);  // |10 - 2·30 + 5|
  lumas.erase(lumas.begin());
  ck_assert_uint_eq(temporal(false), 20);
  ck_assert_uint_eq(temporal(true), 50);  // |10 - 2·30|
  lumas.erase(lumas.begin());
  ck_assert_uint_eq(temporal(true), 10);
}
END_TEST

START_TEST(simd_equals_plain) {
  for_each_cpu_target([](const std::string& target) {
    for (int bpc = 8; bpc <= 16; bpc++)
      with_sample_type(bpc, [&]<class T>(T) {
        for (int w = 1; w <= 134; w += every_under_sanitizers(3))
          for (const bool coarse : {false, true}) {
            const int size = 4 * (1 + w % 19), h = 3 + w % 23;
            assert_twins_agree<T>(target, with_blocks(format_of(w, h, bpc), size, coarse, w % 2),
                                  {Fill::kRandom, Fill::kGradient, Fill::kRandom});
          }
      });
  });
}
END_TEST

/* The largest sums that there are. */
START_TEST(simd_equals_plain_at_extremes) {
  for_each_cpu_target([](const std::string& target) {
    for (int bpc = 8; bpc <= 16; bpc++)
      with_sample_type(bpc, [&]<class T>(T) {
        for (const Fill fill : kFills)
          for (const bool coarse : {false, true})
            for (const std::vector<Fill>& fills :
                 {std::vector<Fill>{fill, Fill::kZero, Fill::kMax, fill}, {Fill::kMax, Fill::kZero, fill}, {fill}})
              assert_twins_agree<T>(target, with_blocks(format_of(150, 22, bpc), 72, coarse, true), fills);
      });
  });
}
END_TEST

/* Buffers of exactly the samples: the sanitizers see every step outside. */
START_TEST(reads_only_samples) {
  for_each_cpu_target([](const std::string& target) {
    for (const int bpc : {8, 11, 16})
      with_sample_type(bpc, [&]<class T>(T) {
        for (int w = 1; w <= 134; w++)
          for (const bool coarse : {false, true}) {
            const int h = 6 + w % 5, size = 4 * (1 + w % 19);
            const std::vector<T> samples(static_cast<size_t>(w * h), 7), others(static_cast<size_t>(w * h), 77);
            const ptrdiff_t stride = w * static_cast<ptrdiff_t>(sizeof(T));
            const SamplePlane now = {samples.data(), stride, w, h}, other = {others.data(), stride, w, h};
            assert_twins_agree(target, with_blocks(format_of(w, h, bpc), size, coarse, true),
                               {now, other, other, {2, 1}}, other);
          }
      });
  });
}
END_TEST

/* The widest blocks that there are. */
START_TEST(very_wide_rows) {
  for_each_cpu_target([](const std::string& target) {
    for (const int bpc : {8, 9, 11, 16})
      with_sample_type(bpc, [&]<class T>(T) {
        for (const bool coarse : {false, true})
          assert_twins_agree<T>(target, with_blocks(format_of(65536, 6, bpc), 2912, coarse, true),
                                {Fill::kZero, Fill::kMax, Fill::kCheckerboard});
      });
  });
}
END_TEST

START_TEST(features_follow_options_and_format) {
  const VideoFormat color = format_of(64, 64, 8, Chroma::k420);
  assert_text_eq(names(*make(color)), "xpsnr_y xpsnr_cb xpsnr_cr xpsnr");
  assert_text_eq(names(*make(color, {{"enable_chroma", "false"}})), "xpsnr_y xpsnr");
  assert_text_eq(names(*make(format_of(64, 64))), "xpsnr_y xpsnr");
  assert_text_eq(names(*make(format_of(1, 16, 8, Chroma::k422))), "xpsnr_y xpsnr");
  ck_assert_uint_eq(make(color)->reads().dist, 7);
  ck_assert_uint_eq(make(color, {{"enable_chroma", "false"}})->reads().ref, 1);
}
END_TEST

/* The option counts, else what the video says; 32 is the first that looks at three pictures. */
START_TEST(history_follows_the_frame_rate) {
  VideoFormat format = format_of(64, 64);
  const auto history = [&](const OptionTexts& options) {
    const Reads reads = make(format, options)->reads();
    ck_assert(reads.every_frame);
    ck_assert_int_eq(reads.reach.before, reads.history);
    return reads.history;
  };
  ck_assert_int_eq(history({}), 1);
  ck_assert_int_eq(history({{"fps", "32"}}), 2);
  ck_assert_int_eq(history({{"fps", "31.97"}}), 1);
  format.fps = 50;
  ck_assert_int_eq(history({}), 2);
  ck_assert_int_eq(history({{"fps", "25"}}), 1);
  ck_assert_int_eq(make(format_of(16, 16), {{"fps", "50"}})->reads().history, 0);  // without activity
}
END_TEST

START_TEST(small_pictures_have_their_psnr) {
  const VideoFormat format = format_of(10, 10, 10);
  const auto xpsnr = make(format);
  Scores scores = score(*xpsnr, {{{{400, 0, 0}, 0, 0}}, {{{0, 0, 0}, 0, 0}}});
  scores.expect("xpsnr_y 0", decibels(format, 400), 1e-12);
  ck_assert(std::isinf(scores.of.at("xpsnr_y 1")));
  scores.expect("axpsnr_y", decibels(format, 10 * 10), 1e-12);  // of the mean of the roots, 20 and 0
}
END_TEST

START_TEST(errors_weigh_less_where_there_is_activity) {
  const VideoFormat format = format_of(644, 480);
  const double a = of_picture(format);
  Sums sums = alike(format, 10);
  for (XpsnrBlock& block : sums) block.sse[0] = 1000;
  const double blocks = static_cast<double>(sums.size());
  const auto expect = [&](double weights) {
    score(*make(format), {sums}).expect("xpsnr_y 0", decibels(format, std::floor(1000 * weights * a + 0.5)), 1e-9);
  };
  expect(blocks / 10);
  sums[40].temporal = 5 * 24 * 24;  // whose block is 24x24, and counts twice
  expect((blocks - 1) / 10 + 1.0 / 20);
  sums[40] = {{1000, 0, 0}, 0, 0};  // the least activity
  expect((blocks - 1) / 10 + 1.0 / 4);
}
END_TEST

/* Up to 640x480 no weight is larger than those of all its neighbors on the left, above and on the right. */
START_TEST(weights_are_smoothed_in_small_pictures) {
  const VideoFormat format = format_of(48, 48);  // 12x12 blocks
  const double a = of_picture(format);
  const auto wsse = [&](const std::vector<size_t>& flat, size_t at) {
    Sums sums = alike(format, 10);
    for (const size_t block : flat) sums[block].spatial = 0;
    sums[at].sse[0] = 100000;
    Scores scores = score(*make(format), {sums});
    return 255.0 * 255 * 48 * 48 / std::pow(10, scores.of.at("xpsnr_y 0") / 10);
  };
  const double busy = std::floor(10000 * a + 0.5), calm = std::floor(25000 * a + 0.5);
  ck_assert_double_eq_tol(wsse({}, 30), busy, 1e-6);
  ck_assert_double_eq_tol(wsse({30}, 30), busy, 1e-6);      // alone
  ck_assert_double_eq_tol(wsse({30, 31}, 30), calm, 1e-6);  // as the one on its right was, before that was smoothed
  ck_assert_double_eq_tol(wsse({30, 31}, 31), calm, 1e-6);
  ck_assert_double_eq_tol(wsse({30, 42}, 30), busy, 1e-6);  // the one below does not count
  ck_assert_double_eq_tol(wsse({23, 24}, 23), busy, 1e-6);  // nor the first of the next row
  ck_assert_double_eq_tol(wsse({143}, 143), busy, 1e-6);
  ck_assert_double_eq_tol(wsse({0}, 0), busy, 1e-6);
}
END_TEST

START_TEST(planes_and_the_least_of_them) {
  const VideoFormat format = format_of(644, 480, 8, Chroma::k420);
  const double a = of_picture(format);
  Sums sums = alike(format, 8);
  sums[0].sse[0] = 800;
  sums[1].sse[1] = 8000;
  Scores scores = score(*make(format), {sums, sums});
  VideoFormat chroma = format;
  chroma.w = chroma.w / 2, chroma.h = chroma.h / 2;
  scores.expect("xpsnr_y 0", decibels(format, std::floor(100 * a + 0.5)), 1e-9);
  scores.expect("xpsnr_cb 0", decibels(chroma, std::floor(1000 * a + 0.5)), 1e-9);
  ck_assert(std::isinf(scores.of.at("xpsnr_cr 0")));
  scores.expect("xpsnr 0", scores.of.at("xpsnr_cb 0"));
  scores.expect("axpsnr_y", scores.of.at("xpsnr_y 0"), 1e-9);
  scores.expect("axpsnr", scores.of.at("axpsnr_cb"));
  ck_assert(std::isinf(scores.of.at("axpsnr_cr")));
}
END_TEST

/* Σ √wsse below the number of frames: the mean of the scores, which is infinite as soon as one is. */
START_TEST(stream_with_hardly_any_error) {
  const VideoFormat format = format_of(644, 480);
  const double a = of_picture(format);
  Sums none = alike(format, 1000), one = none;
  one[0].sse[0] = static_cast<uint64_t>(std::ceil(2000 / a));
  ck_assert(std::isinf(score(*make(format), {none, one, none}).of.at("axpsnr_y")));
  ck_assert(!score(*make(format, {{"enable_axpsnr", "false"}}), {one}).of.count("axpsnr_y"));
  ck_assert(score(*make(format), {}).of.empty());
}
END_TEST

/* With XPSNR_RECORD=DIR it writes the streams there, for FFmpeg. */
START_TEST(scores_are_those_of_ffmpeg) {
  const XpsnrReferenceStream& want = kXpsnrReference[static_cast<size_t>(_i)];
  constexpr const char* kKeys[] = {"xpsnr_y", "xpsnr_cb", "xpsnr_cr"};
  with_sample_type(want.format.bpc, [&]<class T>(T) {
    const Stream<T> stream(want.format, kXpsnrReferenceFrames);
    if (const char* folder = std::getenv("XPSNR_RECORD"))
      for (const bool dist : {false, true})
        stream.write(folder + ("/" + name_of(want)) + (dist ? ".dist" : ".ref"), kXpsnrReferenceFrames, dist);
    VideoFormat format = want.format;
    format.fps = want.fps;
    Scores scores = score(*make(format), stream, kXpsnrReferenceFrames);
    for (int p = 0; p < format.planes(); p++) {
      for (int t = 0; t < kXpsnrReferenceFrames; t++)
        scores.expect(Scores::name(kKeys[p], t).c_str(), want.frames[t][p], kXpsnrReferenceWithin);
      scores.expect((std::string("a") + kKeys[p]).c_str(), want.stream[p], kXpsnrStreamWithin);
    }
  });
}
END_TEST

int main() {
  std::vector<NamedTest> tests = {{"blocks", pictures_are_cut_into_blocks},
                                  {"high_pass", known_high_pass},
                                  {"coarse_high_pass", known_coarse_high_pass},
                                  {"time", known_difference_in_time},
                                  {"simd_equals_plain", simd_equals_plain},
                                  {"extremes", simd_equals_plain_at_extremes},
                                  {"reads_only_samples", reads_only_samples},
                                  {"wide_rows", very_wide_rows},
                                  {"features", features_follow_options_and_format},
                                  {"frame_rate", history_follows_the_frame_rate},
                                  {"small", small_pictures_have_their_psnr},
                                  {"weights", errors_weigh_less_where_there_is_activity},
                                  {"smoothing", weights_are_smoothed_in_small_pictures},
                                  {"planes", planes_and_the_least_of_them},
                                  {"hardly_any_error", stream_with_hardly_any_error}};
  for (int i = 0; i < static_cast<int>(std::size(kXpsnrReference)); i++)
    tests.push_back({"ffmpeg", scores_are_those_of_ffmpeg, i});
  return run_suite("xpsnr", tests);
}
