/* Windows, gates and the file for Prometheus. */
#include "report/pool_windows.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <check.h>

#include "report/gates.h"
#include "report/openmetrics.h"
#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

PoolWindowRule rule_of(const char* text) {
  const auto rule = parse_window(text);
  ck_assert_msg(rule.ok(), "%s", rule.status().message().c_str());
  return rule.value();
}

/* "0-4 5-9": the windows of frames at these times. */
std::string windows_of(const char* rule, const std::vector<double>& times) {
  PoolWindows windows(rule_of(rule));
  for (const double time : times) ck_assert(windows.add(time, false).ok());
  windows.end();
  std::string text;
  for (size_t i = 0; i < windows.known(); i++) {
    const auto [first, end] = windows.frames(i);
    text += (i ? " " : "") + std::to_string(first) + "-" + std::to_string(end - 1);
  }
  return text;
}

std::vector<double> steady_times(int frames, double rate, double start, double unit) {
  std::vector<double> times;
  for (int i = 0; i < frames; i++) times.push_back(std::round((start + i / rate) / unit) * unit);
  return times;
}

Gates gates_of(const std::string& text, const std::vector<std::string>& keys, const std::vector<int>& models) {
  auto gates = Gates::parse("fail_below", text);
  ck_assert_msg(gates.ok(), "%s", gates.status().message().c_str());
  const Status status = gates.value().resolve(keys, models);
  ck_assert_msg(status.ok(), "%s", status.message().c_str());
  return gates.value();
}

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

START_TEST(rules_are_seconds_or_keyframes) {
  ck_assert(!rule_of("").any());
  ck_assert_double_eq(rule_of("2").seconds, 2);
  ck_assert_double_eq(rule_of("0.5").seconds, 0.5);
  ck_assert(rule_of("keyframe").at_keyframes);
  for (const char* wrong : {"0", "-1", "2s", "keyframes", "nan", "inf", "1e3", " 2", "0.0001", "99999999999"}) {
    const auto rule = parse_window(wrong);
    ck_assert_msg(!rule.ok(), "%s is taken", wrong);
    ck_assert_int_eq(rule.status().code(), EINVAL);
    assert_contains(rule.status().message(), wrong);
  }
}
END_TEST

/* Whatever the container rounds times to, and wherever the stream starts. */
START_TEST(windows_go_by_time) {
  for (const double unit : {0.001, 1 / 90000., 1 / 12800.})
    for (const double start : {0., 1.4, 3600.})
      assert_text_eq(windows_of("2", steady_times(60, 25, start, unit)), "0-49 50-59");
  assert_text_eq(windows_of("1", steady_times(50, 24000 / 1001., 0, 0.001)), "0-23 24-47 48-49");
  assert_text_eq(windows_of("0.5", steady_times(6, 4, 0, 0.001)), "0-1 2-3 4-5");
  assert_text_eq(windows_of("1", {0, 0.5, 5.2, 5.9, 6, 6.1}), "0-1 2-3 4-5");  // a gap makes no empty windows
  assert_text_eq(windows_of("1", {7}), "0-0");
}
END_TEST

START_TEST(frames_without_times_have_no_such_windows) {
  PoolWindows windows(rule_of("2"));
  ck_assert(windows.add(0., false).ok());
  const Status status = windows.add(std::nullopt, false);
  ck_assert_int_eq(status.code(), EINVAL);
  assert_contains(status.message(), "frame 1 has none");
}
END_TEST

START_TEST(windows_go_by_keyframes) {
  PoolWindows windows(rule_of("keyframe"));
  for (int frame = 0; frame < 10; frame++) {
    ck_assert(windows.add(std::nullopt, frame == 0 || frame == 4 || frame == 5).ok());
    ck_assert(!windows.knows(frame) && (frame == 0 || windows.knows(frame - 1)));
  }
  ck_assert_int_eq(windows.known(), 2);
  ck_assert(windows.ending_with(3) == 0 && windows.ending_with(4) == 1);
  ck_assert(!windows.ending_with(2) && !windows.ending_with(9));
  windows.end();
  ck_assert_int_eq(windows.known(), 3);
  ck_assert(windows.ending_with(9) == 2 && windows.knows(9));
}
END_TEST

START_TEST(a_stream_that_begins_between_keyframes_begins_a_window) {
  PoolWindows windows(rule_of("keyframe"));
  for (int frame = 0; frame < 4; frame++) ck_assert(windows.add(std::nullopt, frame == 2).ok());
  windows.end();
  ck_assert_int_eq(windows.known(), 2);
  ck_assert_int_eq(windows.frames(0).end, 2);
}
END_TEST

START_TEST(only_frames_of_the_window_are_pooled) {
  ScoreTable table({"a", "b"});
  for (int frame = 0; frame < 12; frame++) table.put(frame, 0, frame);
  const auto pooled = [&](int64_t first, int64_t end, int n_subsample) {
    return pool_frames(table, {first, end}, {Pool::Method::kMean}, n_subsample).scores;
  };
  ck_assert_double_eq(*pooled(2, 5, 1)[0], 3);
  ck_assert_double_eq(*pooled(2, 12, 4)[0], 6);  // 4 and 8
  ck_assert(!pooled(2, 5, 1)[1] && !pooled(1, 4, 4)[0]);
}
END_TEST

START_TEST(gates_name_what_is_too_low) {
  const std::vector<std::string> keys = {"psnr_y", "vmaf", "vmaf_neg"};
  const PooledFrames pooled = {.frames = {0, 5}, .scores = {{34.5}, {80.}, {79.25}}};
  const auto complaint = [&](const char* text) { return gates_of(text, keys, {1, 2}).complaint(pooled); };
  assert_text_eq(complaint(""), "");
  assert_text_eq(complaint("79.25"), "");
  assert_text_eq(complaint("80"), "vmaf_neg is 79.250000, below 80");
  assert_text_eq(complaint("psnr_y=35|vmaf=81.5"), "psnr_y is 34.500000, below 35; vmaf is 80.000000, below 81.5");
  assert_text_eq(gates_of("psnr_y=35", keys, {}).complaint({.frames = {0, 5}, .scores = {{}, {}, {}}}), "");
}
END_TEST

START_TEST(gates_that_are_none_are_refused) {
  for (const char* wrong : {"x", "vmaf", "vmaf=", "=80", "|80", "80|x", "1e999", "nan", "8 0"}) {
    const auto gates = Gates::parse("warn_below", wrong);
    ck_assert_msg(!gates.ok(), "%s is taken", wrong);
    assert_contains(gates.status().message(), std::string("warn_below=") + wrong);
  }
  auto number = Gates::parse("fail_below", "80"), other = Gates::parse("fail_below", "ssim=1");
  const std::vector<std::string> keys = {"psnr_y"};
  assert_contains(number.value().resolve(keys, {}).message(), "write KEY=80");
  assert_contains(other.value().resolve(keys, {}).message(), "there is no score called ssim; there are: psnr_y");
}
END_TEST

START_TEST(the_metrics_file_is_replaced_whole) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("vmafx_metrics_" + std::to_string(getpid()))).string();
  MetricsFile file{.path = path,
                   .encodes = {{.keys = {"psnr_y", "a \"b\\\n"}, .columns = {{0, false}, {1, true}}, .frames = 50}}};
  ck_assert(file.try_to_write().ok());
  ck_assert(!std::filesystem::exists(path));
  file.encodes[0].window =
      PooledFrames{.frames = {0, 50}, .time = 2., .scores = {{std::numeric_limits<double>::infinity()}, {80.5}}};
  ck_assert(file.write().ok());
  assert_text_eq(file_text(path),
                 "# HELP vmafx_frames Frame pairs of the stream so far.\n"
                 "# TYPE vmafx_frames gauge\n"
                 "vmafx_frames{encode=\"0\"} 50\n"
                 "# HELP vmafx_window_score Pooled score of the window that ended last.\n"
                 "# TYPE vmafx_window_score gauge\n"
                 "vmafx_window_score{encode=\"0\",feature=\"psnr_y\",window_start=\"2.000000\"} +Inf\n"
                 "vmafx_window_score{encode=\"0\",model=\"a \\\"b\\\\\\n\",window_start=\"2.000000\"} 80.500000\n"
                 "# EOF\n");
  file.encodes[0].window.reset();
  file.encodes[0].stream = PooledFrames{.frames = {0, 60}, .scores = {{}, {70.}}};
  file.encodes[0].frames = 60;
  ck_assert(file.write().ok());
  assert_text_eq(file_text(path),
                 "# HELP vmafx_frames Frame pairs of the stream so far.\n"
                 "# TYPE vmafx_frames gauge\n"
                 "vmafx_frames{encode=\"0\"} 60\n"
                 "# HELP vmafx_score Pooled score of the whole stream.\n"
                 "# TYPE vmafx_score gauge\n"
                 "vmafx_score{encode=\"0\",model=\"a \\\"b\\\\\\n\"} 70.000000\n"
                 "# EOF\n");
  ck_assert(!std::filesystem::exists(path + ".part"));
  std::filesystem::remove(path);
  const MetricsFile nowhere{"/nowhere/metrics.prom", {}};
  ck_assert_int_eq(nowhere.try_to_write().code(), ENOENT);
}
END_TEST

int main() {
  return vmafx::test::run_suite("windows", {{"rules", rules_are_seconds_or_keyframes},
                                            {"times", windows_go_by_time},
                                            {"no_times", frames_without_times_have_no_such_windows},
                                            {"keyframes", windows_go_by_keyframes},
                                            {"between", a_stream_that_begins_between_keyframes_begins_a_window},
                                            {"pooled", only_frames_of_the_window_are_pooled},
                                            {"gates", gates_name_what_is_too_low},
                                            {"no_gates", gates_that_are_none_are_refused},
                                            {"metrics_file", the_metrics_file_is_replaced_whole}});
}
