/* Models and reports without a stream: predictions are those of a session, and reports hold the scores that they are
 * given. */
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "tests/support/check_main.h"
#include "tests/support/stream.h"

using namespace vmafx::test;

namespace {

/* With its log. */
struct Predictor {
  explicit Predictor(const char* model) { error = vmafx_predictor_open(&predictor, model, append_log, &log); }
  ~Predictor() { vmafx_predictor_close(&predictor); }
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  std::vector<double> predict(const FrameScores& features) const {
    std::vector<double> inputs, outputs;
    for (int i = 0; const char* key = vmafx_predictor_input(predictor, i); i++) inputs.push_back(features.at(key));
    while (vmafx_predictor_output(predictor, static_cast<int>(outputs.size()))) outputs.push_back(0);
    ck_assert_int_eq(vmafx_predict(predictor, inputs.data(), outputs.data()), 0);
    return outputs;
  }

  VmafxPredictor* predictor = nullptr;
  std::string log;
  int error = 0;
};

std::string written(VmafxReport report) {
  char path[] = "/tmp/vmafx_report_XXXXXX";
  close(mkstemp(path));
  report.path = path;
  ck_assert_int_eq(vmafx_write_report(&report), 0);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  unlink(path);
  return text.str();
}

}  // namespace

/* From what a session computes that is asked for the model's features, and nothing else. */
START_TEST(predictions_are_those_of_a_session) {
  for (const char* model : {"vmaf_v0.6.1", "vmaf_float_v0.6.1:name=f", "vmaf_b_v0.6.3:name=b",
                            "vmaf_v0.6.1:name=neg:adm.adm_enhn_gain_limit=1.0:vif.vif_enhn_gain_limit=1.0",
                            "vmaf_v0.6.1:enable_transform=true:motion.motion_force_zero=true"}) {
    const Predictor predictor(model);
    ck_assert_msg(predictor.error == 0, "%s", predictor.log.c_str());
    const Outcome wanted = run_stream(cpu_params(model));
    const Outcome features = run_stream(cpu_params("", vmafx_predictor_feature(predictor.predictor)));
    ck_assert_int_eq(wanted.error, 0);
    ck_assert_int_eq(features.error, 0);
    for (size_t frame = 0; frame < wanted.frames.size(); frame++) {
      const std::vector<double> scores = predictor.predict(features.frames[frame]);
      for (size_t i = 0; i < scores.size(); i++) {
        const char* const key = vmafx_predictor_output(predictor.predictor, static_cast<int>(i));
        ck_assert_msg(scores[i] == wanted.frames[frame].at(key), "%s: %s", model, key);
      }
    }
  }
}
END_TEST

START_TEST(no_predictor_without_a_model) {
  ck_assert_int_eq(vmafx_predictor_open(nullptr, "vmaf_v0.6.1", nullptr, nullptr), -EINVAL);
  for (const char* model :
       {"", "no_such_model", "vmaf_v0.6.1|vmaf_v0.6.1neg", "vmaf_v0.6.1:adm.adm_enhn_gain_limit=0"}) {
    const Predictor predictor(model);
    ck_assert_int_eq(predictor.error, -EINVAL);
    ck_assert_ptr_null(predictor.predictor);
    ck_assert_msg(!predictor.log.empty(), "'%s' fails without a word", model);
  }
  ck_assert_int_eq(Predictor("path=/nowhere/model.json").error, -ENOENT);
  const Predictor predictor("vmaf_v0.6.1");
  ck_assert_ptr_null(vmafx_predictor_input(predictor.predictor, -1));
  ck_assert_ptr_null(vmafx_predictor_input(predictor.predictor, 6));
  ck_assert_ptr_null(vmafx_predictor_output(predictor.predictor, 1));
  ck_assert_int_eq(vmafx_predict(predictor.predictor, nullptr, nullptr), -EINVAL);
  vmafx_predictor_close(nullptr);
}
END_TEST

START_TEST(reports_hold_what_they_are_given) {
  const VmafxScore first[] = {{"a", 1.5}, {"b", NAN}}, third[] = {{"b", 2}, {"c", 3}}, aggregates[] = {{"whole", 4.25}};
  VmafxFrameResult frames[2] = {};
  frames[0].n_scores = frames[1].n_scores = 2;
  frames[0].scores = first;
  frames[1].frame = 2;
  frames[1].scores = third;
  VmafxReport report{};
  report.format = "csv";
  report.score_fmt = "%.2f";
  report.n_frames = 2;
  report.frames = frames;
  assert_text_eq(written(report), "Frame,a,b,c,\n0,1.50,nan,,\n2,,2.00,3.00,\n");
  report.n_subsample = 2;
  report.format = "sub";
  assert_text_eq(written(report), "{0}{1}frame: 0|a: 1.50|b: nan|\n{2}{3}frame: 2|b: 2.00|c: 3.00|\n");
  report.n_subsample = 3;
  report.width = 64;
  report.height = 48;
  report.fps = 12.5;
  report.n_aggregates = 1;
  report.aggregates = aggregates;
  report.format = "xml";
  const std::string xml = written(report);
  for (const char* part :
       {"qualityWidth=\"64\" qualityHeight=\"48\"", "fps=\"12.50\"", "frameNum=\"0\" a=\"1.50\"", "whole=\"4.25\""})
    assert_contains(xml, part);
  ck_assert_msg(xml.find("frameNum=\"2\"") == xml.npos, "frame 2 is left out");
}
END_TEST

START_TEST(reports_replace_reports_alone) {
  char path[] = "/tmp/vmafx_report_XXXXXX";
  close(mkstemp(path));
  const std::string foreign = "foreign";
  const auto content = [&] {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  std::string log;
  VmafxReport report{};
  report.path = path;
  report.log = append_log;
  report.log_cookie = &log;
  ck_assert_int_eq(vmafx_write_report(&report), 0);  // over an empty file
  ck_assert_int_eq(vmafx_write_report(&report), 0);
  std::ofstream(path) << foreign;
  ck_assert_int_eq(vmafx_write_report(&report), -EEXIST);
  assert_contains(log, "this file exists and is not a report");
  assert_text_eq(content(), foreign);
  report.overwrite = 1;
  ck_assert_int_eq(vmafx_write_report(&report), 0);
  assert_contains(content(), "<VMAF");
  unlink(path);
}
END_TEST

START_TEST(wrong_reports_are_errors) {
  std::string log;
  VmafxReport report{};
  report.log = append_log;
  report.log_cookie = &log;
  ck_assert_int_eq(vmafx_write_report(nullptr), -EINVAL);
  ck_assert_int_eq(vmafx_write_report(&report), -EINVAL);
  report.path = "/nowhere/report.xml";
  ck_assert_int_eq(vmafx_write_report(&report), -ENOENT);
  report.path = "/dev/null";
  ck_assert_int_eq(vmafx_write_report(&report), 0);
  report.format = "ndjson";
  ck_assert_int_eq(vmafx_write_report(&report), -EINVAL);
  report.format = "xml";
  VmafxFrameResult frame{};
  frame.frame = -1;
  report.n_frames = 1;
  ck_assert_int_eq(vmafx_write_report(&report), -EINVAL);
  report.frames = &frame;
  ck_assert_int_eq(vmafx_write_report(&report), -EINVAL);
  report.n_frames = 0;
  report.reserved[0] = &report;
  ck_assert_int_eq(vmafx_write_report(&report), -EINVAL);
  report.reserved[0] = nullptr;
  VmafxScore score{.key = "psnr_y", .value = 30, .reserved = {&report}};
  frame = {.n_scores = 1, .scores = &score};
  report.n_frames = 1;
  ck_assert_int_eq(vmafx_write_report(&report), -EINVAL);
  assert_contains(log, "the reserved words of a VmafxScore are not zero");
  score.reserved[0] = nullptr;
  ck_assert_int_eq(vmafx_write_report(&report), 0);
  assert_contains(log, "needs a path");
  assert_contains(log, "there is no frame -1");
}
END_TEST

/* Pooling and reports agree to the last bit: for keys with a mean of their own, and for scores that are not finite,
 * equal ones, and one alone. */
START_TEST(pooling_is_that_of_reports) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> series[] = {
      {9.1, 3.7, 9.9999, 7.25, 1e-7, 6.3, 8.8}, {0.1, 0.1, 0.1}, {5}, {2, inf, 3.5, nan}, {inf, inf}, {inf, -inf}};
  for (const std::vector<double>& scores : series)
    for (const char* key : {"vmaf", "cvvdp", "cvvdp_ppd_40"}) {
      std::vector<VmafxScore> values;
      for (const double score : scores) values.push_back({key, score});
      std::vector<VmafxFrameResult> frames(values.size());
      for (size_t i = 0; i < frames.size(); i++)
        frames[i] = {.frame = static_cast<int64_t>(i), .n_scores = 1, .scores = &values[i]};
      VmafxReport report{};
      report.format = "json";
      report.score_fmt = "%.17g";
      report.n_frames = frames.size();
      report.frames = frames.data();
      const auto json = nlohmann::json::parse(written(report));
      for (const char* group : {"pooled_metrics", "pooled_statistics"})
        for (const auto& [method, wanted] : json[group][key].items()) {
          double pooled = 0;
          ck_assert_int_eq(vmafx_pool_key(key, method.c_str(), scores.data(), scores.size(), &pooled), 0);
          ck_assert_msg(wanted.is_null() ? !std::isfinite(pooled) : pooled == wanted.get<double>(), "%s of %s: %.17g",
                        method.c_str(), key, pooled);
        }
    }
}
END_TEST

START_TEST(pooling_has_no_guesses) {
  const double scores[] = {4, 1};
  double pooled = 0;
  ck_assert_int_eq(vmafx_pool("mean", scores, 2, &pooled), 0);
  ck_assert_double_eq(pooled, 2.5);
  ck_assert_int_eq(vmafx_pool_key("cvvdp", "mean", scores, 2, &pooled), 0);
  ck_assert_double_ne(pooled, 2.5);
  ck_assert_int_eq(vmafx_pool("average", scores, 2, &pooled), -EINVAL);
  ck_assert_int_eq(vmafx_pool("mean", scores, 0, &pooled), -EDOM);
  ck_assert_int_eq(vmafx_pool("mean", nullptr, 2, &pooled), -EINVAL);
  ck_assert_int_eq(vmafx_pool("mean", scores, 2, nullptr), -EINVAL);
}
END_TEST

START_TEST(scores_are_known) {
  std::map<std::string, VmafxScoreFacts> known;
  VmafxScoreFacts facts{};
  for (int i = 0; vmafx_known_score(i, &facts) == 0; i++) known[facts.key] = facts;
  ck_assert_int_eq(vmafx_known_score(-1, &facts), -EINVAL);
  ck_assert_int_eq(vmafx_known_score(0, nullptr), -EINVAL);
  assert_text_eq(known.at("psnr_y").metric, "psnr");
  assert_text_eq(known.at("psnr_y").unit, "dB");
  ck_assert(known.at("psnr_y").main && known.at("psnr_y").alone && !known.at("psnr_cb").main);
  ck_assert(known.at("integer_adm2").main && !known.at("integer_adm2").alone && !known.at("integer_adm2").unit);
  ck_assert(known.at("psnr_hvs").main && known.at("xpsnr").main);
  ck_assert_int_eq(known.at("cambi").worse, VMAFX_WORSE_HIGH);
  ck_assert_int_eq(known.at("integer_motion2").worse, VMAFX_WORSE_NEITHER);
  ck_assert_int_eq(known.at("vif").worse, VMAFX_WORSE_LOW);
}
END_TEST

/* Reports take the facts of a score from its key, unless the application gives them. */
START_TEST(reports_say_what_given_scores_are) {
  const VmafxScore scores[] = {{"psnr_y_x", 40}, {"mine", 90}, {"cambi", 1}};
  const VmafxFrameResult frame = {.n_scores = 3, .scores = scores};
  const VmafxScoreFacts given = {.key = "cambi", .metric = nullptr, .worse = VMAFX_WORSE_LOW, .unit = "x"};
  const VmafxReportStream stream = {.facts = &given, .n_facts = 1};
  VmafxReport report{};
  report.format = "json";
  report.n_frames = 1;
  report.frames = &frame;
  report.stream = &stream;
  const auto json = nlohmann::json::parse(written(report))["vmafx"]["scores"];
  ck_assert(json == nlohmann::json::parse(R"({
    "psnr_y_x": {"metric": "psnr", "worse": "low", "main": true, "unit": "dB"},
    "mine": {"metric": null, "worse": "low", "main": true, "unit": null},
    "cambi": {"metric": null, "worse": "low", "main": false, "unit": "x"}})"));
}
END_TEST

START_TEST(reports_need_what_is_counted) {
  const VmafxScore nameless = {nullptr, 1};
  const VmafxFrameResult frames[] = {{.n_scores = 1, .scores = &nameless}, {.n_scores = 1, .scores = nullptr}};
  const VmafxScoreFacts no_key = {.metric = "psnr"};
  const VmafxReportStream streams[] = {{.facts = nullptr, .n_facts = 1}, {.facts = &no_key, .n_facts = 1}};
  VmafxReport report = {.path = "/nowhere/report.json", .format = "json", .n_frames = 1};
  for (const VmafxFrameResult& frame : frames) {
    report.frames = &frame;
    ck_assert_int_eq(vmafx_write_report(&report), -EINVAL);
  }
  const VmafxScore score = {"psnr_y", 1};
  const VmafxFrameResult frame = {.n_scores = 1, .scores = &score};
  report.frames = &frame;
  for (const VmafxReportStream& stream : streams) {
    report.stream = &stream;
    ck_assert_int_eq(vmafx_write_report(&report), -EINVAL);
  }
}
END_TEST

/* Aggregates are of the whole stream, and come only at its end. */
START_TEST(aggregates_come_at_the_end) {
  VmafxContext* ctx = nullptr;
  const Params params = cpu_params("", "name=psnr:enable_apsnr=true");
  const StreamOptions options;
  const char* name = nullptr;
  double value = 0;
  ck_assert_int_eq(open_context(&ctx, params), 0);
  ck_assert_int_eq(vmafx_aggregate(ctx, 0, &name, &value), -EINVAL);
  ck_assert_int_eq(vmafx_configure(ctx, &options.ref, &options.dist), 0);
  for (int n = 0; n < 3; n++) {
    const VmafxPicture ref = make_picture(options, n, false), dist = make_picture(options, n, true);
    ck_assert_int_eq(vmafx_submit(ctx, &ref, &dist), 0);
  }
  ck_assert_int_eq(vmafx_aggregate(ctx, 0, &name, &value), -EINVAL);
  ck_assert_int_eq(vmafx_finish(ctx), 0);
  const char* const wanted[] = {"apsnr_y", "apsnr_cb", "apsnr_cr"};
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(vmafx_aggregate(ctx, i, &name, &value), 0);
    assert_text_eq(name, wanted[i]);
    ck_assert_double_gt(value, 1);
  }
  ck_assert_int_eq(vmafx_aggregate(ctx, 3, &name, &value), -EINVAL);
  ck_assert_int_eq(vmafx_aggregate(ctx, -1, &name, &value), -EINVAL);
  vmafx_close(&ctx);
}
END_TEST

/* The values of the whole stream, by their keys. */
std::map<std::string, double> aggregates_of(const char* features) {
  VmafxContext* ctx = nullptr;
  const StreamOptions options;
  ck_assert_int_eq(open_context(&ctx, cpu_params("", features)), 0);
  ck_assert_int_eq(vmafx_configure(ctx, &options.ref, &options.dist), 0);
  for (int n = 0; n < 5; n++) {
    const VmafxPicture ref = make_picture(options, n, false), dist = make_picture(options, n, true);
    ck_assert_int_eq(vmafx_submit(ctx, &ref, &dist), 0);
  }
  ck_assert_int_eq(vmafx_finish(ctx), 0);
  std::map<std::string, double> values;
  const char* name = nullptr;
  double value = 0;
  for (int i = 0; vmafx_aggregate(ctx, i, &name, &value) == 0; i++) values[name] = value;
  vmafx_close(&ctx);
  return values;
}

/* Requests that differ in an option of the keys have values of the stream of their own, each as it is alone. */
START_TEST(aggregates_have_the_options_in_their_keys) {
  const auto slow = aggregates_of("xpsnr:fps=25"), fast = aggregates_of("xpsnr:fps=50");
  ck_assert_uint_eq(slow.size(), 4);
  ck_assert_double_ne(slow.at("axpsnr_y_fps_25"), fast.at("axpsnr_y_fps_50"));
  auto both = slow;
  both.insert(fast.begin(), fast.end());
  ck_assert(aggregates_of("xpsnr:fps=25|xpsnr:fps=50") == both);
  ck_assert(aggregates_of("xpsnr:fps=50|xpsnr:fps=25") == both);
  ck_assert_uint_eq(aggregates_of("xpsnr").count("axpsnr_y"), 1);
}
END_TEST

int main() {
  return run_suite("predictor", {{"pooling", pooling_is_that_of_reports},
                                 {"pooling_errors", pooling_has_no_guesses},
                                 {"known", scores_are_known},
                                 {"facts", reports_say_what_given_scores_are},
                                 {"counted", reports_need_what_is_counted},
                                 {"predictions", predictions_are_those_of_a_session},
                                 {"no_model", no_predictor_without_a_model},
                                 {"reports", reports_hold_what_they_are_given},
                                 {"replaced", reports_replace_reports_alone},
                                 {"wrong_reports", wrong_reports_are_errors},
                                 {"aggregates", aggregates_come_at_the_end},
                                 {"aggregates_of_options", aggregates_have_the_options_in_their_keys}});
}
