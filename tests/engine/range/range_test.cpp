/* Ranges: what their texts mean, how far metrics reach beyond them, and that their scores are those of the whole
 * stream, to the last bit, wherever it is cut and wherever a seek lands. */
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/range/borders.h"
#include "engine/range/range.h"
#include "tests/support/check_main.h"
#include "tests/support/stream.h"
#ifdef ON_EMULATOR
#include "tests/support/device.h"
#endif

using namespace vmafx;
using namespace vmafx::test;

namespace {

/* Metrics of each reach: 0 to 6 pairs before. */
constexpr const char* kFeatures[] = {
    "name=psnr",
    "name=speed_temporal",
    "name=xpsnr",
    "name=xpsnr:fps=50",
    "name=cvvdp:fps=24",
    "name=motion|name=float_motion",
    "name=motion:motion_moving_average=true|name=psnr",
    "name=motion:motion_five_frame_window=true:debug=true",
    "name=motion:motion_five_frame_window=true:motion_moving_average=true|name=speed_temporal|name=float_motion|name="
    "psnr",
    "name=motion:motion_force_zero=true|name=float_motion:motion_force_zero=true",
    "name=siti",
};

/* Not what numbers or times without rounding would tell apart. */
constexpr double kRate = 24000. / 1001;

Params params_of(const char* feature, const char* range, int n_subsample = 1) {
#ifdef ON_EMULATOR
  use_emulator();
  Params params = params_for("hip", "", feature);
#else
  Params params = params_for("cpu", "", feature);
#endif
  params.range = range;
  params.n_subsample = n_subsample;
  return params;
}

StreamOptions stream_of(int frames, int first = 0) {
  StreamOptions options;
  options.frames = frames;
  options.first = first;
  options.frame_rate = kRate;
  options.ref.height = options.dist.height = 84;  // speed_temporal needs 80
  return options;
}

std::string complaint(const std::string& range) {
  const auto parsed = Range::parse(range);
  ck_assert_msg(!parsed.ok(), "range=%s is taken", range.c_str());
  ck_assert_int_eq(parsed.status().code(), EINVAL);
  return parsed.status().message();
}

/* "b" before, "w" within, "a" after, of frames 0 to 5 of one second. */
std::string places(const std::string& text, double rate = 1) {
  const auto range = Range::parse(text);
  ck_assert_msg(range.ok(), "%s", range.status().message().c_str());
  std::string found;
  for (int i = 0; i < 6; i++) found += "bwa"[static_cast<int>(range.value().place(i, i / rate).value())];
  return found;
}

std::string seconds(double time) { return format_text("%.6fs", time); }

/* Frames first to end-1, by their numbers, or by their times, of which the stream is read from `seek` on. */
void assert_exact(const char* feature, const Outcome& whole, int first, int end, bool by_time, int seek,
                  int n_subsample) {
  const int frames = static_cast<int>(whole.frames.size());
  const bool to_end = end == frames;
  std::string range = by_time ? (first ? seconds(first / kRate) : "") + "-" + (to_end ? "" : seconds(end / kRate))
                              : std::to_string(first) + "-" + (to_end ? "" : std::to_string(end - 1));
  const Outcome part = run_stream(params_of(feature, range.c_str(), n_subsample), stream_of(frames, seek));
  ck_assert_msg(part.error == 0, "range=%s from frame %d: %s", range.c_str(), seek, part.log.c_str());
  ck_assert_int_eq(part.frames.size(), end - first);
  for (int i = 0; i < end - first; i++)
    ck_assert_msg(part.frames[static_cast<size_t>(i)] == whole.frames[static_cast<size_t>(first + i)],
                  "%s, range=%s from frame %d: frame %d differs", feature, range.c_str(), seek, first + i);
  ck_assert_int_eq(TestPicture::alive, 0);
}

int cuts() {
#ifdef ON_EMULATOR
  return test_all() ? 60 : 6;
#else
  return test_all() ? 400 : 40 / every_under_sanitizers(2);
#endif
}

}  // namespace

START_TEST(texts_are_ranges) {
  assert_text_eq(places("2-3"), "bbwwaa");
  assert_text_eq(places("-3"), "wwwwaa");
  assert_text_eq(places("4-"), "bbbbww");
  assert_text_eq(places("-"), "wwwwww");
  assert_text_eq(places("2s-4s"), "bbwwaa");
  assert_text_eq(places("1.5s-"), "bbwwww");
  assert_text_eq(places("-0.25s"), "waaaaa");
  for (const char* text : {"x", "5", "3s", "a-b", "1-x", "--1", "1--2", "1s-2", "1-2s", "1.5-2", " 1-2", "1 -2", "-1s-",
                           "1e3s-", "0x1-2", "99999999999-", "infs-", "nans-"})
    assert_contains(complaint(text), " is no range; use FIRST-LAST");
  for (const char* text : {"3-2", "2s-2s", "2s-2.0004s"}) assert_contains(complaint(text), "has nothing in it");
}
END_TEST

/* 12 frames of 24000/1001 a second are 500.5 ms, which Matroska has at 0.501 s and MPEG-TS at 0.500500. */
START_TEST(times_are_rounded_as_containers_round_them) {
  const Range range = Range::parse("0.5005s-1.001s").value();
  for (const double time : {0.5005, 0.501, 0.500500001, 12 * (1001 / 24000.)})
    ck_assert_msg(range.place(12, time).value() == Place::kWithin, "%.9f", time);
  for (const double time : {0.5, 0.50049}) ck_assert_msg(range.place(12, time).value() == Place::kBefore, "%.9f", time);
  ck_assert(range.place(24, 1.001).value() == Place::kAfter);
  ck_assert(range.place(24, 1.0006).value() == Place::kAfter);
  ck_assert(range.place(24, 1.0004).value() == Place::kWithin);
  ck_assert(Range::parse("-0.0005s").value().place(0, -0.001).value() == Place::kWithin);
  for (const double time : {-1e300, -1e10}) ck_assert(range.place(0, time).value() == Place::kBefore);
  for (const double time : {1e10, 1e300}) ck_assert(range.place(99, time).value() == Place::kAfter);
  ck_assert(!range.place(0, std::nullopt).ok() && !range.place(0, std::nan("")).ok());
}
END_TEST

START_TEST(scores_of_ranges_are_those_of_the_whole_stream) {
  std::mt19937 random(static_cast<unsigned>(_i) + 1);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const char* const feature = kFeatures[_i];
  for (const int n_subsample : {1, 3}) {
    const int frames = 4 + below(12);
    const Outcome whole = run_stream(params_of(feature, "", n_subsample), stream_of(frames));
    ck_assert_msg(whole.error == 0, "%s", whole.log.c_str());
    for (int cut = 0; cut < cuts() / 2; cut++) {
      const int first = below(frames), end = first + 1 + below(frames - first);
      const bool by_time = n_subsample == 1 && below(2);
      const int room = first - 6;  // before the farthest context
      assert_exact(feature, whole, first, end, by_time && (first == 0 || room >= 0),
                   by_time && room > 0 ? below(room + 1) : 0, n_subsample);
    }
  }
}
END_TEST

/* One pair less would be too few: the reach is what is needed. */
START_TEST(nothing_but_the_context_is_asked_for) {
  constexpr int kBefore[] = {1, 1, 1, 2, 6, 1, 2, 3, 4, 1, 1};
  const std::string range = seconds(6 / kRate) + "-" + seconds(8 / kRate);
  const Outcome whole = run_stream(params_of(kFeatures[_i], ""), stream_of(10));
  assert_exact(kFeatures[_i], whole, 6, 8, true, 6 - kBefore[_i], 1);
  const Outcome late = run_stream(params_of(kFeatures[_i], range.c_str()), stream_of(10, 6 - kBefore[_i] + 1));
  ck_assert_int_eq(late.error, -EINVAL);
  assert_contains(late.log, format_text("has %d before it, and %d must come there", kBefore[_i] - 1, kBefore[_i]));
  assert_contains(late.log, "Seek to an earlier time (-ss before both inputs, with -copyts)");
  ck_assert_int_eq(late.frames.size(), 0);
  const Outcome short_of = run_stream(params_of(kFeatures[_i], range.c_str()), stream_of(8));
  ck_assert_int_eq(short_of.error, -EINVAL);
  assert_contains(short_of.log, "the inputs ended at frame 7 (0.291958 s), and 1 after the range must come");
}
END_TEST

namespace {

/* A folder that goes away with all that is in it. */
struct Folder {
  Folder() { ck_assert_ptr_nonnull(mkdtemp(path)); }
  ~Folder() { std::filesystem::remove_all(path); }
  char path[sizeof "/tmp/vmafx_range_XXXXXX"] = "/tmp/vmafx_range_XXXXXX";
};

std::string content_of(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/* The JSON report of a range of a stream. */
Json report_of(const char* feature, const std::string& range, const StreamOptions& options) {
  const Folder folder;
  const std::string path = std::string(folder.path) + "/scores.json";
  Params params = params_of(feature, range.c_str());
  params.log_path = path.c_str();
  params.log_fmt = "json";
  params.score_fmt = "%.17g";
  const Outcome outcome = run_stream(params, options);
  ck_assert_msg(outcome.error == 0, "%s", outcome.log.c_str());
  return *Json::parse(content_of(path));
}

/* Adds the sums that a report has of a value. Metrics' names are static, as those of `report` may not last. */
void add_sums(const Json& report, const std::string& key, std::vector<VmafxStreamSums>& sums) {
  const Json* const planes = report.find("range")->find("sums")->find(key);
  ck_assert_msg(planes, "%s has no sums", key.c_str());
  for (const Json& plane : planes->items()) {
    const auto number = [&](const char* name) { return std::stoull(plane.find(name)->text()); };
    VmafxStreamSums given{};
    given.metric = plane.find("metric")->text() == "psnr" ? "psnr" : "xpsnr";
    given.plane = static_cast<int>(plane.find("plane")->number());
    given.frames = number("frames"), given.samples = number("samples"), given.peak = number("peak");
    given.whole = number("whole"), given.fraction = number("fraction");
    sums.push_back(given);
  }
}

}  // namespace

/* The values of a stream are made of the sums of its ranges, and each range has its own values. */
START_TEST(sums_of_ranges_make_the_values_of_the_stream) {
  constexpr const char* kFeature = "name=psnr:enable_apsnr=true|name=xpsnr|name=xpsnr:fps=50:enable_chroma=false";
  const StreamOptions stream = stream_of(9);
  const Json whole = report_of(kFeature, "", stream);
  std::vector<Json> parts;
  for (const char* range : {"7-", "-1", "2-2", "3-6"}) parts.push_back(report_of(kFeature, range, stream));
  const Json& wanted = *whole.find("aggregate_metrics");
  ck_assert_uint_eq(wanted.names().size(), 3 + 4 + 2);
  for (size_t i = 0; i < wanted.names().size(); i++) {
    const std::string& key = wanted.names()[i];
    std::vector<VmafxStreamSums> sums;
    double value = 0;
    for (const Json& part : parts) {
      std::vector<VmafxStreamSums> own;
      add_sums(part, key, own);
      ck_assert_int_eq(vmafx_stream_value(own.data(), own.size(), &value), 0);
      ck_assert_double_eq(value, part.find("aggregate_metrics")->find(key)->number());
      ck_assert_double_ne(value, wanted.items()[i].number());
      sums.insert(sums.end(), own.begin(), own.end());
    }
    ck_assert_int_eq(vmafx_stream_value(sums.data(), sums.size(), &value), 0);
    ck_assert_msg(value == wanted.items()[i].number(), "%s is %.17g", key.c_str(), value);
  }
}
END_TEST

START_TEST(sums_that_do_not_belong_together_are_refused) {
  const VmafxStreamSums right = {"psnr", 1, 4, 100, 255, 7, 0, {}};
  double value = 0;
  const auto code = [&](auto change) {
    VmafxStreamSums sums[] = {right, right};
    change(sums[1]);
    return vmafx_stream_value(sums, 2, &value);
  };
  ck_assert_int_eq(code([](VmafxStreamSums&) {}), 0);
  ck_assert_double_eq(value, 10 * (std::log10(255. * 255) + std::log10(800.) - std::log10(14.)));
  ck_assert_int_eq(code([](VmafxStreamSums& sums) { sums.plane = 2; }), 0);
  ck_assert_int_eq(code([](VmafxStreamSums& sums) { sums.plane = 3; }), -EINVAL);
  ck_assert_int_eq(code([](VmafxStreamSums& sums) { sums.metric = "xpsnr"; }), -EINVAL);
  ck_assert_int_eq(code([](VmafxStreamSums& sums) { sums.metric = nullptr; }), -EINVAL);
  ck_assert_int_eq(code([](VmafxStreamSums& sums) { sums.samples = 99; }), -EINVAL);
  ck_assert_int_eq(code([](VmafxStreamSums& sums) { sums.peak = 1023; }), -EINVAL);
  ck_assert_int_eq(code([](VmafxStreamSums& sums) { sums.frames = 0; }), -EINVAL);
  ck_assert_int_eq(code([](VmafxStreamSums& sums) { sums.fraction = uint64_t{1} << 52; }), -EINVAL);
  ck_assert_int_eq(code([&](VmafxStreamSums& sums) { sums.reserved[0] = &value; }), -EINVAL);
  ck_assert_int_eq(code([](VmafxStreamSums& sums) { sums.whole = UINT64_MAX - 6; }), -ERANGE);
  const VmafxStreamSums long_one = {"psnr", 0, uint64_t{1} << 33, uint64_t{1} << 33, 255, 7, 0, {}};
  ck_assert_int_eq(vmafx_stream_value(&long_one, 1, &value), 0);
  ck_assert_double_eq_tol(value, 10 * (std::log10(255. * 255) + 66 * std::log10(2.) - std::log10(7.)), 1e-9);
  const VmafxStreamSums vif = {"vif", 0, 4, 100, 255, 7, 0, {}};
  ck_assert_int_eq(vmafx_stream_value(&vif, 1, &value), -EINVAL);
  ck_assert_int_eq(vmafx_stream_value(&right, 0, &value), -EINVAL);
}
END_TEST

/* Halves of 2^-52 and more are carried. */
START_TEST(fractions_are_carried) {
  constexpr uint64_t kHalf = uint64_t{1} << 51;
  const VmafxStreamSums half = {"xpsnr", 0, 1, 100, 255, 1, kHalf, {}};
  const VmafxStreamSums both[] = {half, half}, sum = {"xpsnr", 0, 2, 100, 255, 3, 0, {}};
  double value = 0, wanted = 0;
  ck_assert_int_eq(vmafx_stream_value(both, 2, &value), 0);
  ck_assert_int_eq(vmafx_stream_value(&sum, 1, &wanted), 0);
  ck_assert_double_eq(value, wanted);
  ck_assert_double_eq(value, 10 * std::log10(100. * 255 * 255 / (1.5 * 1.5)));
}
END_TEST

/* A range's maps and heat maps lie in a folder of their own, from its first picture on. */
START_TEST(maps_of_ranges_make_those_of_the_stream) {
  const Folder folder;
  StreamOptions stream = stream_of(5);
  stream.ref.width = stream.dist.width = 240;
  stream.ref.height = stream.dist.height = 160;
  const std::string path = folder.path;
  const std::string feature =
      "name=cambi:heatmaps_path=" + path + "|name=butteraugli:heatmaps_path=" + path + "|name=psnr:enable_chroma=false";
  for (const char* range : {"", "-0.1s", "0.1s-"}) {
    Params params = params_of(feature.c_str(), range);
    params.maps = path.c_str();
    const Outcome outcome = run_stream(params, stream);
    ck_assert_msg(outcome.error == 0, "%s", outcome.log.c_str());
  }
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (!entry.is_regular_file()) continue;
    const std::string whole = content_of(entry.path()), name = "/" + entry.path().filename().string();
    const std::string first = content_of(path + "/range_-0.1s" + name), last = content_of(path + "/range_0.1s-" + name);
    ck_assert_uint_eq(first.size() * 5, whole.size() * 3);
    ck_assert_msg(first + last == whole, "%s differs", name.c_str());
    files++;
  }
  ck_assert_int_eq(files, 5 + 1 + 1);
}
END_TEST

START_TEST(what_is_no_part_of_a_stream_is_refused) {
  const auto refused = [](const Params& params, const StreamOptions& options, const char* why) {
    const Outcome outcome = run_stream(params, options);
    ck_assert_int_eq(outcome.error, -EINVAL);
    assert_contains(outcome.log, why);
    ck_assert_int_eq(TestPicture::alive, 0);
  };
  const StreamOptions stream = stream_of(6);
  refused(params_of("name=psnr", "20-30"), stream, "range=20-30: none of 6 frame pairs lies in it");
  refused(params_of("name=psnr", "9s-"), stream, "none of 6 frame pairs lies in it");
  refused(params_of("name=psnr", "0s-"), stream, "leave out the range's first end");
  refused(params_of("name=psnr", "2s-"), stream_of(90, 60),
          "the first frame in it or after it, at 2.502500 s, has 0 before it");
  refused(params_of("name=psnr", "0.1s-", 2), stream, "n_subsample=2 needs; use a range of numbers");
  StreamOptions timeless = stream;
  timeless.frame_rate = 0;
  refused(params_of("name=psnr", "-1s"), timeless, "goes by the times of frames, and frame 0 has none");
}
END_TEST

START_TEST(a_count_that_begins_late_is_told) {
  const Outcome late = run_stream(params_of("name=psnr", "2-3"), stream_of(80, 72));
  ck_assert_int_eq(late.error, 0);
  assert_contains(late.log, "range=2-3 counts from the first frame pair that comes, which is at 3.003 s");
  ck_assert(run_stream(params_of("name=psnr", "2-3"), stream_of(6)).log.find("counts from") == std::string::npos);
}
END_TEST

/* As many as are in flight, and no more: those outside of the range are let go. */
START_TEST(pairs_outside_are_not_kept) {
  TestPicture::most_alive = 0;
  ck_assert_int_eq(run_stream(params_of("name=psnr", "90-91"), stream_of(400)).error, 0);
  ck_assert_int_le(TestPicture::most_alive, 2 * 12);
}
END_TEST

START_TEST(fingerprints_see_samples_and_nothing_else) {
  std::vector<uint8_t> samples(200, 7);
  const auto hash = [&](const uint8_t* data, ptrdiff_t stride, int w, int h) {
    Picture picture;
    picture.bpc = 8;
    picture.plane[0] = {data, stride, w, h};
    return fingerprint(picture);
  };
  const uint64_t packed = hash(samples.data(), 11, 11, 5);
  ck_assert_uint_eq(hash(samples.data(), 16, 11, 5), packed);
  ck_assert_uint_eq(hash(samples.data() + 64, -16, 11, 5), packed);
  ck_assert_uint_ne(hash(samples.data(), 16, 5, 11), packed);
  samples[10] = 8;
  const uint64_t changed = hash(samples.data(), 11, 11, 5);
  ck_assert_uint_ne(changed, packed);
  samples[10] = 7, samples[11] = 8;
  ck_assert_uint_ne(hash(samples.data(), 11, 11, 5), changed);
  ck_assert_uint_eq(hash(samples.data(), 16, 11, 5), packed);
}
END_TEST

int main() {
  std::vector<NamedTest> tests = {
#ifndef ON_EMULATOR
      {"texts", texts_are_ranges},
      {"rounding", times_are_rounded_as_containers_round_them},
      {"sums", sums_of_ranges_make_the_values_of_the_stream},
      {"wrong_sums", sums_that_do_not_belong_together_are_refused},
      {"fractions", fractions_are_carried},
      {"maps", maps_of_ranges_make_those_of_the_stream},
      {"refused", what_is_no_part_of_a_stream_is_refused},
      {"late_count", a_count_that_begins_late_is_told},
      {"fingerprints", fingerprints_see_samples_and_nothing_else},
      {"memory", pairs_outside_are_not_kept},
#endif
  };
  for (int i = 0; i < static_cast<int>(std::size(kFeatures)); i++) {
    tests.push_back({"exact", scores_of_ranges_are_those_of_the_whole_stream, i});
    tests.push_back({"context", nothing_but_the_context_is_asked_for, i});
  }
  return run_suite("range", tests);
}
