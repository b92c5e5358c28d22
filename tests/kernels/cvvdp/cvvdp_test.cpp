#include "kernels/cvvdp/cvvdp.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "kernels/cvvdp/cvvdp_display.h"
#include "kernels/cvvdp/cvvdp_params.h"
#include "tests/kernels/cvvdp/cvvdp_reference.h"
#include "tests/support/check_main.h"
#include "tests/support/converted.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

constexpr int kSdr = 1, kPq = 16, kHlg = 18;  // transfers

VideoFormat format_of(int w, int h, int bpc = 8, Chroma chroma = Chroma::k420, int transfer = kSdr, double fps = 24) {
  return {.w = w,
          .h = h,
          .bpc = bpc,
          .chroma = chroma,
          .color = {.matrix = transfer == kSdr ? 1 : 9, .transfer = transfer, .range = Color::Range::kLimited},
          .fps = fps};
}

CvvdpParams params_of(const VideoFormat& format, const std::string& display = "", double pixels_per_degree = 0) {
  auto params = cvvdp_params({.display = display, .pixels_per_degree = pixels_per_degree, .fps = format.fps}, format);
  ck_assert_msg(params.ok(), "%s", params.status().message().c_str());
  return params.value();
}

std::unique_ptr<Extractor> make(const VideoFormat& format, const OptionTexts& given = {}) {
  return make_extractor(kCvvdpExtractor, format, given);
}

std::string refused(const VideoFormat& format, const OptionTexts& given = {}) {
  return refusal(kCvvdpExtractor, format, given);
}

/* -- Streams: waves that move over flat areas, with grain here and there; `dist` is coarser in some of them, and pal */

int wave(int at, int height) { return std::abs(at % (2 * height) - height); }

uint32_t noise(uint32_t x, uint32_t y, uint32_t t) {
  uint32_t h = x * 0x9E3779B1u ^ y * 0x85EBCA77u ^ t * 0xC2B2AE3Du;
  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  h = (h ^ h >> 12) * 0x297A2D39u;
  return h ^ h >> 15;
}

int sample_of(const VideoFormat& format, int p, int x, int y, int t, bool dist) {
  const auto u = [](int i) { return static_cast<uint32_t>(i); };
  const int area = static_cast<int>(noise(u(x / 24), u(y / 20), u(p)) % 4);
  int value =
      (p ? 112 : 60 + 20 * area) + wave(3 * x + y + (5 + p) * t, 30 + 10 * area) + wave(2 * y - 3 * t + 900, 12);
  value *= 256;
  if (area % 2) value += static_cast<int>(noise(u(x), u(y), u(t)) >> 20) - 2048;
  if (dist) value = (value & ~((512 << (x / 40 + y / 30 + t) % 4) - 1)) + (p ? -700 : 300);
  return std::clamp(value, 0, 65535) >> (16 - format.bpc);
}

class Stream {
 public:
  Stream(const VideoFormat& format, int frames) : format_(format) {
    for (int t = 0; t < frames; t++)
      for (const bool dist : {false, true}) {
        planes_.emplace_back();
        for (int p = 0; p < format.planes(); p++) planes_.back().push_back(plane_of(p, t, dist));
      }
  }

  int frames() const { return static_cast<int>(planes_.size()) / 2; }

  std::vector<Picture> pictures(bool dist) const {
    std::vector<Picture> pictures;
    for (size_t i = dist; i < planes_.size(); i += 2) {
      pictures.push_back({format_.bpc, {}});
      for (int p = 0; p < format_.planes(); p++)
        pictures.back().plane[p] = {planes_[i][p].data(), static_cast<ptrdiff_t>(format_.row_bytes(p)),
                                    format_.plane_w(p), format_.plane_h(p)};
    }
    return pictures;
  }

  void write(const std::string& path, bool dist) const {
    std::ofstream file(path, std::ios::binary);
    for (size_t i = dist; i < planes_.size(); i += 2)
      for (const std::vector<uint8_t>& plane : planes_[i])
        file.write(reinterpret_cast<const char*>(plane.data()), static_cast<std::streamsize>(plane.size()));
    file.close();
    ck_assert_msg(file.good(), "%s cannot be written", path.c_str());
  }

 private:
  std::vector<uint8_t> plane_of(int p, int t, bool dist) const {
    std::vector<uint8_t> bytes;
    for (int y = 0; y < format_.plane_h(p); y++)
      for (int x = 0; x < format_.plane_w(p); x++) {
        const int sample = sample_of(format_, p, x, y, t, dist);
        bytes.push_back(static_cast<uint8_t>(sample));
        if (format_.bpc > 8) bytes.push_back(static_cast<uint8_t>(sample >> 8));
      }
    return bytes;
  }

  const VideoFormat format_;
  std::vector<std::vector<std::vector<uint8_t>>> planes_;  // ref and dist in turn
};

/* -- Scores -------------------------------------------------------------------------------------------------------- */

std::vector<double> scores_of(const Extractor& cvvdp, std::span<const Picture> refs, std::span<const Picture> dists) {
  const auto scorer = cvvdp.make_scorer();
  Scores scores(cvvdp);
  const AlignedBytes sums = allocate_aligned(cvvdp.sums_bytes());
  const TestScratch scratch(cvvdp.scratch_bytes());
  for (size_t t = 0; t < refs.size(); t++) {
    const ConvertedFrame converted(cvvdp, refs.first(t + 1), dists.first(t + 1));
    FrameSet frame;
    frame.index = static_cast<int64_t>(t);
    converted.show(frame);
    std::memset(sums.get(), 0, cvvdp.sums_bytes());
    cvvdp.extract(frame, scratch.get(), sums.get());
    scorer->finalize(frame.index, sums.get(), scores);
  }
  ck_assert(scorer->flush(scores).ok());
  std::vector<double> of;
  for (size_t t = 0; t < refs.size(); t++) of.push_back(scores.of.at(Scores::name("cvvdp", static_cast<int64_t>(t))));
  return of;
}

std::vector<double> scores_of(const Extractor& cvvdp, const Stream& stream) {
  return scores_of(cvvdp, stream.pictures(false), stream.pictures(true));
}

double mean_of(std::span<const double> scores) { return kCvvdpExtractor.features[0].mean(scores); }

double score_of(const VideoFormat& format, int frames = 1, const OptionTexts& given = {}) {
  return mean_of(scores_of(*make(format, given), Stream(format, frames)));
}

/* -- Twins --------------------------------------------------------------------------------------------------------- */

struct TestPicture {
  TestPicture(const VideoFormat& format, Fill fill, uint32_t seed) : bpc(format.bpc) {
    for (int p = 0; p < format.planes(); p++)
      if (bpc == 8) add(bytes, format, p, fill, seed);
      else add(words, format, p, fill, seed);
  }

  template <class T>
  void add(std::vector<TestPlane<T>>& planes, const VideoFormat& format, int p, Fill fill, uint32_t seed) {
    planes.emplace_back(format.plane_w(p), format.plane_h(p), (format.w + p) % 5, p, p == 2);
    planes.back().fill(fill, bpc, seed + static_cast<uint32_t>(p));
  }

  Picture view() {
    Picture picture{bpc, {}};
    size_t p = 0;
    for (auto& plane : bytes) picture.plane[p++] = plane.sample_plane();
    for (auto& plane : words) picture.plane[p++] = plane.sample_plane();
    return picture;
  }

  int bpc;
  std::vector<TestPlane<uint8_t>> bytes;
  std::vector<TestPlane<uint16_t>> words;
};

using Convert = void(const CvvdpParams&, const Picture&, float*);

AlignedBytes converted(Convert* convert, const CvvdpParams& params, const Picture& picture) {
  AlignedBytes memory = allocate_aligned(cvvdp_converted_bytes(params));
  std::memset(memory.get(), kRubbishNan, cvvdp_converted_bytes(params));
  convert(params, picture, reinterpret_cast<float*>(memory.get()));
  return memory;
}

CvvdpSums sums_of_plain(const CvvdpParams& params, CvvdpPictures ref, CvvdpPictures dist) {
  const TestScratch scratch(cvvdp_scratch_bytes_plain(params), kRubbishNan);
  CvvdpSums sums = {};
  cvvdp_plain(params, ref, dist, scratch.get(), sums);
  return sums;
}

CvvdpSums sums_of_simd(const CvvdpParams& params, CvvdpPictures ref, CvvdpPictures dist) {
  const TestScratch scratch(cvvdp_scratch_bytes_simd(params), kRubbishNan);
  CvvdpSums sums = {};
  CvvdpSums* const all[] = {&sums};
  cvvdp_simd(params, ref, {&dist, 1}, scratch.get(), all);
  return sums;
}

void assert_same_rows(const std::string& where, const CvvdpParams& params, const std::byte* want,
                      const std::byte* got) {
  const size_t pitch = sizeof(float) * row_pitch(static_cast<size_t>(params.w));
  for (int row = 0; row < kCvvdpPlanes * params.h; row++)
    ck_assert_msg(!std::memcmp(want + row * pitch, got + row * pitch, sizeof(float) * params.w),
                  "%s: row %d of the converted picture differs", where.c_str(), row);
}

/* Two frames, the second one of which is scored. */
void assert_twins_agree(const std::string& target, const VideoFormat& format, const std::string& display,
                        const std::vector<Fill>& fills) {
  const CvvdpParams params = params_of(format, display);
  const std::string where = format_text("%s %dx%d %d bit %s %s", target.c_str(), format.w, format.h, format.bpc,
                                        display.c_str(), fill_name(fills[0]));
  std::vector<AlignedBytes> memory;
  for (size_t i = 0; i < 4; i++) {
    TestPicture picture(format, fills[i % fills.size()], static_cast<uint32_t>(i + format.w));
    memory.push_back(converted(cvvdp_convert_plain, params, picture.view()));
    const AlignedBytes got = converted(cvvdp_convert_simd, params, picture.view());
    assert_same_rows(where, params, memory.back().get(), got.get());
  }
  const std::byte *const ref[] = {memory[0].get(), memory[1].get()}, *const dist[] = {memory[2].get(), memory[3].get()};
  const CvvdpSums want = sums_of_plain(params, ref, dist), got = sums_of_simd(params, ref, dist);
  for (int b = 0; b < params.bands; b++)
    for (int c = 0; c < kCvvdpChannels; c++)
      ck_assert_msg(!std::memcmp(&want.band[b].of[c], &got.band[b].of[c], sizeof(CvvdpSum)),
                    "%s: band %d, channel %d: %.17g, not %.17g", where.c_str(), b, c, got.band[b].of[c].value(),
                    want.band[b].of[c].value());
}

}  // namespace

/* Every width past two vectors; depths, chroma, displays and fills take turns. */
START_TEST(simd_equals_plain) {
  constexpr int kDepths[] = {8, 10, 16, 12};
  constexpr Chroma kChromas[] = {Chroma::k420, Chroma::k444, Chroma::k422, Chroma::k400, Chroma::k420};
  constexpr struct {
    int transfer;
    const char* display;
  } kShown[] = {{kSdr, ""}, {kPq, ""}, {kHlg, ""}, {kSdr, "standard_hmd"}};
  int turn = 0;
  for_each_cpu_target([&](const std::string& target) {
    for (int w = 4; w <= 134; w += every_under_sanitizers(5), turn++) {
      const auto& shown = kShown[turn % std::size(kShown)];
      VideoFormat format = format_of(w, 4 + turn % 23, kDepths[turn % 4], kChromas[turn % 5], shown.transfer);
      format.whole_chroma = turn / 2 % 2;
      assert_twins_agree(target, format, shown.display,
                         {Fill::kRandom, kFills[turn % std::size(kFills)], Fill::kRandom});
    }
  });
}
END_TEST

/* Strips of columns, and their seams. */
START_TEST(simd_equals_plain_in_wide_pictures) {
  for_each_cpu_target([](const std::string& target) {
    for (const int w : {512, 519, 520, 521, 1030})
      assert_twins_agree(target, format_of(w, 17, 8, w % 2 ? Chroma::k444 : Chroma::k420), "", {Fill::kRandom});
    VideoFormat whole = format_of(1031, 17, 8, Chroma::k420);
    whole.whole_chroma = true;
    assert_twins_agree(target, whole, "", {Fill::kRandom});
  });
}
END_TEST

START_TEST(simd_equals_plain_at_extremes) {
  for_each_cpu_target([](const std::string& target) {
    for (const Fill fill : kFills)
      for (const int transfer : {kSdr, kPq, kHlg})
        assert_twins_agree(target, format_of(32, 20, 10, Chroma::k420, transfer), "", {fill, Fill::kMax, Fill::kZero});
  });
}
END_TEST

/* -- Time ---------------------------------------------------------------------------------------------------------- */

START_TEST(filters_last_a_quarter_of_a_second) {
  const auto taps = [](double fps) { return params_of(format_of(32, 32, 8, Chroma::k420, kSdr, fps)).taps; };
  ck_assert_int_eq(taps(23.976), 7);
  ck_assert_int_eq(taps(24), 7);
  ck_assert_int_eq(taps(25), 9);
  ck_assert_int_eq(taps(30), 9);
  ck_assert_int_eq(taps(60), 17);
  ck_assert_int_eq(taps(120), 31);
  ck_assert_int_eq(taps(512), kCvvdpMostTaps);
  const CvvdpParams params = params_of(format_of(32, 32, 8, Chroma::k420, kSdr, 60));
  for (int c = 0; c < kCvvdpChannels; c++) {
    const double sum = std::accumulate(params.filter[c], params.filter[c] + params.taps, 0.0);
    ck_assert_double_eq_tol(sum, c < 3 ? 1 : 0, 1e-6);  // what lasts stays, what changes is none of it
    for (int k = 0; k < params.taps; k++)
      ck_assert_float_eq(params.filter[c][k], params.filter[c][params.taps - 1 - k]);
  }
  const Reads reads = make(format_of(32, 32, 8, Chroma::k420, kSdr, 60))->reads();
  ck_assert_int_eq(reads.converted, 16);
  ck_assert_int_eq(reads.reach.before, 16);
  ck_assert(reads.every_frame);
}
END_TEST

/* Before the stream's start stands its first picture: a still one has always been. */
START_TEST(a_still_stream_has_equal_frames) {
  const VideoFormat format = format_of(48, 40);
  const Stream stream(format, 1);
  const std::vector<Picture> refs(10, stream.pictures(false)[0]), dists(10, stream.pictures(true)[0]);
  const std::vector<double> scores = scores_of(*make(format), refs, dists);
  for (const double score : scores) ck_assert_double_eq(score, scores[0]);
  ck_assert_double_lt(scores[0], 9.9);
}
END_TEST

/* -- Scores -------------------------------------------------------------------------------------------------------- */

START_TEST(equal_pictures_have_10) {
  const VideoFormat format = format_of(40, 32);
  const Stream stream(format, 3);
  const std::vector<Picture> pictures = stream.pictures(false);
  for (const double score : scores_of(*make(format), pictures, pictures)) ck_assert_double_eq(score, 10);
}
END_TEST

/* The norm of the frames' differences: of 10 and less it is nearer to the worse one than their mean. */
START_TEST(the_mean_is_that_of_differences) {
  const auto mean = [](std::vector<double> scores) { return mean_of(scores); };
  ck_assert_double_eq(mean({7.25}), 7.25);
  ck_assert_double_eq_tol(mean({7, 7, 7}), 7, 1e-3);
  ck_assert_double_eq(mean({10, 10}), 10);
  ck_assert_double_lt(mean({10, 4}), 7 - 0.5);
  ck_assert_double_eq_tol(mean({10, 4}), 10 - 6 * std::pow(0.5, 0.5 * 0.9302042722702026), 1e-3);
}
END_TEST

/* Alone, the first frame is a picture, whose score is another one than that of a video. */
START_TEST(one_frame_is_a_picture) {
  const VideoFormat format = format_of(64, 48);
  const Stream stream(format, 1);
  const Picture ref = stream.pictures(false)[0], dist = stream.pictures(true)[0];
  const std::vector<Picture> one_ref = {ref}, one_dist = {dist}, two_refs = {ref, ref}, two_dists = {dist, dist};
  const double picture = scores_of(*make(format), one_ref, one_dist)[0];
  const std::vector<double> video = scores_of(*make(format), two_refs, two_dists);
  ck_assert_double_eq(video[0], video[1]);
  ck_assert_double_gt(picture, video[0] + 0.1);
}
END_TEST

/* With CVVDP_RECORD=DIR it writes the streams there, for the program. */
START_TEST(scores_are_those_of_the_program) {
  const CvvdpReferenceStream& want = kCvvdpReference[static_cast<size_t>(_i)];
  const VideoFormat format = format_of(want.w, want.h, want.bpc, want.chroma, want.transfer, want.fps);
  const Stream stream(format, want.frames);
  if (const char* folder = std::getenv("CVVDP_RECORD"))
    for (const bool dist : {false, true})
      stream.write(format_text("%s/%d.%s", folder, _i, dist ? "dist" : "ref"), dist);
  const double got = mean_of(scores_of(*make(format, {{"display", want.display}}), stream));
  ck_assert_msg(std::abs(got - want.jod) <= kCvvdpReferenceWithin, "stream %d has %.6f, not %.6f", _i, got, want.jod);
}
END_TEST

/* -- Displays ------------------------------------------------------------------------------------------------------ */

START_TEST(displays_follow_the_transfer) {
  const auto usual = [](int transfer) {
    return std::string(cvvdp_usual_display(format_of(32, 32, 10, Chroma::k420, transfer)));
  };
  assert_text_eq(usual(kSdr), "standard_4k");
  assert_text_eq(usual(Color::kUnspecified), "standard_4k");
  assert_text_eq(usual(kPq), "standard_hdr_pq");
  assert_text_eq(usual(kHlg), "standard_hdr_hlg");
  const VideoFormat sdr = format_of(32, 32), pq = format_of(32, 32, 10, Chroma::k420, kPq);
  assert_contains(refused(sdr, {{"display", "standard_hdr_pq"}}),
                  "display standard_hdr_pq is not for video that is SDR");
  assert_contains(refused(pq, {{"display", "standard_4k"}}), "PQ: name another one, such as standard_hdr_pq");
  assert_contains(refused(pq, {{"display", "standard_hdr_hlg"}}), "not for video that is PQ");
  VideoFormat open = sdr;
  open.color.transfer = Color::kUnspecified;
  make(open, {{"display", "standard_hdr_pq"}});
  assert_contains(refused(sdr, {{"display", "tv"}}),
                  "there is no display 'tv'; there are: standard_4k, standard_hdr_pq");
}
END_TEST

START_TEST(displays_have_their_resolution) {
  const auto ppd = [](const char* name) { return cvvdp_pixels_per_degree(cvvdp_display_model(name, "").value()); };
  ck_assert_double_eq_tol(ppd("standard_4k"), 75.4, 0.01);
  ck_assert_double_eq_tol(ppd("standard_fhd"), 37.84, 0.01);
  ck_assert_double_eq_tol(ppd("standard_hmd"), 13.153, 0.01);
  ck_assert_double_eq_tol(ppd("iphone_12_pro"), 159.612, 0.01);
  ck_assert_int_eq(params_of(format_of(1920, 1080)).bands, 9);
  ck_assert_int_eq(params_of(format_of(1920, 1080), "standard_hmd").bands, 7);
  ck_assert_int_eq(params_of(format_of(1920, 1080), "", 200).bands, 10);
  ck_assert_int_eq(params_of(format_of(4, 4)).bands, 2);
}
END_TEST

START_TEST(what_cannot_be_scored_is_refused) {
  assert_contains(refused(format_of(3, 32)), "cvvdp: 3x32 is too small");
  assert_contains(refused(format_of(32, 32, 8, Chroma::k420, kSdr, 0)), "the inputs do not say their frame rate");
  assert_contains(refused(format_of(32, 32, 8, Chroma::k420, kSdr, 600)), "600 frames per second are more than 512");
  make(format_of(32, 32, 8, Chroma::k420, kSdr, 0), {{"fps", "30"}});
  VideoFormat format = format_of(32, 32);
  format.color.matrix = 14;
  assert_contains(refused(format), "matrix coefficients 14");
  format.color.matrix = 1;
  format.color.primaries = 3;
  assert_contains(refused(format), "color primaries 3");
}
END_TEST

class DisplayFile {
 public:
  explicit DisplayFile(const std::string& text) {
    const int file = mkstemp(path_.data());
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ck_assert_int_eq(close(file), 0);
  }
  ~DisplayFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "vmafx_displays_XXXXXX").string();
};

START_TEST(displays_come_from_files) {
  const VideoFormat format = format_of(64, 48);
  const auto options = [](const std::string& path, const char* name = "mine") {
    return OptionTexts{{"display", name}, {"display_file", path}};
  };
  const DisplayFile file(
      R"json({"mine": {"name": "the standard one", "resolution": [3840, 2160], "viewing_distance_meters": 0.7472,
    "diagonal_size_inches": 30, "max_luminance": 200, "contrast": 1000, "E_ambient": 250, "source": "none"},
    "near": {"resolution": [1920, 1080], "pixels_per_degree": 20, "max_luminance": 100, "min_luminance": 0.1,
    "colorspace": "Adobe RGB (1998)"},
    "flat": {"resolution": [1920, 1080], "max_luminance": 100},
    "odd": {"resolution": [1920, 1080], "pixels_per_degree": 20, "max_luminance": 100, "colorspace": "RGB"},
    "text": {"resolution": "1920x1080"}, "dark": {"resolution": [1, 1], "pixels_per_degree": 20},
    "wide": {"resolution": [1440, 1600], "fov_diagonal": 277, "max_luminance": 100},
    "thin": {"resolution": [1e308, 1], "viewing_distance_meters": 1e308, "diagonal_size_meters": 1e-308,
    "max_luminance": 100}})json");
  ck_assert_double_eq(score_of(format, 2, options(file.path())), score_of(format, 2, {{"display", "standard_4k"}}));
  ck_assert_double_ne(score_of(format, 2, options(file.path(), "near")), score_of(format, 2));
  assert_contains(refused(format, options(file.path(), "flat")), "give pixels_per_degree, or a viewing distance");
  assert_contains(refused(format, options(file.path(), "odd")), "colorspace is not one of sRGB, BT.709");
  assert_contains(refused(format, options(file.path(), "text")), "resolution is not [width, height]");
  assert_contains(refused(format, options(file.path(), "dark")), "max_luminance is not more than 0");
  assert_contains(refused(format, options(file.path(), "wide")), "fov_diagonal is not less than 180");
  assert_contains(refused(format, options(file.path(), "thin")), "pixels per degree");
  assert_contains(refused(format, options(file.path(), "none")), "it has no display 'none'");
  const DisplayFile bad("{");
  assert_contains(refused(format, options(bad.path())), "not a JSON object of displays");
  assert_contains(refusal(kCvvdpExtractor, format, options("/nowhere/displays.json"), ENOENT),
                  "file of displays '/nowhere/displays.json'");
}
END_TEST

/* -- Colors -------------------------------------------------------------------------------------------------------- */

/* Samples of either range give the same light. */
START_TEST(ranges_are_read) {
  VideoFormat limited = format_of(4, 4, 8, Chroma::k444), full = limited;
  full.color.range = Color::Range::kFull;
  const auto light = [](const VideoFormat& format, int luma) {
    const CvvdpParams params = params_of(format);
    TestPicture picture(format, Fill::kZero, 0);
    for (int p = 0; p < 3; p++)
      for (int i = 0; i < 16; i++) picture.bytes[p].at(i % 4, i / 4) = static_cast<uint8_t>(p ? 128 : luma);
    const AlignedBytes planes = converted(cvvdp_convert_plain, params, picture.view());
    return *reinterpret_cast<const float*>(planes.get());
  };
  ck_assert_double_eq_tol(light(limited, 235), light(full, 255), 1e-4);
  ck_assert_double_eq_tol(light(limited, 16), light(full, 0), 1e-6);
  ck_assert_double_eq(light(limited, 250), light(limited, 235));  // cut off
  const CvvdpDisplay display = params_of(limited).display;
  const double gain = display.to_planes[0] + display.to_planes[1] + display.to_planes[2];
  ck_assert_double_eq_tol(light(limited, 16), gain * (0.2 + 0.397887), 1e-4);  // black, and what the display reflects
  ck_assert_double_eq_tol(light(limited, 235), gain * 200.397887, 1e-2);
}
END_TEST

/* Primaries that are not the display's. */
START_TEST(primaries_are_read) {
  VideoFormat format = format_of(64, 48);
  const double own = score_of(format, 2);
  format.color.primaries = 1;
  ck_assert_double_eq(score_of(format, 2), own);
  for (const int wide : {9, 11, 12}) {
    format.color.primaries = wide;
    ck_assert_double_gt(std::abs(score_of(format, 2) - own), 1e-4);
  }
}
END_TEST

START_TEST(options_show_in_keys) {
  const auto suffix = [](const OptionTexts& given) {
    return Options::resolve("cvvdp", kCvvdpExtractor.options, given).value().key_suffix();
  };
  assert_text_eq(suffix({}), "");
  assert_text_eq(suffix({{"display", "standard_fhd"}}), "_display_standard_fhd");
  assert_text_eq(suffix({{"fps", "50"}, {"pix_per_degree", "60"}}), "_fps_50_ppd_60");
}
END_TEST

int main() {
  std::vector<NamedTest> tests = {{"simd_equals_plain", simd_equals_plain},
                                  {"wide", simd_equals_plain_in_wide_pictures},
                                  {"extremes", simd_equals_plain_at_extremes},
                                  {"filters", filters_last_a_quarter_of_a_second},
                                  {"still", a_still_stream_has_equal_frames},
                                  {"equal", equal_pictures_have_10},
                                  {"mean", the_mean_is_that_of_differences},
                                  {"picture", one_frame_is_a_picture},
                                  {"transfer", displays_follow_the_transfer},
                                  {"resolution", displays_have_their_resolution},
                                  {"refused", what_cannot_be_scored_is_refused},
                                  {"files", displays_come_from_files},
                                  {"range", ranges_are_read},
                                  {"primaries", primaries_are_read},
                                  {"keys", options_show_in_keys}};
  for (int i = 0; i < static_cast<int>(std::size(kCvvdpReference)); i++)
    tests.push_back({"program", scores_are_those_of_the_program, i});
  return run_suite("cvvdp", tests);
}
