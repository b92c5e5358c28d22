#include "report/report.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "report/openmetrics.h"
#include "report/outputs.h"
#include "report/score_facts.h"
#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

namespace fs = std::filesystem;

/* A report that was there before. */
const std::string kOld = "Frame,old,\n";

constexpr double kInf = std::numeric_limits<double>::infinity();

/* A folder of its own for each test program, gone at its end. */
const fs::path& folder() {
  static const struct Folder {
    Folder() {
      std::string name = (fs::temp_directory_path() / "vmafx_report_XXXXXX").string();
      if (mkdtemp(name.data())) path = name;
    }
    ~Folder() { fs::remove_all(path); }
    fs::path path;
  } kFolder;
  return kFolder.path;
}

std::string in_folder(const char* name) { return (folder() / name).string(); }

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void succeed(const Status& status) { ck_assert_msg(status.ok(), "%s", status.message().c_str()); }

ReportFile opened(const ReportOptions& options) {
  auto report = ReportFile::open(options);
  ck_assert_msg(report.ok(), "%s", report.status().message().c_str());
  return std::move(report.value());
}

/* The whole report of one encode. */
Status write(ReportFile& report, const ScoreTable& scores, const ReportData& data) {
  const EncodeReport only[] = {{scores, nullptr, data}};
  return report.write(only);
}

/* The text of a whole report. */
std::string reported(const char* format, const ScoreTable& scores, const ReportData& data, int n_subsample = 1,
                     const char* score_format = "") {
  const std::string path = in_folder("whole");
  const ParsedReportFormat parsed = parse_report_format(format, "");
  ReportFile report = opened({path, parsed.format, ScoreFormat::parse(score_format, false).value(), n_subsample});
  for (int64_t frame = 0; frame < scores.frames(); frame++) succeed(report.append_frame(scores, frame));
  succeed(write(report, scores, data));
  succeed(report.commit());
  return contents(path);
}

ScoreTable two_frames() {
  ScoreTable scores({"integer_adm2", "vmaf"});
  scores.put(0, 0, 0.5);
  scores.put(0, 1, 80);
  scores.put(1, 0, 0.25);
  scores.put(1, 1, 90.1234567);
  return scores;
}

const ReportData kData = {"1.2.3", 576, 324, 123.456};

std::string beginning(const std::string& text, const std::string& end) { return text.substr(0, text.find(end)); }

}  // namespace

START_TEST(formats_have_names) {
  ck_assert(parse_report_format("ndjson", "").format == ReportFormat::kNdjson);
  ck_assert(parse_report_format("xml", "report.json").format == ReportFormat::kXml);
  const ParsedReportFormat unknown = parse_report_format("JSON", "report.json");
  ck_assert(!unknown.known && unknown.format == ReportFormat::kXml);
}
END_TEST

START_TEST(endings_tell_formats) {
  const auto format_of = [](const char* path) {
    const ParsedReportFormat parsed = parse_report_format("", path);
    ck_assert(parsed.known);
    return parsed.format;
  };
  ck_assert(format_of("r.json") == ReportFormat::kJson && format_of("/a.b/r.ndjson") == ReportFormat::kNdjson);
  ck_assert(format_of("r.csv") == ReportFormat::kCsv && format_of("r.tar.sub") == ReportFormat::kSub);
  for (const char* path : {"", "-", "r.xml", "r", "r.", "r.txt", "json", "json.d/r"})
    ck_assert(format_of(path) == ReportFormat::kXml);
}
END_TEST

START_TEST(json_is_laid_out_as_libvmaf_does) {
  ScoreTable scores = two_frames();
  scores.set_aggregate("apsnr_y", 34.5);
  scores.set_aggregate("apsnr_cb", kInf);
  const std::string text = reported("json", scores, kData);
  assert_text_eq(beginning(text, "  \"pooled_statistics\""), R"({
  "version": "1.2.3",
  "fps": 123.46,
  "frames": [
    {
      "frameNum": 0,
      "metrics": {
        "integer_adm2": 0.500000,
        "vmaf": 80.000000
      }
    },
    {
      "frameNum": 1,
      "metrics": {
        "integer_adm2": 0.250000,
        "vmaf": 90.123457
      }
    }
  ],
  "pooled_metrics": {
    "integer_adm2": {
      "min": 0.250000,
      "max": 0.500000,
      "mean": 0.375000,
      "harmonic_mean": 0.363636
    },
    "vmaf": {
      "min": 80.000000,
      "max": 90.123457,
      "mean": 85.061728,
      "harmonic_mean": 84.764022
    }
  },
  "aggregate_metrics": {
    "apsnr_y": 34.500000,
    "apsnr_cb": null
  },
)");
  const auto json = nlohmann::json::parse(text);
  ck_assert_double_eq_tol(json["pooled_statistics"]["vmaf"]["median"].get<double>(), 85.061728, 1e-9);
  ck_assert_double_eq_tol(json["pooled_statistics"]["integer_adm2"]["p10"].get<double>(), 0.275, 1e-9);
  ck_assert_int_eq(json["pooled_statistics"]["vmaf"].size(), 10);
  ck_assert(!json.contains("partial") && !json.contains("excluded_scores"));
}
END_TEST

START_TEST(json_of_nothing) {
  assert_text_eq(reported("json", ScoreTable({}), {"1", 2, 2, kNan}), R"({
  "version": "1",
  "fps": null,
  "frames": [
  ],
  "pooled_metrics": {
  },
  "aggregate_metrics": {
  },
  "pooled_statistics": {
  }
}
)");
}
END_TEST

START_TEST(json_says_what_is_missing) {
  ScoreTable scores({"a", "na\"me\n\xff"});
  scores.put(1, 0, kNan);
  scores.put(2, 0, 1);
  scores.put(2, 1, kInf);
  ReportData data = kData;
  data.partial = true;
  data.run = Json::object({{"backend", Json::object({{"vif", "hip"}})}});
  const auto json = nlohmann::json::parse(reported("json", scores, data));
  ck_assert_int_eq(json["frames"].size(), 2);
  ck_assert_int_eq(json["frames"][0]["frameNum"].get<int>(), 1);
  ck_assert(json["frames"][0]["metrics"]["a"].is_null());
  ck_assert_int_eq(json["frames"][0]["metrics"].size(), 1);
  ck_assert_double_eq(json["pooled_metrics"]["a"]["mean"].get<double>(), 1);
  ck_assert_int_eq(json["excluded_scores"]["a"].get<int>(), 1);
  ck_assert_int_eq(json["excluded_scores"].size(), 2);
  const auto infinite = json["pooled_metrics"]["na\"me\n\xef\xbf\xbd"];
  for (const char* pool : {"min", "max", "mean", "harmonic_mean"}) ck_assert(infinite.at(pool).is_null());
  ck_assert(json["partial"] == true);
  assert_text_eq(json["vmafx"]["backend"]["vif"].get<std::string>(), "hip");
}
END_TEST

START_TEST(xml_is_laid_out_as_libvmaf_does) {
  const std::string text = reported("xml", two_frames(), kData);
  assert_text_eq(beginning(text, "  <pooled_statistics>"), R"(<VMAF version="1.2.3">
  <params qualityWidth="576" qualityHeight="324" />
  <fyi fps="123.46" />
  <frames>
    <frame frameNum="0" integer_adm2="0.500000" vmaf="80.000000" />
    <frame frameNum="1" integer_adm2="0.250000" vmaf="90.123457" />
  </frames>
  <pooled_metrics>
    <metric name="integer_adm2" min="0.250000" max="0.500000" mean="0.375000" harmonic_mean="0.363636" />
    <metric name="vmaf" min="80.000000" max="90.123457" mean="85.061728" harmonic_mean="84.764022" />
  </pooled_metrics>
  <aggregate_metrics />
)");
  assert_contains(text, R"(    <statistics name="vmaf" median="85.061728" stddev="5.061728" p1=)");
}
END_TEST

START_TEST(xml_escapes_and_extras) {
  ScoreTable scores({"0 a<b>&\"c\""});
  scores.put(0, 0, kNan);
  scores.put(1, 0, -kInf);
  ReportData data = kData;
  data.partial = true;
  data.run = Json::object({{"device", "a & b"},
                           {"threads", 3},
                           {"backend", Json::object({{"vif", "hip"}})},
                           {"frames", Json::object({{"reference", Json::object({{"uploaded", 0}})}})},
                           {"fallback", "x\ny"}});
  data.pairing = Pairing{{.paired = 7}};
  const std::string text = reported("xml", scores, data);
  assert_contains(text, "<VMAF version=\"1.2.3\" partial=\"true\">\n");
  assert_contains(text, "<frame frameNum=\"0\" _0_a_b___c_=\"nan\" />\n");
  assert_contains(text, "<frame frameNum=\"1\" _0_a_b___c_=\"-inf\" />\n");
  assert_contains(text,
                  "<metric name=\"0 a&lt;b&gt;&amp;&quot;c&quot;\" min=\"nan\" max=\"nan\" mean=\"nan\" "
                  "harmonic_mean=\"nan\" />\n");
  assert_contains(text, "  <excluded_scores _0_a_b___c_=\"2\" />\n");
  assert_contains(text, R"(  <vmafx device="a &amp; b" threads="3" fallback="x y">
    <backend vif="hip" />
    <frames>
      <reference uploaded="0" />
    </frames>
  </vmafx>
  <pairing paired="7" )");
}
END_TEST

START_TEST(reports_say_what_scores_are) {
  ScoreTable scores({"psnr_y", "vmaf"});
  scores.put(0, 0, 40);
  scores.put(0, 1, 90);
  ReportData data = kData;
  const ScoreFacts facts[] = {{"psnr_y", "psnr", Worse::kLow, true, "dB"}, {.key = "vmaf", .main = true}};
  data.run = Json::object({{"scores", scores_json(facts)}});
  const auto json = nlohmann::json::parse(reported("json", scores, data))["vmafx"]["scores"];
  ck_assert(json["psnr_y"] == nlohmann::json::parse(R"({"metric":"psnr","worse":"low","main":true,"unit":"dB"})"));
  ck_assert(json["vmaf"] == nlohmann::json::parse(R"({"metric":null,"worse":"low","main":true,"unit":null})"));
  assert_contains(reported("xml", scores, data),
                  "    <scores>\n      <psnr_y metric=\"psnr\" worse=\"low\" main=\"true\" unit=\"dB\" />\n"
                  "      <vmaf metric=\"null\" worse=\"low\" main=\"true\" unit=\"null\" />\n    </scores>\n");
}
END_TEST

/* Reports have doubts as words and as data; damaged pictures have a sentence of their own. */
START_TEST(doubts_are_words_and_data) {
  const char* const remedies[] = {"do this", "do that"};
  const VmafxDoubt given[] = {
      {.kind = VMAFX_DOUBT_CORRUPT_DISTORTED, .from = 3, .end = 4},
      {.kind = VMAFX_DOUBT_TIME_DIFFERENCE,
       .from = 5,
       .end = 6,
       .frame_duration = 0.04,
       .remedies = remedies,
       .n_remedies = 2},
      {.kind = VMAFX_DOUBT_REPEATED_REFERENCE, .from = 7, .end = 10, .remedies = remedies + 1, .n_remedies = 1}};
  const auto pairing = read_pairing({.paired = 12,
                                     .unmatched_distorted = 2,
                                     .repeated_reference = 3,
                                     .max_time_difference = 0.12,
                                     .corrupt_distorted = 1,
                                     .doubts = given,
                                     .n_doubts = 3});
  ck_assert(pairing.ok());
  const auto sentences = doubt_sentences(pairing.value());
  ck_assert_uint_eq(sentences.size(), 2);
  assert_text_eq(
      sentences[0],
      "The score is doubtful, the inputs do not go together frame by frame: pairs scored: 12; frames of main "
      "without a reference frame: 2; pairs repeating a reference frame: 3; the times of a pair differ by up to "
      "0.120 s, a frame lasts 0.040 s. What helps: do that; do this.");
  assert_text_eq(
      sentences[1],
      "The score is doubtful, frames were decoded with errors: of 12 pairs, the frame of main is corrupt in 1 "
      "and the reference in 0.");
  ReportData data = kData;
  data.pairing = pairing.value();
  ScoreTable scores({"a"});
  scores.put(0, 0, 1);
  const auto json = nlohmann::json::parse(reported("json", scores, data));
  ck_assert(json["doubts"] == nlohmann::json::parse(R"([
    {"kind": "unmatched_distorted", "count": 2, "text": "frames of main without a reference frame: 2", "remedies": []},
    {"kind": "repeated_reference", "count": 3, "from": 7, "to": 9, "text": "pairs repeating a reference frame: 3",
     "remedies": ["do that"]},
    {"kind": "time_difference", "frame_duration": 0.04, "from": 5, "to": 5,
     "text": "the times of a pair differ by up to 0.120 s, a frame lasts 0.040 s", "remedies": ["do this", "do that"]},
    {"kind": "corrupt_distorted", "count": 1, "from": 3, "to": 3, "text": "pairs with a corrupt frame of main: 1",
     "remedies": []}])"));
  ck_assert(json["warnings"] == nlohmann::json(sentences));
  const std::string xml = reported("xml", scores, data);
  assert_contains(xml, "<doubt kind=\"repeated_reference\" count=\"3\" from=\"7\" to=\"9\" text=");
  assert_contains(xml, " remedies=\"do this; do that\" />\n");
  assert_contains(xml, "  <warnings>\n    <warning text=\"The score is doubtful, the inputs");
}
END_TEST

/* Doubts that pictures raise stand behind those of pairs; the log has a kind once. */
START_TEST(pictures_raise_doubts) {
  const PictureDoubt dropped = {.kind = "dropped",
                                .certainty = "likely",
                                .from = 12,
                                .end = 13,
                                .evidence = {{"frames", 1}},
                                .text = "main lacks 1 frame of the reference",
                                .remedies = {"encode again", "score parts"}};
  PictureDoubt later = dropped;
  later.from = 40, later.end = 42;
  const PictureDoubt gray = {.kind = "gray", .certainty = "possible", .from = 0, .end = 50, .text = "main is gray"};
  ReportData data = kData;
  data.picture_doubts = {dropped, later, gray};
  const std::vector<std::string> sentences = doubt_sentences(data.picture_doubts);
  ck_assert(sentences ==
            std::vector<std::string>(
                {"The score is doubtful, the pictures show: main lacks 1 frame of the reference in pair 12 (likely); "
                 "such places besides: 1. What helps: encode again; score parts.",
                 "The score is doubtful, the pictures show: main is gray in pairs 0 to 49 (possible)."}));
  ScoreTable scores({"a"});
  scores.put(0, 0, 1);
  const auto json = nlohmann::json::parse(reported("json", scores, data));
  ck_assert(!json.contains("pairing") && json["warnings"] == nlohmann::json(sentences));
  ck_assert_uint_eq(json["doubts"].size(), 3);
  ck_assert(json["doubts"][1] == nlohmann::json::parse(R"({"kind": "dropped", "certainty": "likely", "from": 40,
    "to": 41, "text": "main lacks 1 frame of the reference", "remedies": ["encode again", "score parts"],
    "evidence": {"frames": 1.0}})"));
  const std::string lines = reported("ndjson", scores, data);
  const size_t last = lines.rfind('\n', lines.size() - 2) + 1;
  ck_assert(nlohmann::json::parse(lines.substr(last))["doubts"] == json["doubts"]);
  assert_contains(reported("xml", scores, data),
                  "<doubt kind=\"dropped\" certainty=\"likely\" from=\"12\" to=\"12\" "
                  "text=\"main lacks 1 frame of the reference\" remedies=\"encode again; score parts\">\n"
                  "      <evidence frames=\"1.0\" />\n    </doubt>\n");
  const auto pairing = read_pairing({.paired = 12, .repeated_reference = 3});
  data.pairing = pairing.value();
  const auto both = nlohmann::json::parse(reported("json", scores, data));
  ck_assert(both["doubts"].size() == 4 && both["doubts"][0]["kind"] == "repeated_reference");
  ck_assert_uint_eq(both["warnings"].size(), 3);
}
END_TEST

START_TEST(good_pairs_have_no_doubts) {
  const auto pairing = read_pairing({.paired = 12, .max_time_difference = 0.001});
  ck_assert(pairing.ok() && doubt_sentences(pairing.value()).empty());
  ReportData data = kData;
  data.pairing = pairing.value();
  ScoreTable scores({"a"});
  scores.put(0, 0, 1);
  const auto json = nlohmann::json::parse(reported("json", scores, data));
  ck_assert(json["doubts"].empty() && !json.contains("warnings"));
  const VmafxDoubt unknown = {.kind = static_cast<VmafxDoubtKind>(VMAFX_DOUBT_CORRUPT_REFERENCE + 1)};
  ck_assert_int_eq(read_pairing({.doubts = &unknown, .n_doubts = 1}).status().code(), EINVAL);
}
END_TEST

/* No two attributes have one name, and names that need no change have none. What is not UTF-8 is replaced. */
START_TEST(xml_names_are_names_and_unique) {
  ScoreTable scores({"a b", "a_b", "1x", "_1x", "frameNum", "time", "metric", "\xff\xc3",
                     "gr\xc3\xb6\xc3\x9f"
                     "e"});
  for (int column = 0; column < scores.columns(); column++) scores.put(0, column, column + 0.5);
  scores.put(1, 0, kNan);
  const std::string text = reported("xml", scores, kData, 1, "%.1f");
  assert_contains(
      text,
      "<frame frameNum=\"0\" a_b_=\"0.5\" a_b=\"1.5\" _1x_=\"2.5\" _1x=\"3.5\" frameNum_=\"4.5\" time_=\"5.5\" "
      "metric=\"6.5\" __=\"7.5\" gr__e=\"8.5\" />\n");
  assert_contains(text, "<metric name=\"\xef\xbf\xbd\xef\xbf\xbd\" min=");
  assert_contains(text,
                  "<metric name=\"gr\xc3\xb6\xc3\x9f"
                  "e\" min=");
  assert_contains(text, "<excluded_scores a_b_=\"1\" />");
  scores.set_aggregate("1x", 1);
  scores.set_aggregate("_1x", 2);
  assert_contains(reported("xml", scores, kData, 1, "%.1f"), "<aggregate_metrics _1x_=\"1.0\" _1x=\"2.0\" />\n");
  assert_contains(reported("xml", ScoreTable({"\xef\xbf\xbf"}), kData), "<metric name=\"\xef\xbf\xbd\" />");
}
END_TEST

/* A metric of equal pictures that is infinite in all frames: libvmaf's keys, null in JSON, inf in XML. A column without
 * any score has none. */
START_TEST(infinite_metrics_keep_their_pooled_keys) {
  ScoreTable scores({"ciede2000", "absent"});
  for (int frame = 0; frame < 2; frame++) scores.put(frame, 0, kInf);
  const auto json = nlohmann::json::parse(reported("json", scores, kData));
  for (const char* pool : {"min", "max", "mean", "harmonic_mean"})
    ck_assert(json["pooled_metrics"]["ciede2000"].at(pool).is_null());
  ck_assert(json["pooled_metrics"]["absent"].empty());
  ck_assert_int_eq(json["excluded_scores"]["ciede2000"].get<int>(), 2);
  ck_assert(json["infinite_scores"] == nlohmann::json({"ciede2000"}));
  assert_contains(reported("xml", scores, kData),
                  "    <metric name=\"ciede2000\" min=\"inf\" max=\"inf\" mean=\"inf\" harmonic_mean=\"inf\" />\n"
                  "    <metric name=\"absent\" />\n");
}
END_TEST

/* null stands for infinity only where all that is not finite is that. */
START_TEST(json_says_which_scores_are_infinite) {
  ScoreTable scores({"some", "negative", "mixed", "nan", "finite"});
  for (int frame = 0; frame < 2; frame++) {
    scores.put(frame, 0, frame ? kInf : 40);
    scores.put(frame, 1, -kInf);
    scores.put(frame, 2, frame ? kInf : std::nan(""));
    scores.put(frame, 3, std::nan(""));
    scores.put(frame, 4, 1);
  }
  const auto json = nlohmann::json::parse(reported("json", scores, kData));
  ck_assert(json["infinite_scores"] == nlohmann::json({"some"}));
  ck_assert_int_eq(json["excluded_scores"].size(), 4);
  scores.put(2, 0, std::nan(""));
  ck_assert(!nlohmann::json::parse(reported("json", scores, kData)).contains("infinite_scores"));
}
END_TEST

START_TEST(csv_keeps_its_columns) {
  ScoreTable scores({"a", "b,\"c", "d"});
  scores.put(0, 1, 1);
  scores.put(2, 0, 2);
  scores.put(2, 2, kInf);
  assert_text_eq(reported("csv", scores, kData), "Frame,a,\"b,\"\"c\",d,\n0,,1.000000,,\n2,2.000000,,inf,\n");
}
END_TEST

START_TEST(sub_has_a_line_per_frame) {
  assert_text_eq(reported("sub", two_frames(), kData),
                 "{0}{1}frame: 0|integer_adm2: 0.500000|vmaf: 80.000000|\n"
                 "{1}{2}frame: 1|integer_adm2: 0.250000|vmaf: 90.123457|\n");
  ScoreTable scores({"a\r\nb"});
  scores.put(0, 0, 1);
  assert_text_eq(reported("sub", scores, kData), "{0}{1}frame: 0|a  b: 1.000000|\n");
}
END_TEST

START_TEST(skipped_frames_are_nowhere) {
  ScoreTable scores({"motion", "vmaf"});
  for (int frame = 0; frame < 5; frame++) {
    scores.put(frame, 0, frame);
    if (frame % 2 == 0) scores.put(frame, 1, 10 * frame);
  }
  assert_text_eq(reported("csv", scores, kData, 2),
                 "Frame,motion,vmaf,\n0,0.000000,0.000000,\n2,2.000000,20.000000,\n4,4.000000,40.000000,\n");
  const auto json = nlohmann::json::parse(reported("json", scores, kData, 2));
  ck_assert_int_eq(json["frames"].size(), 3);
  ck_assert_double_eq(json["pooled_metrics"]["motion"]["mean"].get<double>(), 2);
  std::istringstream lines(reported("ndjson", scores, kData, 2));
  int n = 0;
  for (std::string line; std::getline(lines, line);) n++;
  ck_assert_int_eq(n, 4);
}
END_TEST

START_TEST(ndjson_can_be_read_while_it_grows) {
  const std::string path = in_folder("live");
  ReportFile report = opened({path, ReportFormat::kNdjson, {}, 1});
  ScoreTable scores({"vmaf"});
  scores.put(0, 0, 99.5);
  succeed(report.append_frame(scores, 0));
  assert_text_eq(contents(path), "{\"frameNum\": 0, \"metrics\": {\"vmaf\": 99.500000}}\n");
  scores.put(1, 0, kNan);
  succeed(report.append_frame(scores, 1));
  succeed(report.append_frame(scores, 2));
  succeed(write(report, scores, {"1", 2, 2, 5}));
  succeed(report.commit());
  const std::string text = contents(path);
  assert_contains(text,
                  "\n{\"frameNum\": 1, \"metrics\": {\"vmaf\": null}}\n{\"version\": \"1\", \"fps\": 5.00, "
                  "\"pooled_metrics\": {\"vmaf\": {\"min\": 99.500000, \"max\": 99.500000, ");
  const auto last = nlohmann::json::parse(text.substr(text.rfind('\n', text.size() - 2)));
  ck_assert_int_eq(last["excluded_scores"]["vmaf"].get<int>(), 1);
}
END_TEST

ScoreTable with_times() {
  ScoreTable scores = two_frames();
  scores.set_time(0, 0);
  scores.set_time(1, 0.0417083);
  return scores;
}

START_TEST(frames_have_their_times) {
  const auto json = nlohmann::json::parse(reported("json", with_times(), kData));
  ck_assert_double_eq(json["frames"][1]["time"].get<double>(), 0.041708);
  ck_assert_int_eq(json["frames"][1]["metrics"].size(), 2);
  assert_contains(reported("json", with_times(), kData), "      \"frameNum\": 1,\n      \"time\": 0.041708,\n");
  assert_contains(reported("ndjson", with_times(), kData), "{\"frameNum\": 0, \"time\": 0.000000, \"metrics\": {");
  assert_contains(reported("xml", with_times(), kData), "<frame frameNum=\"1\" time=\"0.041708\" integer_adm2=");
  assert_text_eq(reported("csv", with_times(), kData),
                 "Frame,Time,integer_adm2,vmaf,\n0,0.000000,0.500000,80.000000,\n1,0.041708,0.250000,90.123457,\n");
  assert_text_eq(reported("sub", with_times(), kData), reported("sub", two_frames(), kData));
}
END_TEST

START_TEST(times_that_are_not_known_are_left_out) {
  ScoreTable scores = two_frames();
  scores.set_time(1, 2);
  scores.set_time(0, kNan);
  ck_assert(!scores.time(0) && !scores.time(2) && scores.time(1) == 2.0);
  const auto json = nlohmann::json::parse(reported("json", scores, kData));
  ck_assert(!json["frames"][0].contains("time") && json["frames"][1].contains("time"));
  assert_contains(reported("xml", scores, kData), "<frame frameNum=\"0\" integer_adm2=");
  assert_contains(reported("csv", scores, kData), "\n0,,0.500000,80.000000,\n1,2.000000,");
}
END_TEST

/* Pairs that are sure to be wrong. */
START_TEST(frames_have_the_doubts_that_are_sure) {
  const PictureDoubt mirrored = {.kind = "mirrored", .certainty = "sure", .from = 0, .end = 2, .text = "a"};
  const PictureDoubt dropped = {.kind = "dropped", .certainty = "sure", .from = 1, .end = 2, .text = "b"};
  PictureDoubt again = dropped, likely = dropped;
  likely.kind = "gray", likely.certainty = "likely";
  ReportData data = kData;
  data.picture_doubts = {dropped, again, likely, mirrored};
  const auto json = nlohmann::json::parse(reported("json", two_frames(), data));
  ck_assert(json["frames"][0]["doubts"] == nlohmann::json({"mirrored"}));
  ck_assert(json["frames"][1]["doubts"] == nlohmann::json({"dropped", "mirrored"}));
  assert_contains(reported("xml", two_frames(), data),
                  "<frame frameNum=\"1\" doubts=\"dropped mirrored\" integer_adm2=");
  assert_contains(reported("csv", two_frames(), data),
                  "Frame,Doubts,integer_adm2,vmaf,\n0,mirrored,0.500000,80.000000,\n1,dropped mirrored,0.250000,");
  data.picture_doubts = {likely};
  for (const char* format : {"xml", "csv", "sub"})
    ck_assert(reported(format, two_frames(), data).substr(0, 200) ==
              reported(format, two_frames(), kData).substr(0, 200));
  ck_assert(!nlohmann::json::parse(reported("json", two_frames(), data))["frames"][1].contains("doubts"));
}
END_TEST

/* A line is written before the end of the stream is known. */
START_TEST(lines_have_the_doubts_that_are_sure_so_far) {
  ReportFile live = opened({.path = in_folder("live"), .format = ReportFormat::kNdjson});
  const std::vector<const char*> doubts = {"mirrored", "cropped"};
  succeed(live.append_frame(two_frames(), 0));
  succeed(live.append_frame(two_frames(), 1, nullptr, doubts));
  std::istringstream lines(contents(in_folder("live")));
  std::string first, second;
  std::getline(lines, first), std::getline(lines, second);
  ck_assert(!nlohmann::json::parse(first).contains("doubts"));
  ck_assert(nlohmann::json::parse(second)["doubts"] == nlohmann::json({"mirrored", "cropped"}));
}
END_TEST

/* Programs that were written for libvmaf take each attribute and each column for a score. */
START_TEST(times_can_be_kept_from_among_scores) {
  const auto text_in = [](ReportFormat format, const ScoreTable& scores) {
    ReportFile report = opened({.path = in_folder("without"), .format = format, .all_times = false});
    succeed(write(report, scores, kData));
    succeed(report.commit());
    return contents(in_folder("without"));
  };
  for (const ReportFormat format : {ReportFormat::kXml, ReportFormat::kCsv, ReportFormat::kSub}) {
    assert_text_eq(text_in(format, with_times()), text_in(format, two_frames()));
    ReportData doubtful = kData;
    doubtful.picture_doubts = {{.kind = "gray", .certainty = "sure", .from = 0, .end = 2, .text = "a"}};
    ReportFile report = opened({.path = in_folder("without"), .format = format, .all_times = false});
    succeed(write(report, two_frames(), doubtful));
    succeed(report.commit());
    ck_assert(contents(in_folder("without")).find("Doubts,") == std::string::npos);
    ck_assert(contents(in_folder("without")).find("frameNum=\"1\" doubts=") == std::string::npos);
  }
  assert_contains(text_in(ReportFormat::kJson, with_times()), "\"time\": 0.041708");
}
END_TEST

START_TEST(numbers_are_printed_as_libvmaf_does) {
  const ScoreFormat format;
  assert_text_eq(format.print(0), "0.000000");
  assert_text_eq(format.print(-0.5), "-0.500000");
  assert_text_eq(format.print(1.0000019), "1.000002");
  assert_text_eq(format.print(3e-7), "0.0000003000000000");
  assert_text_eq(format.print(-2.00000025), "-2.0000002499999998");
  assert_text_eq(format.print(1e10), "10000000000.000000");
  ck_assert_int_eq(format.print(1.7e308).size(), 316);
}
END_TEST

START_TEST(score_formats) {
  assert_text_eq(ScoreFormat::parse("%.17g", true).value().print(0.1), "0.10000000000000001");
  assert_text_eq(ScoreFormat::parse("%8.3f", true).value().print(1.5), "   1.500");
  assert_text_eq(ScoreFormat::parse("%a", false).value().print(1), "0x1p+0");
  ck_assert_int_eq(ScoreFormat::parse("%99.99f", false).value().print(-1.7e308).size(), 410);
  for (const char* text : {"%", "%d", "%s", "%n", "%f%f", "x%f", "%fx", "%*f", "%.*f", "%lf", "%Lf", "%%", "f", "%1$f",
                           "%100f", "%.100f", "%ff", "%.6", "% "}) {
    const auto format = ScoreFormat::parse(text, false);
    ck_assert_msg(format.status().code() == EINVAL, "%s", text);
    assert_contains(format.status().message(), text);
  }
  for (const char* text : {"%a", "%+f", "%08.3f", "%#.0f", "%#g", "%#.17g", "%#.99G"})
    assert_contains(ScoreFormat::parse(text, true).status().message(), "no number in JSON");
  assert_contains(reported("csv", two_frames(), kData, 1, "%.1f"), "1,0.2,90.1,\n");
}
END_TEST

START_TEST(a_report_appears_when_it_is_complete) {
  const std::string path = in_folder("late"), part = path + ".part";
  std::ofstream(path) << kOld;
  {
    ReportFile report = opened({path, ReportFormat::kCsv, {}, 1});
    ck_assert(fs::exists(part));
    succeed(write(report, two_frames(), kData));
    assert_text_eq(contents(path), kOld);
    succeed(report.commit());
    assert_contains(contents(path), "Frame,");
    ck_assert(!fs::exists(part));
  }
  { const ReportFile unused = opened({path, ReportFormat::kJson, {}, 1}); }
  assert_contains(contents(path), "Frame,");
  ck_assert(!fs::exists(part));
}
END_TEST

START_TEST(an_unused_report_leaves_nothing) {
  for (const ReportFormat format : {ReportFormat::kXml, ReportFormat::kNdjson}) {
    {
      const ReportFile unused = opened({in_folder("unused"), format, {}, 1});
    }
    ck_assert(!fs::exists(in_folder("unused")) && !fs::exists(in_folder("unused.part")));
  }
  std::ofstream(in_folder("kept")) << kOld;
  { const ReportFile unused = opened({in_folder("kept"), ReportFormat::kNdjson, {}, 1}); }
  assert_text_eq(contents(in_folder("kept")), kOld);
}
END_TEST

/* Writes a report of two frames. */
void write_sub(const std::string& path) {
  ReportFile report = opened({path, ReportFormat::kSub, {}, 1});
  succeed(write(report, two_frames(), kData));
  succeed(report.commit());
  assert_contains(contents(path), "{0}{1}frame: 0|");
}

size_t files_in(const fs::path& path) { return std::distance(fs::directory_iterator(path), fs::directory_iterator()); }

START_TEST(what_has_the_temporary_name_stays) {
  const fs::path here = folder() / "taken";
  fs::create_directory(here);
  std::ofstream(here / "file.part") << "mine";
  std::ofstream(here / "victim") << "mine";
  fs::create_symlink("victim", here / "link.part");
  ck_assert_int_eq(mkfifo((here / "pipe.part").c_str(), 0600), 0);
  alarm(60);  // opening the pipe could wait for ever
  for (const char* name : {"file", "link", "pipe"}) {
    write_sub(here / name);
    { const ReportFile unused = opened({here / name, ReportFormat::kSub, {}, 1}); }
  }
  alarm(0);
  assert_text_eq(contents(here / "file.part") + contents(here / "victim"), "minemine");
  ck_assert(fs::is_symlink(here / "link.part") && fs::is_fifo(here / "pipe.part"));
  ck_assert_int_eq(files_in(here), 7);
}
END_TEST

struct stat status_of(const std::string& path) {
  struct stat info;
  ck_assert_int_eq(stat(path.c_str(), &info), 0);
  return info;
}

START_TEST(mode_and_owner_stay) {
  const std::string path = in_folder("private");
  std::ofstream(path) << kOld;
  ck_assert_int_eq(chmod(path.c_str(), 0600), 0);
  if (geteuid() == 0) ck_assert_int_eq(chown(path.c_str(), 65534, 65533), 0);
  const struct stat before = status_of(path);
  write_sub(path);
  const struct stat after = status_of(path);
  ck_assert_int_eq(after.st_mode & 07777, 0600);
  ck_assert(after.st_uid == before.st_uid && after.st_gid == before.st_gid && after.st_ino != before.st_ino);
}
END_TEST

START_TEST(hard_links_stay_one_file) {
  const std::string path = in_folder("one"), other = in_folder("other");
  const std::string old = kOld + std::string(100000, 'x');
  std::ofstream(path) << old;
  fs::create_hard_link(path, other);
  ReportFile report = opened({path, ReportFormat::kSub, {}, 1});
  succeed(write(report, two_frames(), kData));
  ck_assert(contents(path) == old);  // until it is complete
  succeed(report.commit());
  ck_assert_int_eq(status_of(path).st_ino, status_of(other).st_ino);
  assert_text_eq(contents(other), reported("sub", two_frames(), kData));
  ck_assert(!fs::exists(path + ".part"));
}
END_TEST

/* Runs `body` in a process of its own: 0, or what it returns. */
template <class Body>
int apart(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int exited = 0;
  ck_assert_int_eq(waitpid(child, &exited, 0), child);
  return exited;
}

int try_to_report(const fs::path& path) {
  auto report = ReportFile::open({path, ReportFormat::kSub, {}, 1});
  if (!report.ok()) return report.status().code();
  const Status written = write(report.value(), two_frames(), kData);
  return written.ok() ? report.value().commit().code() : written.code();
}

/* A folder where anyone may make files, and nobody replace those of others. */
START_TEST(files_of_others_are_written_and_stay_theirs) {
  if (geteuid() != 0) return;  // only root can become two users
  const fs::path here = folder() / "sticky";
  fs::create_directory(here);
  fs::permissions(folder(), fs::perms(0711));
  fs::permissions(here, fs::perms(01777));
  std::ofstream(here / "theirs") << kOld;
  fs::permissions(here / "theirs", fs::perms(0666));
  ck_assert_int_eq(apart([&] { return setgid(65534) || setuid(65534) ? -1 : try_to_report(here / "theirs"); }), 0);
  ck_assert_int_eq(status_of(here / "theirs").st_uid, 0);
  assert_contains(contents(here / "theirs"), "{0}{1}");
  ck_assert_int_eq(files_in(here), 1);
}
END_TEST

START_TEST(mount_points_are_written) {
  const std::string path = in_folder("mounted");
  std::ofstream(path) << kOld;
  const int result = apart([&] {
    const bool mounted = unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         mount(path.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) == 0;
    return mounted ? try_to_report(path) : -1;
  });
  if (WEXITSTATUS(result) == 0xFF) return;  // may not mount here
  ck_assert_int_eq(result, 0);
  assert_contains(contents(path), "{0}{1}");
  ck_assert(!fs::exists(path + ".part"));
}
END_TEST

/* The last one wins; live ones cannot both be in one file. */
START_TEST(two_writers_do_not_meet) {
  const std::string path = in_folder("contested"), live = in_folder("contested.ndjson");
  {
    ReportFile first = opened({path, ReportFormat::kSub, {}, 1}), second = opened({path, ReportFormat::kCsv, {}, 1});
    succeed(write(first, two_frames(), kData));
    succeed(write(second, two_frames(), kData));
    succeed(second.commit());
    assert_contains(contents(path), "Frame,");
    succeed(first.commit());
  }
  assert_text_eq(contents(path), reported("sub", two_frames(), kData));
  ck_assert(!fs::exists(path + ".part") && !fs::exists(path + ".part.2"));

  for (const bool begun : {false, true}) {
    ReportFile first = opened({live, ReportFormat::kNdjson, {}, 1});
    if (begun) succeed(first.append_frame(two_frames(), 0));
    const Status second = ReportFile::open({live, ReportFormat::kNdjson, {}, 1}).status();
    ck_assert_int_eq(second.code(), EBUSY);
    assert_contains(second.message(), "it is being written already");
    ck_assert(fs::exists(live));
  }
  succeed(opened({live, ReportFormat::kNdjson, {}, 1}).commit());
}
END_TEST

START_TEST(long_names_work) {
  const fs::path here = folder() / "long names";
  fs::create_directory(here);
  for (const int length : {250, 251, 255}) write_sub(here / std::string(length, 'n'));
  ck_assert_int_eq(files_in(here), 3);
}
END_TEST

START_TEST(shared_memory_holds_files) {
  const std::string path = "/dev/shm/vmafx-report-test-" + std::to_string(getpid());
  if (!(std::ofstream(path) << kOld).flush()) return;
  ReportFile report = opened({path, ReportFormat::kSub, {}, 1});
  succeed(write(report, two_frames(), kData));
  const std::string before = contents(path);
  succeed(report.commit());
  const std::string after = contents(path);
  unlink(path.c_str());
  assert_text_eq(before, kOld);
  assert_contains(after, "{0}{1}");
}
END_TEST

START_TEST(a_pipe_that_nobody_reads_is_an_error) {
  const std::string path = in_folder("unread");
  ck_assert_int_eq(mkfifo(path.c_str(), 0600), 0);
  alarm(60);  // opening it could wait for ever
  for (const ReportFormat format : {ReportFormat::kSub, ReportFormat::kNdjson}) {
    const Status refused = ReportFile::open({path, format, {}, 1}).status();
    ck_assert_int_eq(refused.code(), ENXIO);
    assert_contains(refused.message(), "unread': nobody reads this pipe");
  }
  alarm(0);
}
END_TEST

START_TEST(links_stay_links) {
  std::ofstream(in_folder("real")) << kOld;
  fs::create_symlink("real", folder() / "link");
  ReportFile report = opened({in_folder("link"), ReportFormat::kSub, {}, 1});
  succeed(write(report, two_frames(), kData));
  succeed(report.commit());
  ck_assert(fs::is_symlink(folder() / "link"));
  assert_contains(contents(in_folder("real")), "{0}{1}");
}
END_TEST

START_TEST(bad_paths_fail_at_once) {
  const auto complaint = [](const std::string& path, int code) {
    const auto report = ReportFile::open({path, ReportFormat::kJson, {}, 1});
    ck_assert_int_eq(report.status().code(), code);
    return report.status().message();
  };
  assert_contains(complaint(in_folder("none/here.json"), ENOENT),
                  "none/here.json' (the path as received): No such file");
  assert_contains(complaint(folder().string(), EISDIR), "Is a directory");
  assert_contains(complaint("", ENOENT), "report ''");
  if (geteuid() == 0) return;  // root may write anywhere
  std::ofstream(in_folder("locked")) << kOld;
  fs::permissions(folder() / "locked", fs::perms::owner_read);
  assert_contains(complaint(in_folder("locked"), EACCES), "Permission denied");
}
END_TEST

START_TEST(devices_and_pipes_are_written_in_place) {
  ReportFile null = opened({"/dev/null", ReportFormat::kJson, {}, 1});
  succeed(write(null, two_frames(), kData));
  succeed(null.commit());
  struct stat info;
  ck_assert(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));

  const std::string path = in_folder("pipe");
  ck_assert_int_eq(mkfifo(path.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = contents(path); });
  {
    ReportFile pipe = opened({path, ReportFormat::kSub, {}, 1});
    succeed(write(pipe, two_frames(), kData));
    succeed(pipe.commit());
  }
  reader.join();
  assert_contains(received, "{1}{2}frame: 1|");
}
END_TEST

/* In a process of its own, whose standard output is a file with something in it. */
START_TEST(a_dash_is_standard_output) {
  const std::string path = in_folder("output");
  std::ofstream(path) << "before\n";
  const pid_t child = fork();
  if (child == 0) {
    const int fd = open(path.c_str(), O_WRONLY | O_APPEND);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) _exit(1);
    auto report = ReportFile::open({.path = "-", .format = ReportFormat::kSub});
    const bool good = report.ok() && write(report.value(), two_frames(), kData).ok() && report.value().commit().ok();
    _exit(good && write(STDOUT_FILENO, "after\n", 6) == 6 ? 0 : 2);
  }
  int exited = 0;
  ck_assert_int_eq(waitpid(child, &exited, 0), child);
  ck_assert_int_eq(exited, 0);
  assert_text_eq(contents(path), "before\n" + reported("sub", two_frames(), kData) + "after\n");
  ck_assert(!fs::exists("-") && !fs::exists("-.part"));
}
END_TEST

START_TEST(a_file_in_a_closed_folder_is_written_in_place) {
  if (geteuid() == 0) return;  // no folder is closed to root
  const fs::path closed = folder() / "closed";
  fs::create_directory(closed);
  std::ofstream(closed / "mine")
      << kOld << "longer than what follows, so that it has to be emptied first, which is why this is long";
  fs::permissions(closed, fs::perms::owner_read | fs::perms::owner_exec);
  {
    ReportFile report = opened({(closed / "mine").string(), ReportFormat::kSub, {}, 1});
    succeed(write(report, ScoreTable({}), kData));
    succeed(report.commit());
  }
  ck_assert_int_eq(ReportFile::open({(closed / "new").string(), ReportFormat::kSub, {}, 1}).status().code(), EACCES);
  fs::permissions(closed, fs::perms::owner_all);
  assert_text_eq(contents((closed / "mine").string()), "");
}
END_TEST

START_TEST(a_device_that_takes_nothing_is_an_error_at_once) {
  if (!fs::exists("/dev/full")) return;
  for (const ReportFormat format : {ReportFormat::kSub, ReportFormat::kJson, ReportFormat::kNdjson}) {
    const Status opened = ReportFile::open({"/dev/full", format, {}, 1}).status();
    ck_assert_int_eq(opened.code(), ENOSPC);
    assert_contains(opened.message(), "/dev/full");
  }
}
END_TEST

/* Files cannot grow beyond `bytes` while one of these lives, those of Check neither: nothing is asserted then. The
 * signal that tells it would end the process. */
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

START_TEST(a_report_that_does_not_fit_is_an_error) {
  const std::string path = in_folder("long");
  ReportFile report = opened({path, ReportFormat::kSub, {}, 1});
  ReportFile live = opened({in_folder("live"), ReportFormat::kNdjson, {}, 1});
  Status committed, appended;
  sigset_t pending, blocked;
  {
    const FileLimit limit(10);
    const Status written = write(report, two_frames(), kData);
    committed = written.ok() ? report.commit() : written;
    appended = live.append_frame(two_frames(), 0);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  }
  ck_assert_int_eq(committed.code(), EFBIG);
  assert_contains(committed.message(), path);
  assert_contains(committed.message(), "ulimit -f");
  ck_assert_int_eq(appended.code(), EFBIG);
  ck_assert(!sigismember(&pending, SIGXFSZ) && !sigismember(&blocked, SIGXFSZ));
}
END_TEST

/* -- What is there already -------------------------------------------------------------------------------------------
 * */

Status open_over(const std::string& path, ReportFormat format = ReportFormat::kJson, bool overwrite = false) {
  return ReportFile::open({.path = path, .format = format, .overwrite = overwrite}).status();
}

/* A short MP4's beginning, a table, a page, other JSON, a list, a subtitle, a file with a zero byte. */
const std::string kForeign[] = {std::string("\0\0\0\x20"
                                            "ftypisom",
                                            12),
                                "Frame,Score\n1,2\n",
                                "<!DOCTYPE html>\n<html></html>\n",
                                R"({"version": "1", "name": "vmafx"})",
                                R"({"frames": [{"pts": 1}], "version": "1"})",
                                R"([{"frameNum": 0, "metrics": {}}])",
                                "a.mp4,b.mp4\n",
                                "{0}{25}Hello\n",
                                "{0}{1}frame: 2|\n",
                                "<VMAFX/>",
                                "text",
                                " ",
                                std::string("\0", 1)};

START_TEST(what_is_not_a_report_stays) {
  const std::string path = in_folder("foreign");
  for (const std::string& text : kForeign)
    for (const ReportFormat format : {ReportFormat::kJson, ReportFormat::kCsv, ReportFormat::kNdjson}) {
      std::ofstream(path, std::ios::trunc) << text;
      const Status refused = open_over(path, format);
      ck_assert_msg(refused.code() == EEXIST, "'%s': %d", text.c_str(), refused.code());
      assert_contains(refused.message(), "log_path=" + path + ": this file exists and is not a report");
      assert_contains(refused.message(), "overwrite=1");
      ck_assert(contents(path) == text && !fs::exists(path + ".part"));
      succeed(open_over(path, format, true));
      ck_assert(contents(path) == text);  // nothing was written
    }
}
END_TEST

START_TEST(links_are_judged_by_what_they_lead_to) {
  const std::string path = in_folder("target");
  fs::create_symlink("target", folder() / "to target");
  std::ofstream(path) << "foreign";
  fs::create_hard_link(path, folder() / "other target");
  for (const char* name : {"to target", "other target"}) {
    ck_assert_int_eq(open_over(in_folder(name)).code(), EEXIST);
    ck_assert_int_eq(open_over(in_folder(name), ReportFormat::kNdjson).code(), EEXIST);
  }
  assert_text_eq(contents(path), "foreign");
  std::ofstream(path, std::ios::trunc) << kOld;
  for (const char* name : {"to target", "other target"}) succeed(open_over(in_folder(name)));
}
END_TEST

/* Reports of vmafx in all formats, also one that was broken off, and what libvmaf writes. */
START_TEST(reports_replace_reports) {
  const std::string path = in_folder("again");
  std::vector<std::string> reports;
  for (const char* format : {"json", "xml", "csv", "sub", "ndjson"}) {
    reports.push_back(reported(format, two_frames(), kData));
    const std::string begun = reports.back().substr(0, reports.back().find('\n', 90) + 1);
    if (std::string(format) != "json") reports.push_back(begun);
  }
  reports.push_back(reported("json", ScoreTable({"vmaf"}), kData));
  reports.push_back("");
  reports.push_back("Encode,Name,Frame,vmaf,\n0,low,0,1,\n");
  reports.push_back(R"({"encode": 0, "name": "low", "frameNum": 0, "metrics": {"vmaf": 1}})"
                    "\n");
  reports.push_back(R"({"version": "1", "fps": 2, "encodes": [{"encode": 0, "name": "low", "frames": []}]})");
  reports.push_back(R"(  {"version": "3.0.0", "fps": 1.5, "frames": [ { "frameNum": 0, "metrics": { "vmaf": nan)");
  reports.push_back("<?xml version=\"1.0\"?>\n<VMAF version=\"1.3.9\">\n");
  for (const std::string& text : reports) {
    std::ofstream(path, std::ios::trunc) << text;
    const Status status = open_over(path);
    ck_assert_msg(status.ok(), "%s: %.300s", status.message().c_str(), text.c_str());
  }
}
END_TEST

/* Somebody may make a file of the report's name while frames are scored. */
START_TEST(what_comes_meanwhile_stays) {
  const std::string path = in_folder("meanwhile");
  ReportFile report = opened({path, ReportFormat::kCsv, {}, 1});
  succeed(write(report, two_frames(), kData));
  std::ofstream(path) << "foreign";
  const Status refused = report.commit();
  ck_assert_int_eq(refused.code(), EEXIST);
  assert_contains(refused.message(), "it is complete in '" + path + ".part'");
  assert_text_eq(contents(path), "foreign");
  assert_contains(contents(path + ".part"), "Frame,");
  unlink((path + ".part").c_str());
}
END_TEST

START_TEST(names_that_cannot_be_fail_at_once) {
  const fs::path here = folder() / "names";
  fs::create_directory(here);
  const auto code = [&](const std::string& name) { return open_over(here / name).code(); };
  ck_assert_int_eq(code(std::string(256, 'n')), ENAMETOOLONG);
  std::string deep;
  for (int i = 0; i < 2100; i++) deep += "./";
  ck_assert_int_eq(code(deep + "report"), ENAMETOOLONG);
  ck_assert_int_eq(code("none/"), EISDIR);
  std::ofstream(here / "file") << kOld;
  ck_assert_int_eq(code("file/report"), ENOTDIR);
  for (const char* blank : {" ", "   ", "\t"}) ck_assert_int_eq(code(blank), EINVAL);
  fs::create_symlink("loop", here / "loop");
  ck_assert_int_eq(code("loop"), ELOOP);
  ck_assert_int_eq(files_in(here), 2);
}
END_TEST

START_TEST(descriptors_are_checked_at_once) {
  const std::string path = in_folder("descriptor");
  std::ofstream(path) << "foreign";
  const int input = open(path.c_str(), O_RDONLY), output = open(path.c_str(), O_WRONLY);
  const auto pipe = [](int fd) { return "pipe:" + std::to_string(fd); };
  for (const char* wrong : {"pipe:", "pipe:3x", "pipe:-1", "pipe: 3", "pipe:0x1", "pipe:99999999999"}) {
    const Status refused = open_over(wrong);
    ck_assert_int_eq(refused.code(), EINVAL);
    assert_contains(refused.message(), std::string("log_path=") + wrong + ": after pipe: there must be the number");
    ck_assert(!fs::exists(wrong));
  }
  ck_assert_int_eq(open_over("pipe:1000").code(), EBADF);
  assert_contains(open_over(pipe(input)).message(), "is not open for writing");
  ck_assert_int_eq(open_over(pipe(input)).code(), EBADF);
  ck_assert_int_eq(open_over(pipe(output)).code(), EEXIST);  // its beginning would be overwritten
  for (const char* folder : {"/proc/self/fd/", "/dev/fd/"}) {
    ck_assert_int_eq(open_over(folder + std::to_string(output)).code(), EEXIST);
    ck_assert_int_eq(open_over(std::string(folder) + "1000").code(), EBADF);
  }
  ck_assert_int_gt(lseek(output, 0, SEEK_END), 0);
  for (const char* folder : {"pipe:", "/proc/self/fd/", "/dev/fd/"})
    succeed(open_over(folder + std::to_string(output)));
  succeed(open_over(path, ReportFormat::kJson, true));
  assert_text_eq(contents(path), "foreign");
  close(input);
  close(output);
}
END_TEST

START_TEST(metrics_replace_metrics_alone) {
  const MetricsFile metrics{in_folder("vmafx.prom")};
  const auto put = [&](const std::string& text) { std::ofstream(metrics.path, std::ios::trunc) << text; };
  for (const std::string& text : {std::string("foreign"), kOld, std::string("# HELP node_load1 1m\n")}) {
    put(text);
    ck_assert_int_eq(metrics.try_to_write().code(), EEXIST);
    assert_contains(metrics.write().message(), "openmetrics=" + metrics.path + ": this file exists and is not");
    assert_text_eq(contents(metrics.path), text);
    succeed(MetricsFile{metrics.path, true}.try_to_write());
  }
  put("");
  succeed(metrics.write());
  succeed(metrics.write());
  ck_assert_int_eq(open_over(metrics.path).code(), EEXIST);
}
END_TEST

START_TEST(outputs_are_distinct) {
  const fs::path here = folder() / "distinct";
  fs::create_directory(here);
  fs::create_symlink("new", here / "to new");
  std::ofstream(here / "model") << "{}";
  fs::create_hard_link(here / "model", here / "other model");
  fs::create_directory(here / "maps");
  fs::create_symlink("maps", here / "to maps");
  const auto code = [&](const std::string& a, const std::string& b, const std::string& input = "") {
    const NamedFile outputs[] = {{"log_path", a}, {"openmetrics", b}}, inputs[] = {{"model=path", input}};
    return check_distinct(outputs, std::span(inputs, input.empty() ? 0 : 1)).code();
  };
  const std::string at = here.string() + "/";
  ck_assert_int_eq(code(at + "new", at + "newer"), 0);
  ck_assert_int_eq(code(at + "new", at + "./new"), EINVAL);
  ck_assert_int_eq(code(at + "new", at + "to new"), EINVAL);
  ck_assert_int_eq(code(at + "model", at + "other model"), EINVAL);
  ck_assert_int_eq(code(at + "new", at + "newer", at + "model"), 0);
  ck_assert_int_eq(code(at + "new", at + "other model", at + "model"), EINVAL);
  ck_assert_int_eq(code("/dev/null", "/dev/null"), 0);
  const NamedFile maps[] = {{"heatmaps_path", at + "maps", "_16b.gray"}, {"log_path", at + "to maps/a_2x2_16b.gray"}};
  ck_assert_int_eq(check_distinct(maps, {}).code(), EINVAL);
  const NamedFile apart[] = {{"heatmaps_path", at + "maps", "_16b.gray"}, {"log_path", at + "maps/report.json"}};
  succeed(check_distinct(apart, {}));
}
END_TEST

/* Room for many frames is taken, and what two of them do not need is given back. */
START_TEST(room_that_is_not_needed_is_given_back) {
  const std::string path = in_folder("room");
  ReportFile report = opened({path, ReportFormat::kCsv, {}, 1});
  succeed(report.reserve(two_frames(), 1000000));
  ck_assert_int_eq(fs::file_size(path + ".part"), 0);
  succeed(write(report, two_frames(), kData));
  succeed(report.commit());
  assert_text_eq(contents(path), "Frame,integer_adm2,vmaf,\n0,0.500000,80.000000,\n1,0.250000,90.123457,\n");
  struct stat info;
  ck_assert_int_eq(stat(path.c_str(), &info), 0);
  ck_assert_int_le(info.st_blocks * 512, 65536);
}
END_TEST

int main() {
  return vmafx::test::run_suite("report", {{"facts", reports_say_what_scores_are},
                                           {"doubts", doubts_are_words_and_data},
                                           {"pictures", pictures_raise_doubts},
                                           {"no_doubts", good_pairs_have_no_doubts},
                                           {"foreign", what_is_not_a_report_stays},
                                           {"judged_links", links_are_judged_by_what_they_lead_to},
                                           {"again", reports_replace_reports},
                                           {"meanwhile", what_comes_meanwhile_stays},
                                           {"bad_names", names_that_cannot_be_fail_at_once},
                                           {"descriptors", descriptors_are_checked_at_once},
                                           {"metrics", metrics_replace_metrics_alone},
                                           {"distinct", outputs_are_distinct},
                                           {"names", formats_have_names},
                                           {"endings", endings_tell_formats},
                                           {"json", json_is_laid_out_as_libvmaf_does},
                                           {"json_empty", json_of_nothing},
                                           {"json_gaps", json_says_what_is_missing},
                                           {"xml", xml_is_laid_out_as_libvmaf_does},
                                           {"xml_extras", xml_escapes_and_extras},
                                           {"xml_names", xml_names_are_names_and_unique},
                                           {"infinite", infinite_metrics_keep_their_pooled_keys},
                                           {"which_infinite", json_says_which_scores_are_infinite},
                                           {"csv", csv_keeps_its_columns},
                                           {"sub", sub_has_a_line_per_frame},
                                           {"subsample", skipped_frames_are_nowhere},
                                           {"ndjson", ndjson_can_be_read_while_it_grows},
                                           {"times", frames_have_their_times},
                                           {"no_times", times_that_are_not_known_are_left_out},
                                           {"times_apart", times_can_be_kept_from_among_scores},
                                           {"sure", frames_have_the_doubts_that_are_sure},
                                           {"sure_so_far", lines_have_the_doubts_that_are_sure_so_far},
                                           {"numbers", numbers_are_printed_as_libvmaf_does},
                                           {"score_format", score_formats},
                                           {"complete", a_report_appears_when_it_is_complete},
                                           {"unused", an_unused_report_leaves_nothing},
                                           {"taken", what_has_the_temporary_name_stays},
                                           {"mode", mode_and_owner_stay},
                                           {"hard_links", hard_links_stay_one_file},
                                           {"sticky", files_of_others_are_written_and_stay_theirs},
                                           {"mounted", mount_points_are_written},
                                           {"two_writers", two_writers_do_not_meet},
                                           {"long_names", long_names_work},
                                           {"shared_memory", shared_memory_holds_files},
                                           {"unread", a_pipe_that_nobody_reads_is_an_error},
                                           {"links", links_stay_links},
                                           {"bad_paths", bad_paths_fail_at_once},
                                           {"in_place", devices_and_pipes_are_written_in_place},
                                           {"standard_output", a_dash_is_standard_output},
                                           {"closed_folder", a_file_in_a_closed_folder_is_written_in_place},
                                           {"disk_full", a_device_that_takes_nothing_is_an_error_at_once},
                                           {"too_long", a_report_that_does_not_fit_is_an_error},
                                           {"room", room_that_is_not_needed_is_given_back}});
}
