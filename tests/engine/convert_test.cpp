/* Pictures that are converted to one color space before they are scored: the option convert, and models with a target
 * of their own, on the CPU and on the GPU, here the emulator. */
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/status.h"
#include "tests/kernels/recolor/recolor_picture.h"
#include "tests/support/check_main.h"
#include "tests/support/device.h"
#include "tests/support/emulator.h"
#include "tests/support/scratch.h"
#include "tests/support/stream.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

constexpr VmafxColor kSdrColors = {.matrix = 1, .range = 1, .transfer = 1, .primaries = 1};
constexpr VmafxColor kPqColors = {.matrix = 9, .range = 1, .transfer = 16, .primaries = 9};
constexpr VmafxColor kHlgColors = {.matrix = 9, .range = 1, .transfer = 18, .primaries = 9};

VmafxFormat format(const VmafxColor& color, int bits, VmafxChroma chroma = VMAFX_CHROMA_420) {
  return {.width = 96, .height = 64, .chroma = chroma, .bits = bits, .color = color, .whole_chroma = 1};
}

VideoFormat video(const VmafxFormat& f) {
  return {.w = f.width,
          .h = f.height,
          .bpc = f.bits,
          .chroma = static_cast<Chroma>(f.chroma),
          .color = {.matrix = f.color.matrix,
                    .transfer = f.color.transfer,
                    .primaries = f.color.primaries,
                    .range = Color::Range::kLimited},
          .whole_chroma = true};
}

/* Soft colors of SDR, with chroma that has no edges. */
ColorPicture colors(const VideoFormat& f) {
  ColorPicture picture(f);
  for (int p = 0; p < f.planes(); p++)
    for (int y = 0; y < f.plane_h(p); y++)
      for (int x = 0; x < f.plane_w(p); x++) {
        const double number = p ? 0.1 * x / f.plane_w(p) - 0.05 : 0.2 + 0.7 * ((x * 7 + y * 5) % 64) / 64;
        picture.set(p, x, y, code_of_number(f, p, number));
      }
  return picture;
}

/* A picture of the format with these samples. */
VmafxPicture given(const VmafxFormat& f, const ColorPicture& picture) {
  Samples samples;
  for (int p = 0; p < picture.format().planes(); p++)
    for (int y = 0; y < picture.format().plane_h(p); y++)
      for (int x = 0; x < picture.format().plane_w(p); x++)
        samples.push_back(static_cast<uint16_t>(picture.at(p, x, y)));
  return TestPicture::make(f, samples);
}

VmafxPicture sdr_colors(const VmafxFormat& f, const Samples&) { return given(f, colors(video(f))); }

/* The same colors, in HDR. */
VmafxPicture hdr_colors(const VmafxFormat& f, const Samples&) {
  const VideoFormat from = video(format(kSdrColors, 10)), to = video(f);
  const auto recolorer = Recolorer::create(from, to, {});
  ck_assert(recolorer.ok());
  const TestScratch scratch(recolorer.value()->scratch_bytes());
  ColorPicture hdr(to);
  recolorer.value()->plain(colors(from).picture(), hdr.output(), {0, to.h}, scratch.get());
  return given(f, hdr);
}

StreamOptions hdr_against_sdr() {
  StreamOptions options;
  options.ref = format(kSdrColors, 8);
  options.dist = format(kPqColors, 10);
  options.dist.layout = VMAFX_LAYOUT_SEMIPLANAR;
  options.dist.shift = 6;
  options.make_ref = sdr_colors;
  options.make_dist = hdr_colors;
  options.frames = 3;
  return options;
}

Params converting(const char* target, const char* backend = "cpu", const char* feature = "psnr|ciede") {
  Params params = params_for(backend, "", feature);
  params.convert = target;
  return params;
}

std::string temporary(const char* name) { return "/tmp/vmafx-convert-test-" + std::to_string(getpid()) + "-" + name; }

nlohmann::json file_json(const std::string& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

}  // namespace

START_TEST(hdr_is_scored_against_sdr) {
  for (const char* target : {"bt709:tones=clip:bits=10", "bt2020-pq", "ictcp-pq", "p3-pq:bits=12:chroma=444"}) {
    const Outcome outcome = run_stream(converting(target), hdr_against_sdr());
    ck_assert_msg(!outcome.error, "%s: %s", target, outcome.log.c_str());
    ck_assert_msg(outcome.features.at("psnr_y") > 50, "%s: %g", target, outcome.features.at("psnr_y"));
    for (const char* key : {"psnr_cb", "psnr_cr"}) {
      const double score = outcome.frames.front().at(key);
      ck_assert_msg(score > 45, "%s: %s is %g", target, key, score);
    }
    assert_contains(outcome.log, "pictures are scored in " + std::string(target).substr(0, 5));
  }
  const Outcome mapped = run_stream(converting("bt709"), hdr_against_sdr());
  ck_assert(mapped.features.at("psnr_y") < 45);  // highlights are darker after the EETF
  assert_contains(mapped.log, "HDR's tones are mapped to SDR by BT.2390's EETF");
  StreamOptions plain = hdr_against_sdr();
  const Outcome refused = run_stream(params_for("cpu", "", "psnr"), plain);
  assert_contains(refused.log, "input pix_fmt must match");
}
END_TEST

/* The GPU converts; with verify=1 the CPU converts and scores beside it. */
START_TEST(the_gpu_has_equal_scores) {
  StreamOptions hlg_against_pq = hdr_against_sdr();
  hlg_against_pq.ref = format(kHlgColors, 10);
  hlg_against_pq.make_ref = hdr_colors;
  for (const StreamOptions& options : {hdr_against_sdr(), hlg_against_pq})
    for (const char* target : {"bt709", "ictcp-pq", "bt2020-hlg:bits=10", "p3-pq:chroma=444"}) {
      const Outcome cpu = run_stream(converting(target), options);
      for (const int verify : {0, 1}) {
        Params params = converting(target, "hip");
        params.verify = params.verify_fail = verify;
        const Outcome gpu = run_stream(params, options);
        ck_assert_msg(!gpu.error, "%s", gpu.log.c_str());
        ck_assert(cpu.frames == gpu.frames);
      }
    }
}
END_TEST

namespace {

/* Metrics of which some look back on earlier pictures, as they are or as they convert them. */
constexpr char kLookBack[] = "motion|name=cvvdp:fps=24|xpsnr|psnr";

Outcome looking_back(const char* backend) {
  StreamOptions options;
  options.ref = format(kSdrColors, 8);
  options.dist = format(kPqColors, 10);
  options.frames = 7;
  return run_stream(converting("bt709", backend, kLookBack), options);
}

/* The output of `convert_test BACKEND`. */
std::string scores_text(const Outcome& outcome) {
  std::string text = outcome.error ? outcome.log : "";
  for (const FrameScores& frame : outcome.frames)
    for (const auto& [key, score] : frame) {
      char line[100];
      std::snprintf(line, sizeof line, "%s %a\n", key.c_str(), score);
      text += line;
    }
  return text;
}

}  // namespace

/* A GPU fails in mid-stream: the CPU converts the pictures that it had, and those before that metrics look back on. */
START_TEST(the_cpu_takes_over) {
  const std::string want = scores_text(looking_back("cpu"));
  assert_contains(want, "cvvdp_fps_24 0x");
  ck_assert(run_again("", "hip").text == want);
  const auto calls = list_calls("hip");
  std::vector<size_t> launches;
  for (size_t i = 0; i < calls.size(); i++)
    if (calls[i] == "hipModuleLaunchKernel") launches.push_back(i + 1);
  /* Batches go off as the device is idle, so that the same number may be another call in each run. */
  const std::string told = "the CPU takes over\n";
  int taken_over = 0;
  for (const size_t part : {2, 4, 6}) {
    const std::string call = std::to_string(launches[launches.size() * part / 7]);
    std::string text = run_again(emulator("FAIL", call + ":launch"), "hip").text;
    if (text.starts_with(told)) taken_over++, text.erase(0, told.size());
    ck_assert_msg(text == want, "FAIL=%s: %.500s", call.c_str(), text.c_str());
  }
  ck_assert_int_ge(taken_over, 1);
}
END_TEST

/* Encodes of several formats: each is converted in its own way, and the reference once. */
START_TEST(encodes_are_converted) {
  const auto scores = [](const char* backend) {
    const VmafxFormat ref = format(kSdrColors, 8),
                      dists[] = {format(kPqColors, 10), ref, format(kPqColors, 12, VMAFX_CHROMA_444)};
    Params params = converting("bt2020-pq:bits=10", backend, "psnr|motion|float_ssim");
    params.encodes = 3;
    params.verify = params.backend == std::string("hip");
    params.verify_fail = 1;
    VmafxContext* ctx = nullptr;
    ck_assert_int_eq(open_context(&ctx, params), 0);
    ck_assert_int_eq(vmafx_configure_encodes(ctx, &ref, dists, 3), 0);
    std::string text;
    for (int n = 0; n < 3; n++) {
      const VmafxPicture from = sdr_colors(ref, {});
      const VmafxPicture pictures[] = {hdr_colors(dists[0], {}), TestPicture::make(ref, make_samples(ref, n, true)),
                                       hdr_colors(dists[2], {})};
      const VmafxPicture* const given[] = {&pictures[0], &pictures[1], &pictures[2]};
      ck_assert_int_eq(vmafx_submit_encodes(ctx, &from, given, 3), 0);
    }
    ck_assert_int_eq(vmafx_finish(ctx), 0);
    VmafxFrameResult result;
    while (vmafx_receive(ctx, &result) == 0)
      for (size_t i = 0; i < result.n_scores; i++) {
        char line[100];
        std::snprintf(line, sizeof line, "%d %s %a\n", result.encode, result.scores[i].key, result.scores[i].value);
        text += line;
      }
    vmafx_close(&ctx);
    return text;
  };
  const std::string cpu = scores("cpu");
  assert_contains(cpu, "2 psnr_y");
  assert_text_eq(scores("hip"), cpu);
}
END_TEST

/* Pictures that are in the target's format already are not touched. */
START_TEST(what_needs_no_conversion_stays) {
  StreamOptions options;
  options.ref = options.dist = format(kSdrColors, 8);
  const Outcome as_is = run_stream(params_for("cpu", "", "psnr|ciede"), options);
  const Outcome converted = run_stream(converting("bt709"), options);
  ck_assert(as_is.frames == converted.frames && as_is.frames.size() == 6);
  assert_contains(converted.log, "reference stays, distorted stays");
}
END_TEST

START_TEST(reports_say_so) {
  for (const char* ending : {"json", "ndjson", "xml"}) {
    const std::string path = temporary("report.") + ending;
    Params params = converting("bt709");
    params.log_path = path.c_str();
    ck_assert_int_eq(run_stream(params, hdr_against_sdr()).error, 0);
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    assert_contains(text.str(), "conversion");
    assert_contains(text.str(), "BT.2390 EETF, 1000 to 203 cd/m2");
    if (ending == std::string("json")) {
      const auto run = file_json(path)["vmafx"];
      ck_assert(run["options"]["convert"] == "bt709");
      ck_assert(run["conversion"]["target"] == "bt709" && run["conversion"]["bits"] == 10);
      ck_assert(run["conversion"]["chroma"] == "4:2:0" && run["conversion"]["transfer"] == "bt709");
    }
    std::remove(path.c_str());
  }
}
END_TEST

START_TEST(wrong_targets_are_refused) {
  const std::pair<const char*, const char*> cases[] = {
      {"srgb", "there is no convert=srgb; use one of bt709, bt2020, bt2020-pq"},
      {"bt709:bits=7", "convert: there is no bits=7; use 8 to 16"},
      {"bt709:bits=10x", "convert: there is no bits=10x"},
      {"bt709:chroma=411", "convert: there is no chroma=411; use 420, 422 or 444"},
      {"bt709:range=pc.", "convert: there is no range=pc."},
      {"bt709:tones=", "convert: there is no tones=; use bt2390 or clip"},
      {"bt709:", "convert has no setting ''"},
      {"bt709:size=2", "convert has no setting 'size'; use bits, chroma, range or tones"}};
  for (const auto& [target, message] : cases) {
    const Outcome outcome = run_stream(converting(target), hdr_against_sdr());
    ck_assert_int_eq(outcome.error, -EINVAL);
    assert_contains(outcome.log, message);
  }
}
END_TEST

START_TEST(unknown_colors_are_refused) {
  StreamOptions options = hdr_against_sdr();
  options.dist.color.transfer = 0;
  Outcome outcome = run_stream(converting("bt709"), options);
  ck_assert_int_eq(outcome.error, -EINVAL);
  assert_contains(outcome.log,
                  "the distorted input cannot be converted to bt709: its transfer is not known. setparams");
  options = hdr_against_sdr();
  options.ref.width = 98;
  outcome = run_stream(converting("bt709"), options);
  assert_contains(outcome.log, "input width must match");
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

namespace {

/* A model of one feature, whose score is a function of it. */
std::string model_file(const char* name, const char* more) {
  const std::string path = temporary(name);
  std::ofstream(path) << R"({"model_dict": {"model_type": "LIBSVMNUSVR", "norm_type": "none", "feature_names": )"
                      << R"(["VMAF_integer_feature_adm2_score"], "model": "svm_type nu_svr\nkernel_type rbf\ngamma 1\n)"
                      << R"(nr_class 2\ntotal_sv 1\nrho -50\nSV\n1 1:1 \n")" << more << "}}";
  return path;
}

}  // namespace

/* The scores are those of pictures that were converted before. */
START_TEST(models_have_targets) {
  const std::string with = model_file("with.json", R"(, "conversion_target": {"colorspace": {"range": "limited",
      "primaries": "bt2020", "trc": "smpte2084", "matrix": "ictcp"}})"),
                    without = model_file("without.json", "");
  const std::string of_target = "path=" + with, of_pictures = "path=" + without;
  StreamOptions options;
  options.ref = options.dist = format(kPqColors, 10);
  const Outcome got = run_stream(params_for("cpu", of_target.c_str(), ""), options);
  Params params = params_for("cpu", of_pictures.c_str(), "");
  params.convert = "ictcp-pq";
  const Outcome want = run_stream(params, options);
  ck_assert_msg(!got.error && !want.error, "%s%s", got.log.c_str(), want.log.c_str());
  ck_assert(got.frames == want.frames && got.models == want.models);
  ck_assert(got.models != run_stream(params_for("cpu", of_pictures.c_str(), ""), options).models);
  ck_assert(got.models == run_stream(params_for("hip", of_target.c_str(), ""), options).models);
  ck_assert(got.log.find("know SDR video only") == std::string::npos);

  const auto complaint = [&](const std::string& models, const char* feature, const char* convert) {
    Params wrong = params_for("cpu", models.c_str(), feature);
    wrong.convert = convert;
    const Outcome outcome = run_stream(wrong, options);
    ck_assert_int_eq(outcome.error, -EINVAL);
    return outcome.log;
  };
  assert_contains(complaint(of_target, "psnr", nullptr), "in which feature=psnr would be computed, too");
  assert_contains(complaint(of_target, "", "bt709"), "leave convert=bt709 out");
  assert_contains(complaint(of_target + "|" + of_pictures + ":name=b", "", nullptr),
                  "are of pictures in different color spaces, and a session has one; give each its own session");
  options.dist.color = {};
  assert_contains(complaint(of_target, "", nullptr), "cannot be converted to the model's color space: its matrix is");
  VmafxPredictor* predictor = nullptr;
  std::string log;
  ck_assert_int_eq(vmafx_predictor_open(&predictor, of_target.c_str(), append_log, &log), -EINVAL);
  assert_contains(log, "a predictor has no pictures to convert to the model's color space");
  std::remove(with.c_str());
  std::remove(without.c_str());
}
END_TEST

/* A reference that stays has its own colors; sessions convert it, and leave copies of its own planes on the GPU. */
START_TEST(kept_references_are_converted) {
  const StreamOptions options = hdr_against_sdr();
  const VmafxKeptReferenceParams on_gpus = {.device_budget = 1 << 24};
  VmafxKeptReference* reference = nullptr;
  ck_assert_int_eq(vmafx_kept_reference_open(&reference, &options.ref, &on_gpus), 0);
  const VmafxPicture ref = sdr_colors(options.ref, {});
  ck_assert_int_eq(vmafx_kept_reference_add(reference, &ref), 0);
  const Outcome want = run_stream(converting("bt2020-pq", "cpu", "psnr|motion"), options);
  for (const char* backend : {"cpu", "hip", "hip"}) {
    VmafxContext* ctx = nullptr;
    ck_assert_int_eq(open_context(&ctx, converting("bt2020-pq", backend, "psnr|motion")), 0);
    ck_assert_int_eq(vmafx_configure_against(ctx, reference, &options.dist, 1), 0);
    const VmafxPicture dist = hdr_colors(options.dist, {});
    const VmafxPicture* const dists[] = {&dist};
    ck_assert_int_eq(vmafx_submit_against(ctx, 0, dists, 1), 0);
    ck_assert_int_eq(vmafx_finish(ctx), 0);
    VmafxFrameResult result;
    ck_assert_int_eq(vmafx_receive(ctx, &result), 0);
    for (size_t i = 0; i < result.n_scores; i++)
      ck_assert_double_eq(result.scores[i].value, want.frames.front().at(result.scores[i].key));
    vmafx_close(&ctx);
  }
  vmafx_kept_reference_close(&reference);
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

int main(int argc, char** argv) {
  use_emulator();
  if (argc > 1) {
    const Outcome outcome = looking_back(argv[1]);
    const bool taken_over = outcome.log.find("the CPU scores from there on") != std::string::npos;
    std::printf("%s%s", taken_over ? "the CPU takes over\n" : "", scores_text(outcome).c_str());
    return outcome.error ? 1 : 0;
  }
  return run_host_suite_on_device("convert", {{"hdr_against_sdr", hdr_is_scored_against_sdr},
                                              {"gpu", the_gpu_has_equal_scores},
                                              {"takeover", the_cpu_takes_over},
                                              {"encodes", encodes_are_converted},
                                              {"stays", what_needs_no_conversion_stays},
                                              {"reports", reports_say_so},
                                              {"wrong_targets", wrong_targets_are_refused},
                                              {"unknown_colors", unknown_colors_are_refused},
                                              {"models", models_have_targets},
                                              {"kept", kept_references_are_converted}});
}
