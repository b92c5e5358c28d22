/* The look at the pictures through the C API: what is found, who is told, and that scores and what metrics read stay as
 * they are. Cb and Cr of the damaged encodes are exchanged, or moved. */
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/support/check_main.h"
#include "tests/support/device.h"
#include "tests/support/stream.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

constexpr int kFrames = 100;  // three of them have detail
constexpr VmafxFormat kPlanar = {192, 144, VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};
constexpr VmafxFormat kInterleaved = {192, 144, VMAFX_CHROMA_420, 10, VMAFX_LAYOUT_SEMIPLANAR, 6, VMAFX_MEMORY_HOST};

uint16_t sample(const VmafxFormat& f, double value) {
  return static_cast<uint16_t>(std::clamp(value, 0., 255.) * ((1 << f.bits) - 1) / 255);
}

enum class Damage { kNone, kExchanged, kMoved };  // of chroma; moved: by two of its samples

/* Waves that move; the distorted picture has a little noise. */
Samples make_moving(const VmafxFormat& f, int n, bool distorted, Damage damage) {
  const bool exchanged = damage == Damage::kExchanged;
  const int moved = damage == Damage::kMoved ? 2 : 0;
  Samples samples(luma_size(f) + 2 * chroma_size(f));
  for (int y = 0; y < f.height; y++)
    for (int x = 0; x < f.width; x++) {
      const double noise = distorted ? (x * 7 + y * 13 + n) % 5 - 2. : 0;
      const double wave = 40 * std::sin((x + 3 * n) / 17.) + 30 * std::sin((y + 2 * n) / 11. + x / 40.);
      samples[static_cast<size_t>(y) * f.width + x] = sample(f, 120 + wave + noise);
    }
  for (int y = 0; y < chroma_h(f); y++)
    for (int x = 0; x < chroma_w(f); x++) {
      const size_t at = luma_size(f) + static_cast<size_t>(y) * chroma_w(f) + x;
      samples[at + (exchanged ? chroma_size(f) : 0)] = sample(f, 110 + 60 * std::sin((x - moved) / 19. + n / 25.));
      samples[at + (exchanged ? 0 : chroma_size(f))] = sample(f, 150 + 60 * std::cos(y / 9. - n / 35.));
    }
  return samples;
}

/* Each is made once for all runs of a test. */
const Samples& moving(const VmafxFormat& f, int n, bool distorted, Damage damage) {
  static std::map<std::tuple<int, int, int, int, int, bool, Damage>, Samples> made;
  Samples& samples = made[{f.width, f.height, f.chroma, f.bits, n, distorted, damage}];
  if (samples.empty()) samples = make_moving(f, n, distorted, damage);
  return samples;
}

struct Found {
  std::string name, text;
  VmafxCertainty certainty;
  int64_t from, end;
  std::vector<std::string> remedies;
  std::map<std::string, double> evidence;
  bool operator==(const Found&) const = default;
};

struct Run {
  int configured = 0, finished = 0;  // what vmafx_configure() and vmafx_finish() returned
  unsigned planes = 0;
  std::vector<std::vector<Found>> findings;  // by encode
  std::vector<std::vector<FrameScores>> frames;
  std::vector<std::vector<std::string>> sure;  // of the frames of encode 0, as they were received
  std::vector<double> models;
  std::string warnings, log;

  bool found(size_t encode, const std::string& kind) const {
    return std::ranges::any_of(findings[encode], [&](const Found& found) { return found.name == kind; });
  }
};

/* A stream of encodes, those with bits in `exchanged` with the damage. */
struct Stream {
  VmafxFormat ref = kPlanar, dist = kPlanar;
  unsigned exchanged = 1;
  int frames = kFrames;
  Damage damage = Damage::kExchanged;
  const VmafxKeptReference* reference = nullptr;
};

void take_log(void* to, VmafxLogLevel level, const char* message) {
  Run& run = *static_cast<Run*>(to);
  (level == VMAFX_LOG_WARNING ? run.warnings : run.log) += std::string(message) + "\n";
}

std::vector<Found> findings_of(VmafxContext* ctx, int encode) {
  std::vector<Found> all;
  VmafxFinding finding;
  while (vmafx_finding(ctx, encode, static_cast<int>(all.size()), &finding) == 0) {
    Found& found =
        all.emplace_back(Found{finding.name, finding.text, finding.certainty, finding.from, finding.end, {}, {}});
    for (size_t i = 0; i < finding.n_remedies; i++) found.remedies.push_back(finding.remedies[i]);
    for (size_t i = 0; i < finding.n_evidence; i++)
      found.evidence[finding.evidence[i].name] = finding.evidence[i].value;
  }
  return all;
}

void receive_all(VmafxContext* ctx, Run& run) {
  VmafxFrameResult result;
  while (vmafx_receive(ctx, &result) == 0) {
    FrameScores scores;
    for (size_t i = 0; i < result.n_scores; i++) scores[result.scores[i].key] = result.scores[i].value;
    run.frames[static_cast<size_t>(result.encode)].push_back(std::move(scores));
    if (result.encode == 0) run.sure.emplace_back(result.sure, result.sure + result.n_sure);
  }
}

void submit(VmafxContext* ctx, const Stream& stream, int encodes, int n) {
  std::vector<VmafxPicture> pictures;
  std::vector<const VmafxPicture*> dist;
  for (int i = 0; i < encodes; i++)
    pictures.push_back(TestPicture::make(
        stream.dist, moving(stream.dist, n, true, stream.exchanged >> i & 1 ? stream.damage : Damage::kNone)));
  for (const VmafxPicture& picture : pictures) dist.push_back(&picture);
  if (stream.reference) {
    ck_assert_int_eq(vmafx_submit_against(ctx, n, dist.data(), encodes), 0);
    return;
  }
  const VmafxPicture ref = TestPicture::make(stream.ref, moving(stream.ref, n, false, Damage::kNone));
  ck_assert_int_eq(vmafx_submit_encodes(ctx, &ref, dist.data(), encodes), 0);
}

Run look(Params params, const Stream& stream = {}) {
  Run run;
  params.log = take_log;
  params.log_cookie = &run;
  VmafxContext* ctx = nullptr;
  ck_assert_msg(open_context(&ctx, params) == 0, "%s", run.log.c_str());
  const std::vector<VmafxFormat> formats(static_cast<size_t>(params.encodes), stream.dist);
  run.frames.resize(formats.size());
  run.configured = stream.reference ? vmafx_configure_against(ctx, stream.reference, formats.data(), params.encodes)
                                    : vmafx_configure_encodes(ctx, &stream.ref, formats.data(), params.encodes);
  run.planes = vmafx_planes_read(ctx);
  VmafxFinding early;
  ck_assert_int_eq(vmafx_finding(ctx, 0, 0, &early), -EINVAL);
  for (int n = 0; n < stream.frames && !run.configured; n++) {
    submit(ctx, stream, params.encodes, n);
    receive_all(ctx, run);
  }
  run.finished = vmafx_finish(ctx);
  receive_all(ctx, run);
  for (int i = 0; i < params.encodes && vmafx_finished(ctx); i++) {
    run.findings.push_back(findings_of(ctx, i));
    double score = 0;
    if (vmafx_model_count(ctx) && vmafx_encode_model_score(ctx, i, 0, nullptr, &score) == 0)
      run.models.push_back(score);
  }
  vmafx_close(&ctx);
  ck_assert_msg(!run.findings.empty(), "%s%s", run.warnings.c_str(), run.log.c_str());
  return run;
}

/* All pairs are looked at, and every tenth is scored. */
Params vmaf(const char* check = nullptr, const char* backend = "cpu") {
  Params params = params_for(backend);
  params.check = check;
  params.n_subsample = 10;
  return params;
}

/* A file that goes with this object. */
class TemporaryFile {
 public:
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("vmafx-look-" + std::to_string(getpid()) + ".json")).string();
};

nlohmann::json read_json(const std::string& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

void assert_exchanged(const std::vector<Found>& findings, int64_t from, int64_t end) {
  const auto found = std::ranges::find(findings, "chroma_swapped", &Found::name);
  ck_assert(found != findings.end());
  ck_assert_int_eq(found->certainty, VMAFX_CERTAINTY_SURE);
  ck_assert_int_ge(found->from, from);
  ck_assert_int_le(found->end, end);
  assert_text_eq(found->remedies.at(0), "shuffleplanes=0:2:1 before main");
  ck_assert(!found->evidence.empty());
}

}  // namespace

START_TEST(exchanged_chroma_is_found_and_told_once) {
  const Run run = look(vmaf());
  ck_assert_int_eq(run.finished, 0);
  ck_assert_uint_eq(run.findings[0].size(), 1);
  assert_exchanged(run.findings[0], 0, kFrames);
  const std::string told = "The score is doubtful, the pictures show: Cb and Cr of main are exchanged";
  assert_contains(run.warnings, told);
  ck_assert(run.warnings.find(told) == run.warnings.rfind(told));
  assert_contains(run.warnings, "What helps: shuffleplanes=0:2:1 before main.");
  ck_assert_uint_eq(look(vmaf(), {.exchanged = 0}).findings[0].size(), 0);
}
END_TEST

/* Whether the metrics read chroma or not. */
START_TEST(chroma_that_lies_elsewhere_is_found) {
  use_emulator();
  for (const Params& params : {vmaf(), vmaf("warn", "hip"), params_for("cpu", "", "name=psnr")}) {
    const Run run = look(params, {.damage = Damage::kMoved});
    ck_assert_int_eq(run.finished, 0);
    ck_assert(run.found(0, "chroma_shifted"));
  }
}
END_TEST

/* Scores, and planes that metrics read, are the same to the last bit; a GPU is verified. */
START_TEST(nothing_else_changes) {
  use_emulator();
  for (const char* backend : {"cpu", "hip"}) {
    Params with = vmaf("warn", backend), without = vmaf("off", backend);
    for (Params* params : {&with, &without}) {
      params->n_subsample = 3;
      params->verify = 1;
      params->verify_fail = 1;
    }
    const Run looked = look(with), blind = look(without);
    ck_assert_int_eq(looked.finished, 0);
    ck_assert(looked.frames == blind.frames && looked.models == blind.models);
    ck_assert_uint_eq(looked.frames[0].size(), kFrames);
    ck_assert_uint_eq(looked.planes, 1);
    ck_assert(looked.found(0, "chroma_swapped") && blind.findings[0].empty());
    ck_assert(blind.warnings.find("pictures show") == std::string::npos);
    ck_assert(looked.log.find("signature") == std::string::npos);
  }
}
END_TEST

/* Whoever computes the sums, and in whatever order they are done. */
START_TEST(findings_are_the_same_on_all_threads) {
  use_emulator();
  std::vector<std::vector<Found>> first;
  for (const auto& [backend, threads] : {std::pair{"cpu", 1}, {"cpu", 5}, {"hip", 2}}) {
    Params params = vmaf("log", backend);
    params.n_threads = threads;
    params.encodes = 2;
    const Run run = look(params, {.exchanged = 2, .frames = 60});
    if (first.empty()) first = run.findings;
    ck_assert(first[0].empty() && !first[1].empty() && run.findings == first);
  }
}
END_TEST

int count_threads() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

/* A session may close with pairs that wait to be looked at. */
START_TEST(only_a_look_has_a_thread) {
  const int before = count_threads();
  for (const bool looks : {false, true}) {
    Params params = vmaf(looks ? "log" : "off");
    params.n_threads = 2;
    VmafxContext* ctx = nullptr;
    ck_assert_int_eq(open_context(&ctx, params), 0);
    ck_assert_int_eq(vmafx_configure(ctx, &kPlanar, &kPlanar), 0);
    ck_assert_int_eq(count_threads(), before + 2 + (looks ? 1 : 0));
    for (int n = 0; n < 20; n++) submit(ctx, {}, 1, n);
    vmafx_close(&ctx);
    ck_assert_int_eq(count_threads(), before);
  }
}
END_TEST

/* All numbers of the evidence, too. */
START_TEST(findings_are_those_of_one_run) {
  use_emulator();
  const std::vector<Found> wanted = look(vmaf()).findings[0];
  ck_assert_uint_eq(wanted.size(), 1);
  Params verified = vmaf(nullptr, "hip"), whole = vmaf(), several = vmaf(), threads = vmaf(), early = vmaf();
  verified.verify = 1;
  whole.n_subsample = 1;
  several.encodes = 3;
  threads.n_threads = 4;
  early.early_doubts = 1;
  for (const Params& params : {vmaf("fail"), vmaf("log"), vmaf(nullptr, "hip"), verified, whole, threads, early})
    ck_assert(look(params).findings[0] == wanted);
  const Run run = look(several, {.exchanged = 5});
  ck_assert(run.findings[0] == wanted && run.findings[1].empty() && run.findings[2] == wanted);
}
END_TEST

START_TEST(samples_may_be_interleaved_and_wide) {
  assert_exchanged(look(vmaf(), {.ref = kInterleaved, .dist = kInterleaved}).findings[0], 0, kFrames);
  VmafxFormat planar = kPlanar;
  planar.bits = 10;
  assert_exchanged(look(vmaf(), {.ref = planar, .dist = kInterleaved}).findings[0], 0, kFrames);
}
END_TEST

START_TEST(each_encode_has_its_findings) {
  Params params = vmaf();
  params.encodes = 3;
  params.encode_names = "a|b|c";
  const Run run = look(params, {.exchanged = 2});
  ck_assert(run.findings[0].empty() && run.findings[2].empty());
  assert_exchanged(run.findings[1], 0, kFrames);
  assert_contains(run.warnings, "b: The score is doubtful, the pictures show: ");
  ck_assert(run.warnings.find("a: ") == std::string::npos);
}
END_TEST

START_TEST(check_says_what_comes_of_it) {
  const TemporaryFile report;
  for (const char* check : {"warn", "fail", "log", "off"}) {
    Params params = vmaf(check);
    params.log_path = report.path().c_str();
    const Run run = look(params);
    const bool fails = check == std::string("fail"), reports = fails || check == std::string("warn");
    ck_assert_int_eq(run.finished, fails ? -EILSEQ : 0);
    ck_assert_uint_eq(run.models.size(), 1);
    ck_assert((run.warnings.find("pictures show") == std::string::npos) == (check == std::string("off")));
    ck_assert((run.log.find("check=fail: the pictures raise 1 doubt") != std::string::npos) == fails);
    const nlohmann::json written = read_json(report.path());
    ck_assert(written.contains("doubts") == reports && written.contains("warnings") == reports);
    ck_assert(!written["vmafx"]["backend"].contains("signature"));
    if (!reports) continue;
    const nlohmann::json& doubt = written["doubts"].at(0);
    ck_assert(doubt["kind"] == "chroma_swapped" && doubt["certainty"] == "sure" && doubt["evidence"].is_object());
    ck_assert(doubt["remedies"] == nlohmann::json::array({"shuffleplanes=0:2:1 before main"}));
  }
  ck_assert_int_eq(look(vmaf("fail"), {.exchanged = 0}).finished, 0);
  ck_assert_int_eq(run_stream(vmaf("maybe")).error, -EINVAL);
  assert_contains(run_stream(vmaf("maybe")).log, "there is no check=maybe; use off, log, warn or fail");
}
END_TEST

/* The parts of a stream have the findings of the whole, once a report joins them. */
START_TEST(parts_are_joined) {
  const TemporaryFile whole;
  std::vector<Found> all;
  for (const char* range : {"0-49", "50-"}) {
    Params params = vmaf();
    params.range = range;
    const Run run = look(params);
    ck_assert_uint_eq(run.findings[0].size(), 1);
    const int64_t from = range == std::string("0-49") ? 0 : 50;
    assert_exchanged(run.findings[0], from, from + 50);
    all.push_back(run.findings[0][0]);
  }
  const VmafxEvidence evidence = {.name = "fit", .value = 0.9};
  std::vector<VmafxFinding> findings;
  for (const Found& found : all)
    findings.push_back({.kind = VMAFX_FINDING_CHROMA_SWAPPED,
                        .certainty = found.certainty,
                        .from = found.from,
                        .end = found.end,
                        .evidence = &evidence,
                        .n_evidence = 1});
  const VmafxScore score = {.key = "vmaf", .value = 90};
  const VmafxFrameResult frame = {.n_scores = 1, .scores = &score};
  VmafxReportStream stream{};
  stream.findings = findings.data();
  stream.n_findings = findings.size();
  VmafxReport report{};
  report.path = whole.path().c_str();
  report.n_frames = 1;
  report.frames = &frame;
  report.stream = &stream;
  ck_assert_int_eq(vmafx_write_report(&report), 0);
  const nlohmann::json doubts = read_json(whole.path())["doubts"];
  ck_assert_uint_eq(doubts.size(), 1);
  ck_assert(doubts[0]["from"] == all[0].from && doubts[0]["to"] == all[1].end - 1);
  findings[0].kind = static_cast<VmafxFindingKind>(VMAFX_FINDING_FIELDS_DROPPED + 1);
  ck_assert_int_eq(vmafx_write_report(&report), -EINVAL);
}
END_TEST

/* A kind is sure of the frames after the first group of 48 pairs that shows it, as of a run that ended there. */
START_TEST(what_is_sure_is_told_while_pairs_come) {
  const std::string told = "The pictures show so far: Cb and Cr of main are exchanged";
  Params params = vmaf();
  const Run late = look(params);
  for (const std::vector<std::string>& sure : late.sure) ck_assert(sure.empty());
  ck_assert(late.warnings.find(told) == std::string::npos);
  params.early_doubts = 1;
  for (const int threads : {1, 3}) {
    params.n_threads = threads;
    const Run run = look(params);
    ck_assert_uint_eq(run.sure.size(), kFrames);
    for (size_t n = 0; n < kFrames; n++)
      ck_assert_msg(run.sure[n] == (n < 48 ? std::vector<std::string>() : std::vector<std::string>{"chroma_swapped"}),
                    "frame %d", static_cast<int>(n));
    assert_contains(run.warnings, told);
    ck_assert(run.warnings.find(told) == run.warnings.rfind(told));
    assert_contains(run.warnings, "The score is doubtful, the pictures show: Cb and Cr of main are exchanged");
    ck_assert_uint_eq(run.findings[0].size(), late.findings[0].size());
    ck_assert(run.frames == late.frames);
  }
  for (const std::vector<std::string>& sure : look(params, {.exchanged = 0}).sure) ck_assert(sure.empty());
  params.check = "log";
  for (const std::vector<std::string>& sure : look(params).sure) ck_assert(sure.empty());
}
END_TEST

/* Lines of NDJSON are read while the stream runs. */
START_TEST(lines_name_what_is_sure_so_far) {
  const TemporaryFile file;
  Params params = vmaf();
  params.log_path = file.path().c_str();
  params.log_fmt = "ndjson";
  params.n_subsample = 1;
  look(params);
  std::ifstream lines(file.path());
  std::string line;
  for (int n = 0; n < kFrames && std::getline(lines, line); n++) {
    const nlohmann::json frame = nlohmann::json::parse(line);
    ck_assert_int_eq(frame["frameNum"], n);
    ck_assert(frame.contains("doubts") == (n >= 48));
  }
  ck_assert(std::getline(lines, line) && nlohmann::json::parse(line)["doubts"][0]["kind"] == "chroma_swapped");
}
END_TEST

/* A copied reference without chroma is looked at without chroma. */
START_TEST(references_that_stay_are_looked_at) {
  for (const unsigned planes : {0u, 1u})
    for (const int copy : {0, 1}) {
      VmafxKeptReferenceParams params{};
      params.planes = planes;
      params.copy = copy;
      VmafxKeptReference* reference = nullptr;
      ck_assert_int_eq(vmafx_kept_reference_open(&reference, &kPlanar, &params), 0);
      for (int n = 0; n < kFrames; n++) {
        const VmafxPicture picture = TestPicture::make(kPlanar, moving(kPlanar, n, false, Damage::kNone));
        ck_assert_int_eq(vmafx_kept_reference_add(reference, &picture), 0);
      }
      Stream stream;
      stream.reference = reference;
      const Run run = look(vmaf(), stream);
      ck_assert_int_eq(run.finished, 0);
      ck_assert(run.found(0, "chroma_swapped") == (planes == 0 || !copy));
      vmafx_kept_reference_close(&reference);
    }
}
END_TEST

/* Metrics that read no luma leave nothing to look at; those that read chroma have it looked at. */
START_TEST(no_plane_is_read_for_the_look_alone) {
  Params params = params_for("cpu", "", "name=speed_chroma");
  VmafxFormat large = kPlanar;
  large.width = 512, large.height = 288;
  const Run blind = look(params, {.ref = large, .dist = large, .frames = 3});
  ck_assert_int_eq(blind.finished, 0);
  ck_assert_uint_eq(blind.planes & 1, 0);
  ck_assert(blind.findings[0].empty());
  params.feature = "name=psnr";
  const Run looked = look(params);
  ck_assert_uint_eq(looked.planes, 7);
  assert_exchanged(looked.findings[0], 0, kFrames);
}
END_TEST

int main() {
  return run_suite("encode_look", {{"found", exchanged_chroma_is_found_and_told_once},
                                   {"moved", chroma_that_lies_elsewhere_is_found},
                                   {"unchanged", nothing_else_changes},
                                   {"threads", findings_are_the_same_on_all_threads},
                                   {"off", only_a_look_has_a_thread},
                                   {"equal", findings_are_those_of_one_run},
                                   {"layouts", samples_may_be_interleaved_and_wide},
                                   {"encodes", each_encode_has_its_findings},
                                   {"check", check_says_what_comes_of_it},
                                   {"parts", parts_are_joined},
                                   {"early", what_is_sure_is_told_while_pairs_come},
                                   {"lines", lines_name_what_is_sure_so_far},
                                   {"kept", references_that_stay_are_looked_at},
                                   {"planes", no_plane_is_read_for_the_look_alone}});
}
