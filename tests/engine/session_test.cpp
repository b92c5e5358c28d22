/* The engine through its C API: order, bounds, sharing of work, formats, errors. Scores themselves are compared with
 * the reference by the golden tests. */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <sstream>
#include <thread>

#include <check.h>  // after the streams: it defines a macro fail()

#include "base/status.h"
#include "tests/support/check_main.h"
#include "tests/support/paths.h"
#include "tests/support/stream.h"

using vmafx::format_text;
using namespace vmafx::test;

namespace {

VmafxFormat format(int w, int h, VmafxChroma chroma, int bits, VmafxLayout layout = VMAFX_LAYOUT_PLANAR,
                   int shift = 0) {
  return {w, h, chroma, bits, layout, shift, VMAFX_MEMORY_HOST};
}

void assert_same_frames(const Outcome& a, const Outcome& b) {
  ck_assert_int_eq(a.frames.size(), b.frames.size());
  for (size_t i = 0; i < a.frames.size(); i++) ck_assert(a.frames[i] == b.frames[i]);
  ck_assert(a.models == b.models);
}

std::string temporary(const char* name) {
  const char* folder = std::getenv("TMPDIR");
  return std::string(folder ? folder : "/tmp") + "/vmafx-session-test-" + std::to_string(getpid()) + "-" + name;
}

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/* Opens with these parameters, which must fail; the message. */
std::string open_complaint(const Params& params, int want_error) {
  const Outcome outcome = run_stream(params);
  ck_assert_int_eq(outcome.error, want_error);
  return outcome.log;
}

}  // namespace

START_TEST(every_frame_comes_once_in_order) {
  StreamOptions options;
  options.frames = 40;
  const Outcome outcome = run_stream(cpu_params(), options);
  ck_assert_int_eq(outcome.error, 0);
  ck_assert_int_eq(outcome.frames.size(), 40);
  for (const FrameScores& scores : outcome.frames) {
    ck_assert(scores.contains("vmaf") && scores.contains("integer_motion2") && scores.contains("integer_vif_scale3"));
    ck_assert(!scores.contains("psnr_y"));
  }
  ck_assert_double_eq(outcome.frames[0].at("integer_motion2"), 0);
  ck_assert_int_eq(outcome.models.size(), 1);
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

/* While one of these lives no thread can be started: there is no room for its stack. */
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge = before_;
    pthread_attr_setstacksize(&huge, size_t{1} << 50);
    ck_assert_int_eq(pthread_setattr_default_np(&huge), 0);
  }
  ~NoThreads() { pthread_setattr_default_np(&before_); }

 private:
  pthread_attr_t before_;
};

START_TEST(threads_that_cannot_start_are_no_reason_to_try_again) {
  const NoThreads none;
  const Outcome outcome = run_stream(cpu_params());
  ck_assert_int_eq(outcome.error, -ENOMEM);
  assert_contains(outcome.log, "cannot start a worker thread");
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

START_TEST(what_failed_to_configure_is_not_configured_again) {
  const Params params = cpu_params();
  VmafxContext* ctx = nullptr;
  ck_assert_int_eq(open_context(&ctx, params), 0);
  const VmafxFormat f = format(96, 64, VMAFX_CHROMA_420, 8);
  {
    const NoThreads none;
    ck_assert_int_eq(vmafx_configure(ctx, &f, &f), -ENOMEM);
  }
  ck_assert_int_eq(vmafx_configure(ctx, &f, &f), -ENOMEM);
  assert_contains(vmafx_last_error(ctx), "cannot start a worker thread");
  vmafx_close(&ctx);
}
END_TEST

START_TEST(threads_do_not_change_scores) {
  StreamOptions options;
  options.frames = 12;
  Params params = cpu_params(nullptr, "name=psnr");
  params.n_threads = 1;
  const Outcome one = run_stream(params, options);
  for (const int threads : {2, 3, 16}) {
    params.n_threads = threads;
    assert_same_frames(one, run_stream(params, options));
  }
}
END_TEST

START_TEST(frames_in_flight_are_bounded) {
  StreamOptions options;
  options.frames = 200;
  Params params = cpu_params();
  params.n_threads = 2;
  TestPicture::most_alive = 0;
  run_stream(params, options);
  /* Two threads and two frames ahead are four pairs; one pair being submitted; one earlier reference for motion. */
  ck_assert_int_le(TestPicture::most_alive, 2 * 4 + 2 + 1);
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

START_TEST(subsampling_skips_frames_but_not_motion) {
  StreamOptions options;
  options.frames = 9;
  Params params = cpu_params();
  const Outcome all = run_stream(params, options);
  params.n_subsample = 4;
  const Outcome some = run_stream(params, options);
  ck_assert_int_eq(some.frames.size(), 9);
  for (int i = 0; i < 9; i++) {
    if (i % 4 == 0) ck_assert(some.frames[i] == all.frames[i]);
    else ck_assert(some.frames[i].empty());
  }
  const double mean = (all.frames[0].at("vmaf") + all.frames[4].at("vmaf") + all.frames[8].at("vmaf")) / 3;
  ck_assert_double_eq_tol(some.models[0], mean, 1e-12);
}
END_TEST

START_TEST(memory_layout_does_not_change_scores) {
  const Params params = cpu_params(nullptr, "name=psnr");
  for (const VmafxChroma chroma : {VMAFX_CHROMA_420, VMAFX_CHROMA_422, VMAFX_CHROMA_444}) {
    for (const int bits : {8, 10, 12}) {
      StreamOptions planar;
      planar.ref = planar.dist = format(97, 65, chroma, bits);
      const Outcome want = run_stream(params, planar);
      ck_assert_int_eq(want.error, 0);

      StreamOptions mixed = planar;
      mixed.dist = format(97, 65, chroma, bits, VMAFX_LAYOUT_SEMIPLANAR, bits > 8 ? 16 - bits : 0);
      assert_same_frames(want, run_stream(params, mixed));

      StreamOptions flipped = mixed;
      flipped.upside_down = true;
      assert_same_frames(want, run_stream(params, flipped));
    }
  }
}
END_TEST

/* A row or a column of luma has no chroma where that is halved. */
START_TEST(chroma_may_have_no_samples) {
  const Params params = cpu_params("", "name=psnr|name=xpsnr");
  for (const auto& [w, h] : {std::pair{33, 1}, {1, 9}})
    for (const int bits : {8, 10}) {
      StreamOptions planar;
      planar.ref = planar.dist = format(w, h, VMAFX_CHROMA_420, bits);
      const Outcome want = run_stream(params, planar);
      ck_assert_int_eq(want.error, 0);
      StreamOptions mixed = planar;
      mixed.dist = format(w, h, VMAFX_CHROMA_420, bits, VMAFX_LAYOUT_SEMIPLANAR, bits > 8 ? 16 - bits : 0);
      assert_same_frames(want, run_stream(params, mixed));
    }
}
END_TEST

/* The last column and row of chroma, where they are rounded up: metrics that libvmaf does not have score them. */
START_TEST(chroma_of_odd_sizes_is_scored_where_it_is_whole) {
  const Params params = cpu_params("", "name=psnr|name=xpsnr|name=ssimulacra2|name=butteraugli|name=ciede");
  for (const VmafxLayout layout : {VMAFX_LAYOUT_PLANAR, VMAFX_LAYOUT_SEMIPLANAR})
    for (const bool whole : {false, true}) {
      StreamOptions options;
      options.frames = 1;
      options.ref = options.dist = format(97, 65, VMAFX_CHROMA_420, 8, layout);
      options.ref.whole_chroma = options.dist.whole_chroma = whole;
      options.make_dist = [](const VmafxFormat& f, const Samples&) {
        Samples samples = make_samples(f, 0, false);
        for (int y = 0; y < chroma_h(f); y++)
          for (int x = 0; x < chroma_w(f); x++)
            if (x == chroma_w(f) - 1 || y == chroma_h(f) - 1) samples[luma_size(f) + y * chroma_w(f) + x] ^= 64;
        return TestPicture::make(f, samples);
      };
      const Outcome outcome = run_stream(params, options);
      ck_assert_msg(outcome.error == 0, "%s", outcome.log.c_str());
      FrameScores scores = outcome.frames[0];
      ck_assert_double_eq(scores["psnr_cb"], 60);
      ck_assert(std::isinf(scores["ciede2000"]));
      ck_assert_msg(std::isinf(scores["xpsnr_cb"]) == !whole, "%g", scores["xpsnr_cb"]);
      ck_assert_msg((scores["ssimulacra2"] == 100) == !whole, "%g", scores["ssimulacra2"]);
      ck_assert_msg((scores["butteraugli"] == 0) == !whole, "%g", scores["butteraugli"]);
    }
}
END_TEST

START_TEST(gray_is_scored_and_chroma_left_alone) {
  StreamOptions gray;
  gray.ref = gray.dist = format(96, 64, VMAFX_CHROMA_400, 8);
  const Outcome luma = run_stream(cpu_params(nullptr, "name=psnr"), gray);
  ck_assert_int_eq(luma.error, 0);
  ck_assert(luma.frames[0].contains("psnr_y") && !luma.frames[0].contains("psnr_cb"));
  ck_assert_double_eq(luma.frames[3].at("vmaf"), run_stream(cpu_params()).frames[3].at("vmaf"));
}
END_TEST

START_TEST(models_share_their_features) {
  const Outcome outcome = run_stream(cpu_params(
      "version=vmaf_v0.6.1|version=vmaf_v0.6.1neg:name=neg|version=vmaf_v0.6.1:name=phone:enable_transform=true",
      "name=vif|name=psnr|name=psnr:enable_mse=true"));
  ck_assert_int_eq(outcome.error, 0);
  const FrameScores& scores = outcome.frames[2];
  for (const char* key : {"vmaf", "neg", "phone", "integer_adm2", "integer_adm2_egl_1", "integer_vif_scale0",
                          "integer_vif_scale0_egl_1", "integer_motion2", "psnr_y", "mse_y"})
    ck_assert_msg(scores.contains(key), "%s is missing", key);
  ck_assert_double_gt(scores.at("phone"), scores.at("vmaf"));
  ck_assert_int_eq(outcome.models.size(), 3);
}
END_TEST

START_TEST(overloads_change_the_key) {
  const Outcome outcome = run_stream(cpu_params("version=vmaf_v0.6.1:motion.motion_force_zero=true"));
  ck_assert_int_eq(outcome.error, 0);
  ck_assert_double_eq(outcome.frames[4].at("integer_motion2_force_0"), 0);
  ck_assert(outcome.frames[4].contains("vmaf"));
  const Outcome unused = run_stream(cpu_params("version=vmaf_v0.6.1:cambi.enc_width=100"));
  ck_assert_int_eq(unused.error, 0);
  assert_contains(unused.log, "does not use cambi");
}
END_TEST

START_TEST(bootstrap_scores_are_reported) {
  const Outcome outcome = run_stream(cpu_params("version=vmaf_b_v0.6.3"));
  ck_assert_int_eq(outcome.error, 0);
  for (const char* key : {"vmaf", "vmaf_bagging", "vmaf_stddev", "vmaf_ci_p95_lo", "vmaf_ci_p95_hi", "vmaf_0001"})
    ck_assert_msg(outcome.frames[1].contains(key), "%s is missing", key);
}
END_TEST

START_TEST(wrong_parameters_are_named) {
  Params params = cpu_params("version=vmaf_v9");
  assert_contains(open_complaint(params, -EINVAL), "vmaf_v9");
  params = cpu_params("", "name=sharpness");
  assert_contains(open_complaint(params, -EINVAL), "could not initialize feature extractor sharpness");
  params = cpu_params(nullptr, "name=vif:gain=2");
  assert_contains(open_complaint(params, -EINVAL), "vif has no option 'gain'");
  params = cpu_params("");
  assert_contains(open_complaint(params, -EINVAL), "nothing to score");
  params = cpu_params("version=vmaf_v0.6.1|version=vmaf_v0.6.1neg");
  assert_contains(open_complaint(params, -EINVAL), "two models are called 'vmaf'");
  params = cpu_params();
  params.backend = "vulkan";
  assert_contains(open_complaint(params, -EINVAL), "no backend 'vulkan'");
  params = cpu_params();
  params.n_subsample = 0;
  assert_contains(open_complaint(params, -EINVAL), "n_subsample=0");
  params = cpu_params();
  params.log_path = "/nonexistent/folder/log.xml";
  assert_contains(open_complaint(params, -ENOENT), "/nonexistent/folder/log.xml");
  params = cpu_params();
  params.score_fmt = "%s";
  params.log_path = "/dev/null";
  assert_contains(open_complaint(params, -EINVAL), "%s");
}
END_TEST

/* Words that later versions may fill with meaning are refused by this one, by name, and every picture is released. */
START_TEST(what_this_version_does_not_know_is_refused) {
  int word = 0;
  VmafxContext* ctx = nullptr;
  const Params known = cpu_params();
  const StreamOptions options;
  VmafxFormat with_more = options.ref;
  with_more.reserved[0] = &word;
  ck_assert_int_eq(open_context(&ctx, known), 0);
  ck_assert_int_eq(vmafx_configure(ctx, &options.ref, &with_more), -EINVAL);
  assert_contains(vmafx_last_error(ctx), "the reserved words of a VmafxFormat are not zero");
  with_more = options.ref;
  with_more.color.reserved[15] = &word;
  ck_assert_int_eq(vmafx_configure(ctx, &with_more, &options.dist), -EINVAL);
  assert_contains(vmafx_last_error(ctx), "the reserved words of a VmafxColor are not zero");
  ck_assert_int_eq(vmafx_configure(ctx, &options.ref, &options.dist), 0);

  VmafxPicture ref = make_picture({}, 0, false), dist = make_picture({}, 0, true), more = make_picture({}, 0, true);
  const VmafxPicture* const two[] = {&dist, &more};
  ck_assert_int_eq(vmafx_submit_encodes(ctx, &ref, two, 2), -EINVAL);
  assert_contains(vmafx_last_error(ctx), "got 2 distorted pictures for 1 encodes");
  ck_assert_int_eq(TestPicture::alive, 0);
  ref = make_picture({}, 0, false);
  const VmafxPicture* const none[] = {nullptr};
  ck_assert_int_eq(vmafx_submit_encodes(ctx, &ref, none, 1), -EINVAL);
  ref = make_picture({}, 0, false), dist = make_picture({}, 0, true);
  dist.reserved[0] = &word;
  ck_assert_int_eq(vmafx_submit(ctx, &ref, &dist), -EINVAL);
  assert_contains(vmafx_last_error(ctx), "the reserved words of a VmafxPicture are not zero");
  ck_assert_int_eq(TestPicture::alive, 0);
  ref = make_picture({}, 0, false), dist = make_picture({}, 0, true);
  ref.object[3].reserved[0] = &word;
  ck_assert_int_eq(vmafx_submit(ctx, &ref, &dist), -EINVAL);
  assert_contains(vmafx_last_error(ctx), "the reserved words of a VmafxObject are not zero");
  ck_assert_int_eq(TestPicture::alive, 0);

  VmafxPairing pairing{};
  pairing.encode = 1;
  ck_assert_int_eq(vmafx_set_pairing(ctx, &pairing), -EINVAL);
  assert_contains(vmafx_last_error(ctx), "there is no encode 1");
  pairing = {};
  pairing.reserved[0] = &word;
  ck_assert_int_eq(vmafx_set_pairing(ctx, &pairing), -EINVAL);
  VmafxDoubt doubt{};
  doubt.reserved[0] = &word;
  pairing = {.doubts = &doubt, .n_doubts = 1};
  ck_assert_int_eq(vmafx_set_pairing(ctx, &pairing), -EINVAL);
  assert_contains(vmafx_last_error(ctx), "the reserved words of a VmafxDoubt are not zero");
  pairing = {.doubts = nullptr, .n_doubts = 1};
  ck_assert_int_eq(vmafx_set_pairing(ctx, &pairing), -EINVAL);
  assert_contains(vmafx_last_error(ctx), "1 structs VmafxDoubt are given, but no pointer to them");
  const char* const remedies[] = {"whole files", nullptr};
  for (const char* const* given : {(const char* const*)nullptr, remedies}) {
    doubt = {.remedies = given, .n_remedies = 2};
    pairing = {.doubts = &doubt, .n_doubts = 1};
    ck_assert_int_eq(vmafx_set_pairing(ctx, &pairing), -EINVAL);
    assert_contains(vmafx_last_error(ctx), "2 remedies are given, but not a pointer to each");
  }

  ref = make_picture({}, 0, false), dist = make_picture({}, 0, true);
  const VmafxPicture* const one[] = {&dist};
  ck_assert_int_eq(vmafx_submit_encodes(ctx, &ref, one, 1), 0);
  ck_assert_int_eq(vmafx_finish(ctx), 0);
  VmafxFrameResult result;
  ck_assert_int_eq(vmafx_receive(ctx, &result), 0);
  ck_assert_int_eq(result.encode, 0);
  vmafx_close(&ctx);
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

START_TEST(scores_are_formatted_as_reports_are) {
  const double inf = std::numeric_limits<double>::infinity();
  const struct {
    const char* format;
    double score;
    const char* want;
  } cases[] = {
      {"", 91.25, "91.250000"}, {"", 3e-9, "0.0000000030000000"}, {"", -inf, "-inf"}, {"%.3e", 91.25, "9.125e+01"}};
  for (const auto& [format, score, want] : cases) {
    VmafxContext* ctx = nullptr;
    Params params = cpu_params();
    params.score_fmt = format;
    ck_assert_int_eq(open_context(&ctx, params), 0);
    char text[32];
    ck_assert_int_eq(vmafx_format_score(ctx, score, text, sizeof text), 0);
    assert_text_eq(text, want);
    ck_assert_int_eq(vmafx_format_score(ctx, score, text, std::string(want).size()), -ERANGE);
    vmafx_close(&ctx);
  }
}
END_TEST

START_TEST(planes_that_are_read) {
  const struct {
    const char *model, *feature;
    unsigned planes;
  } cases[] = {{nullptr, "", 1}, {"", "name=psnr", 7}, {"", "name=psnr:enable_chroma=false", 1}};
  const StreamOptions options;
  for (const auto& [model, feature, planes] : cases) {
    VmafxContext* ctx = nullptr;
    const Params params = cpu_params(model, feature);
    ck_assert_int_eq(open_context(&ctx, params), 0);
    ck_assert_int_eq(vmafx_configure(ctx, &options.ref, &options.dist), 0);
    ck_assert_uint_eq(vmafx_planes_read(ctx), planes);
    ck_assert_uint_eq(vmafx_imports(ctx), 0);
    vmafx_close(&ctx);
  }
}
END_TEST

/* Each name that is listed can be asked for. */
START_TEST(what_is_listed_opens) {
  const auto opens = [](const Params& params) {
    VmafxContext* ctx = nullptr;
    ck_assert_int_eq(open_context(&ctx, params), 0);
    vmafx_close(&ctx);
  };
  int models = 0, extractors = 0;
  for (const char* name; (name = vmafx_builtin_model(models)); models++) opens(cpu_params(name));
  for (const char* name; (name = vmafx_extractor(extractors)); extractors++)
    if (!std::string(name).ends_with("_hip")) opens(cpu_params("", name));
  ck_assert(models > 10 && extractors > 10 && !vmafx_builtin_model(-1) && !vmafx_extractor(-1));
}
END_TEST

START_TEST(unknown_pool_is_the_mean_with_a_warning) {
  Params params = cpu_params();
  const Outcome mean = run_stream(params);
  params.pool = "Mean";
  const Outcome fallback = run_stream(params);
  ck_assert_int_eq(mean.error, 0);
  ck_assert(fallback.models == mean.models);
  assert_contains(fallback.log, "pool=Mean is unknown");
  params.pool = "min";
  double least = 1000;
  for (const FrameScores& scores : mean.frames) least = std::min(least, scores.at("vmaf"));
  ck_assert_double_eq(run_stream(params).models[0], least);
}
END_TEST

START_TEST(inputs_must_match) {
  struct Case {
    VmafxFormat dist;
    const char* message;
  };
  for (const Case& c : {Case{format(98, 64, VMAFX_CHROMA_420, 8), "input width must match."},
                        Case{format(96, 66, VMAFX_CHROMA_420, 8), "input height must match."},
                        Case{format(96, 64, VMAFX_CHROMA_420, 10), "input pix_fmt must match."},
                        Case{format(96, 64, VMAFX_CHROMA_444, 8), "input pix_fmt must match."}}) {
    StreamOptions options;
    options.dist = c.dist;
    const Outcome outcome = run_stream(cpu_params(), options);
    ck_assert_int_eq(outcome.error, -EINVAL);
    assert_contains(outcome.log, c.message);
  }
  StreamOptions odd;
  odd.ref = odd.dist = format(97, 64, VMAFX_CHROMA_420, 8);
  odd.dist.whole_chroma = 1;
  const Outcome outcome = run_stream(cpu_params(), odd);
  ck_assert_int_eq(outcome.error, -EINVAL);
  assert_contains(outcome.log, "input chroma must match. (of distorted it is 49x32, of reference 48x32;");
  odd.ref.width = odd.dist.width = 96;
  ck_assert_int_eq(run_stream(cpu_params(), odd).error, 0);
}
END_TEST

/* Every reason at once, without a context, in the application's own names. */
START_TEST(formats_can_be_checked_ahead) {
  std::string log;
  VmafxFormat ref = format(96, 64, VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_SEMIPLANAR),
              dist = format(96, 64, VMAFX_CHROMA_420, 8);
  ck_assert_int_eq(vmafx_check_formats(&ref, &dist, append_log, &log), 0);
  dist = format(98, 66, VMAFX_CHROMA_444, 10);
  dist.name = "main";
  ck_assert_int_eq(vmafx_check_formats(&ref, &dist, append_log, &log), -EINVAL);
  assert_text_eq(log,
                 "input width must match. (main is 98, reference 96)\n"
                 "input height must match. (main is 66, reference 64)\n"
                 "input pix_fmt must match. (main is yuv444p10, reference yuv420p; the format filter converts)\n");
  log.clear();
  dist.bits = 7;
  ck_assert_int_eq(vmafx_check_formats(&ref, &dist, append_log, &log), -EINVAL);
  assert_text_eq(log, "the distorted input has 7 bits per sample; 8 to 16 can be scored\n");
  ck_assert_int_eq(vmafx_check_formats(&ref, &dist, nullptr, nullptr), -EINVAL);
}
END_TEST

START_TEST(colors_that_do_not_go_together_are_warned_of) {
  const struct {
    VmafxColor ref, dist;
    const char* warning;
  } cases[] = {
      {{.range = 1}, {.range = 2}, "The inputs differ in color range (distorted pc, reference tv)"},
      {{.range = 2},
       {},
       "(distorted unknown, reference pc): equal samples are different pictures. "
       "scale=out_range=tv,format=yuv420p before the reference input"},
      {{.matrix = 5}, {.matrix = 9}, "The inputs differ in color matrix (distorted bt2020nc, reference bt470bg)"},
      {{.transfer = 1}, {.transfer = 99}, "The inputs differ in color transfer (distorted 99, reference bt709)"},
      {{.primaries = 12},
       {.primaries = 1},
       "The inputs differ in color primaries (distorted bt709, reference smpte432)"},
      {{.transfer = 16}, {.transfer = 16}, "The transfer is smpte2084; the VMAF models know SDR video only"},
      {{}, {.transfer = 18}, "The transfer is arib-std-b67; the VMAF models know SDR video only"},
  };
  for (const auto& [ref, dist, warning] : cases) {
    StreamOptions options;
    options.ref.color = ref;
    options.dist.color = dist;
    assert_contains(run_stream(cpu_params(), options).log, warning);
  }
  StreamOptions options;
  options.ref.color = {.matrix = 1, .range = 1};
  options.dist.color.transfer = 1;
  ck_assert(run_stream(cpu_params(), options).log.find("differ") == std::string::npos);
  options.ref.color.transfer = options.dist.color.transfer = 16;
  ck_assert(run_stream(cpu_params("", "name=psnr"), options).log.find("SDR") == std::string::npos);
}
END_TEST

START_TEST(formats_of_unknown_kinds_are_refused) {
  for (const auto& [part, wrong] :
       {std::pair("chroma subsampling", format(96, 64, static_cast<VmafxChroma>(4), 8)),
        std::pair("layout", format(96, 64, VMAFX_CHROMA_420, 8, static_cast<VmafxLayout>(2)))}) {
    VmafxContext* ctx = nullptr;
    const Params params = cpu_params();
    ck_assert_int_eq(open_context(&ctx, params), 0);
    ck_assert_int_eq(vmafx_configure(ctx, &wrong, &wrong), -EINVAL);
    assert_contains(vmafx_last_error(ctx), format_text("the reference input has a %s of an unknown kind", part));
    ck_assert_int_eq(vmafx_check_formats(&wrong, &wrong, nullptr, nullptr), -EINVAL);
    vmafx_close(&ctx);
  }
}
END_TEST

START_TEST(platforms_of_unknown_kinds_are_refused) {
  int context = 0;
  Params params = cpu_params();
  params.device_platform = static_cast<VmafxPlatform>(VMAFX_PLATFORM_CUDA + 1);
  params.device_context = &context;
  assert_contains(open_complaint(params, -EINVAL), "a platform of an unknown kind (3)");
}
END_TEST

START_TEST(too_small_is_refused) {
  StreamOptions options;
  options.ref = options.dist = format(8, 8, VMAFX_CHROMA_420, 8);
  const Outcome outcome = run_stream(cpu_params(), options);
  ck_assert_int_eq(outcome.error, -EINVAL);
  assert_contains(outcome.log, "could not initialize feature extractor");
}
END_TEST

START_TEST(no_frames_is_an_error) {
  StreamOptions options;
  options.frames = 0;
  const Outcome outcome = run_stream(cpu_params(), options);
  ck_assert_int_eq(outcome.error, -EINVAL);
  assert_contains(outcome.log, "no frames were scored");
  ck_assert(outcome.models.empty());
}
END_TEST

START_TEST(one_frame_is_enough) {
  StreamOptions options;
  options.frames = 1;
  const Outcome outcome = run_stream(cpu_params(), options);
  ck_assert_int_eq(outcome.error, 0);
  ck_assert_int_eq(outcome.frames.size(), 1);
  ck_assert_double_eq(outcome.models[0], outcome.frames[0].at("vmaf"));
}
END_TEST

START_TEST(pictures_are_released_after_a_failure) {
  Params params = cpu_params();
  std::string log;
  params.log = append_log;
  params.log_cookie = &log;
  VmafxContext* ctx = nullptr;
  ck_assert_int_eq(open_context(&ctx, params), 0);
  const VmafxFormat f = format(96, 64, VMAFX_CHROMA_420, 8);
  VmafxPicture ref = TestPicture::make(f, make_samples(f, 0, false));
  VmafxPicture dist = TestPicture::make(f, make_samples(f, 0, true));
  ck_assert_int_eq(vmafx_submit(ctx, &ref, &dist), -EINVAL);  // not configured
  ck_assert_int_eq(TestPicture::alive, 0);

  ck_assert_int_eq(vmafx_configure(ctx, &f, &f), 0);
  ck_assert_int_eq(vmafx_configure(ctx, &f, &f), -EINVAL);
  ref = TestPicture::make(f, make_samples(f, 0, false));
  dist = TestPicture::make(f, make_samples(f, 0, true));
  dist.data[0] = nullptr;
  ck_assert_int_eq(vmafx_submit(ctx, &ref, &dist), -EINVAL);
  assert_contains(vmafx_last_error(ctx), "without the data of plane 0");
  double score = 0;
  ck_assert_int_lt(vmafx_finish(ctx), 0);
  ck_assert_int_eq(vmafx_model_score(ctx, 0, nullptr, &score), -EINVAL);
  vmafx_close(&ctx);
  ck_assert_ptr_null(ctx);
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

/* "7 (0.280 s) 31.250000" of the three frames with the lowest scores. */
std::string worst_frames(const Outcome& outcome, const std::string& key, double frame_rate) {
  std::vector<std::pair<double, int>> scores;
  for (const FrameScores& frame : outcome.frames)
    if (frame.contains(key)) scores.emplace_back(frame.at(key), static_cast<int>(&frame - outcome.frames.data()));
  std::ranges::sort(scores);
  std::string text;
  for (const auto& [score, frame] : std::span(scores).first(3)) {
    text += text.empty() ? "" : ", ";
    text += frame_rate ? format_text("%d (%.3f s) %.6f", frame, frame / frame_rate, score)
                       : format_text("%d %.6f", frame, score);
  }
  return text;
}

START_TEST(the_summary_names_the_worst_frames) {
  StreamOptions options;
  options.frames = 14;
  Params params = cpu_params(nullptr, "name=psnr:enable_chroma=false");
  params.summary = 1;
  params.n_subsample = 2;
  for (const double frame_rate : {0.0, 25.0, 23.976}) {
    options.frame_rate = frame_rate;
    const Outcome outcome = run_stream(params, options);
    ck_assert_int_eq(outcome.error, 0);
    for (const char* key : {"psnr_y", "vmaf"})
      assert_contains(outcome.log, "; worst frames: " + worst_frames(outcome, key, frame_rate) + "\n");
    assert_contains(outcome.log, format_text("vmaf: mean %.6f, min ", outcome.models[0]));
    ck_assert(outcome.log.find("integer_") == std::string::npos);  // only what was asked for
  }
  params.summary = 0;
  ck_assert(run_stream(params, options).log.find("worst frames") == std::string::npos);
}
END_TEST

START_TEST(times_of_pictures_are_in_reports) {
  StreamOptions options;
  options.frame_rate = 50;
  const std::string path = temporary("times.xml");
  Params params = cpu_params();
  params.log_path = path.c_str();
  ck_assert_int_eq(run_stream(params, options).error, 0);
  assert_contains(file_text(path), "<frame frameNum=\"3\" time=\"0.060000\" integer_adm2=");
  params.report_times = 0;
  ck_assert_int_eq(run_stream(params, options).error, 0);
  assert_contains(file_text(path), "<frame frameNum=\"3\" integer_adm2=");
  unlink(path.c_str());
}
END_TEST

/* A report has the hash of each model's file and the options that change scores, unless a program made for libvmaf
 * reads it; the context tells the hashes, too. */
START_TEST(reports_say_where_scores_come_from) {
  const std::string path = temporary("from.json");
  const std::string hash = "5950d61fa1f861bd45d8149d80539ed9f3376cfc2495b8f0fa8e9f57cb131ee3";  // vmaf_v0.6.1.json
  Params params = cpu_params("vmaf_v0.6.1:name=hd", "name=psnr:enable_chroma=false");
  params.log_path = path.c_str();
  ck_assert_int_eq(run_stream(params).error, 0);
  assert_contains(file_text(path), "\"model_sha256\": {\n      \"hd\": \"" + hash + "\"\n    }");
  for (const char* option : {"model\": \"vmaf_v0.6.1:name=hd", "feature\": \"name=psnr:enable_chroma=false"})
    assert_contains(file_text(path), std::string("\"") + option + "\"");
  params.report_times = 0;
  ck_assert_int_eq(run_stream(params).error, 0);
  ck_assert(file_text(path).find("model_sha256") == std::string::npos);
  ck_assert(file_text(path).find("\"options\"") == std::string::npos);
  unlink(path.c_str());

  params.log_path = nullptr;
  VmafxContext* ctx = nullptr;
  ck_assert_int_eq(open_context(&ctx, params), 0);
  const char* name = nullptr;
  assert_text_eq(vmafx_model_sha256(ctx, 0, &name), hash);
  assert_text_eq(name, "hd");
  assert_text_eq(vmafx_model_sha256(ctx, 0, nullptr), hash);
  for (const int i : {-1, 1}) ck_assert_ptr_null(vmafx_model_sha256(ctx, i, &name));
  ck_assert_ptr_null(vmafx_model_sha256(nullptr, 0, &name));
  vmafx_close(&ctx);
}
END_TEST

START_TEST(a_format_without_a_report_is_told) {
  Params params = cpu_params();
  params.log_fmt = "json";
  assert_contains(run_stream(params).log, "log_fmt=json is without effect");
  params.log_fmt = nullptr;
  ck_assert(run_stream(params).log.find("log_fmt") == std::string::npos);
}
END_TEST

/* ciede of equal pictures is infinite. */
START_TEST(scores_that_are_not_finite_are_told) {
  StreamOptions options;
  options.make_dist = [](const VmafxFormat& f, const Samples&) {
    return TestPicture::make(f, make_samples(f, 0, false));
  };
  options.make_ref = options.make_dist;
  Params params = cpu_params("", "name=ciede");
  params.n_subsample = 2;
  for (const char* path : {static_cast<const char*>(nullptr), "/dev/null"}) {
    params.log_path = path;
    const Outcome outcome = run_stream(params, options);
    ck_assert_int_eq(outcome.error, 0);
    assert_contains(outcome.log, "3 scores are not finite; what is pooled leaves them out\n");
  }
  ck_assert(run_stream(cpu_params("", "name=psnr")).log.find("not finite") == std::string::npos);
}
END_TEST

/* A model without a slope, of a feature that is infinite where the pictures are equal: 0 times infinity. */
START_TEST(scores_that_are_no_numbers_are_told_by_key) {
  const std::string path = temporary("nan.json"), report = temporary("nan_report.json");
  std::ofstream(path)
      << R"({"model_dict": {"model_type": "LIBSVMNUSVR", "norm_type": "none", "feature_names": ["ciede2000"],
      "model": "svm_type nu_svr\nkernel_type rbf\ngamma 0\nnr_class 2\ntotal_sv 1\nrho 1\nSV\n40 1:1 \n"}})";
  StreamOptions options;
  int made = 0;
  options.make_dist = [&made](const VmafxFormat& f, const Samples& samples) {
    const int n = made++;
    return TestPicture::make(f, n % 3 == 0 ? make_samples(f, n, false) : samples);
  };
  const std::string model = "path=" + path;
  Params params = cpu_params(model.c_str(), "");
  params.log_path = report.c_str();
  const Outcome outcome = run_stream(params, options);
  ck_assert_int_eq(outcome.error, 0);
  for (size_t n = 0; n < 6; n++) ck_assert(std::isnan(outcome.frames[n].at("vmaf")) == (n % 3 == 0));
  ck_assert_double_eq(outcome.models.at(0), 39);
  assert_contains(outcome.log,
                  "vmaf is not a number (nan) in 2 of 6 frames; its pooled values are those of the others\n");
  assert_contains(outcome.log, "4 scores are not finite; what is pooled leaves them out\n");  // two of the feature
  ck_assert(outcome.log.find("ciede2000 is not a number") == std::string::npos);
  assert_contains(file_text(report), "\"vmaf\": 2");  // excluded_scores
  unlink(path.c_str());
  unlink(report.c_str());
}
END_TEST

/* The value of adm3 depends on adm_skip_aim, which is not part of its key. */
START_TEST(features_do_not_change_a_models_score) {
  const std::string adm =
      "name=adm:adm_csf_mode=2:adm_dlm_weight=0.7:adm_enhn_gain_limit=1:adm_min_val=0.5:"
      "adm_noise_weight=0.02:adm_skip_aim=true";
  const char* const model = "version=vmaf_v1.0.16_3d0h";
  StreamOptions options;
  options.ref = options.dist = {320, 192, VMAFX_CHROMA_420, 10, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};
  const Outcome alone = run_stream(cpu_params(model, ""), options);
  ck_assert_int_eq(alone.error, 0);
  assert_contains(open_complaint(cpu_params(model, adm.c_str()), -EINVAL), "which differ in adm_skip_aim");

  const std::string both = std::string(model) + "|" + model + ":name=b:adm.adm_skip_aim=true";
  Params params = cpu_params(both.c_str(), adm.c_str());
  params.ignore_unknown = 1;
  const Outcome outcome = run_stream(params, options);
  ck_assert_int_eq(outcome.error, 0);
  const Outcome skipping =
      run_stream(cpu_params((std::string(model) + ":name=b:adm.adm_skip_aim=true").c_str(), ""), options);
  ck_assert(outcome.models.at(0) == alone.models.at(0));
  ck_assert(outcome.models.at(1) == skipping.models.at(0));
  ck_assert(outcome.models.at(0) != outcome.models.at(1));
  for (size_t n = 0; n < outcome.frames.size(); n++) {
    FrameScores frame = outcome.frames[n];
    ck_assert_double_eq(frame.at("b"), skipping.frames[n].at("b"));
    frame.erase("b");
    ck_assert(frame == alone.frames[n]);
  }
  assert_contains(outcome.log, "model vmaf (adm:");
  assert_contains(outcome.log, "; the first one is reported\n");
}
END_TEST

START_TEST(a_report_that_fails_does_not_hide_the_scores) {
  const std::string path = temporary("short.json");
  Params params = cpu_params();
  params.log_path = path.c_str();
  VmafxContext* ctx = nullptr;
  const StreamOptions options;
  ck_assert_int_eq(open_context(&ctx, params), 0);
  ck_assert_int_eq(vmafx_configure(ctx, &options.ref, &options.dist), 0);
  for (int n = 0; n < options.frames; n++) {
    const VmafxPicture ref = make_picture(options, n, false), dist = make_picture(options, n, true);
    ck_assert_int_eq(vmafx_submit(ctx, &ref, &dist), 0);
  }
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit too_short = {100, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &too_short);
  const int finished = vmafx_finish(ctx), again = vmafx_finish(ctx);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);

  ck_assert(finished == -EFBIG && again == -EFBIG);
  double score = 0;
  ck_assert_int_eq(vmafx_model_score(ctx, 0, nullptr, &score), 0);
  ck_assert_double_eq(score, run_stream(cpu_params()).models[0]);
  VmafxFrameResult result;
  for (int n = 0; n < options.frames; n++) ck_assert_int_eq(vmafx_receive(ctx, &result), 0);
  ck_assert_int_eq(vmafx_receive(ctx, &result), -EAGAIN);
  vmafx_close(&ctx);
  std::remove((path + ".part").c_str());
}
END_TEST

START_TEST(an_abandoned_stream_leaves_a_partial_report) {
  const std::string path = temporary("partial.json");
  Params params = cpu_params();
  params.log_path = path.c_str();
  params.log_fmt = "json";
  StreamOptions options;
  options.finish = false;
  run_stream(params, options);
  const std::string partial = file_text(path);
  assert_contains(partial, "\"partial\": true");
  assert_contains(partial, "\"frameNum\": 5");

  options.finish = true;
  run_stream(params, options);
  ck_assert(file_text(path).find("\"partial\"") == std::string::npos);
  std::remove(path.c_str());
}
END_TEST

START_TEST(ndjson_grows_while_frames_finish) {
  const std::string path = temporary("live.ndjson");
  Params params = cpu_params("", "name=psnr");
  params.log_path = path.c_str();
  params.log_fmt = "ndjson";
  VmafxContext* ctx = nullptr;
  ck_assert_int_eq(open_context(&ctx, params), 0);
  const VmafxFormat f = format(96, 64, VMAFX_CHROMA_420, 8);
  ck_assert_int_eq(vmafx_configure(ctx, &f, &f), 0);
  const VmafxPicture ref = TestPicture::make(f, make_samples(f, 0, false));
  const VmafxPicture dist = TestPicture::make(f, make_samples(f, 0, true));
  ck_assert_int_eq(vmafx_submit(ctx, &ref, &dist), 0);
  VmafxFrameResult result;
  ck_assert_int_eq(vmafx_receive_wait(ctx, &result), 0);
  assert_contains(file_text(path), "psnr_y");
  ck_assert_int_eq(vmafx_receive_wait(ctx, &result), -EAGAIN);
  ck_assert_int_eq(vmafx_finish(ctx), 0);
  vmafx_close(&ctx);
  std::remove(path.c_str());
}
END_TEST

START_TEST(sessions_side_by_side_agree) {
  const Outcome want = run_stream(cpu_params());
  std::vector<Outcome> got(4);
  std::vector<std::thread> threads;
  for (Outcome& outcome : got) threads.emplace_back([&outcome] { outcome = run_stream(cpu_params()); });
  for (std::thread& thread : threads) thread.join();
  for (const Outcome& outcome : got) assert_same_frames(want, outcome);
}
END_TEST

START_TEST(gpu_is_refused_with_a_cause) {
  setenv("VMAFX_HIP_RUNTIME", "/nonexistent/libamdhip64.so", 1);
  Params params = cpu_params();
  params.backend = "hip";
  assert_contains(open_complaint(params, -ENOENT), "backend=hip cannot run: no HIP runtime library");
  params.backend = "auto";
  setenv("VMAFX_HIP_DELAY", "0", 1);
  const Outcome outcome = run_stream(params);
  ck_assert_int_eq(outcome.error, 0);
  assert_contains(outcome.log, "backend=auto runs on the CPU: no HIP runtime library");
  unsetenv("VMAFX_HIP_DELAY");
  unsetenv("VMAFX_HIP_RUNTIME");
}
END_TEST

/* Whether the engine has loaded the GPU runtime of the tests. */
bool runtime_is_loaded() {
  void* const library = dlopen(FAKE_RUNTIME, RTLD_NOW | RTLD_NOLOAD);
  if (library) dlclose(library);
  return library != nullptr;
}

/* A GPU may be busy for a minute: no wrong word waits for it. */
START_TEST(wrong_texts_are_told_before_a_gpu_is_opened) {
  using Change = void (*)(Params&);
  constexpr std::pair<const char*, Change> kWrong[] = {
      {"version: nosuch", [](Params& params) { params.model = "version=nosuch"; }},
      {"/nonexistent/model.json", [](Params& params) { params.model = "path=/nonexistent/model.json"; }},
      {"model 'version=", [](Params& params) { params.model = "version="; }},
      {"extractor nosuch", [](Params& params) { params.feature = "name=nosuch"; }},
      {"extractor psnr: ", [](Params& params) { params.feature = "name=psnr:bogus=1"; }},
      {"extractor psnr_hip: ", [](Params& params) { params.feature = "name=psnr_hip:bogus=1"; }},
      {"motion_fps_weight", [](Params& params) { params.feature = "name=motion:motion_fps_weight=bogus"; }},
      {"range=", [](Params& params) { params.range = "bogus"; }},
      {"window", [](Params& params) { params.window = "bogus"; }},
      {"pool=p5", [](Params& params) { params.pool = "p5", params.pooled_only = 1; }},
      {"warn_below", [](Params& params) { params.warn_below = "bogus"; }},
      {"fail_below", [](Params& params) { params.fail_below = "vmaf=bogus"; }},
      {"score_fmt", [](Params& params) { params.score_fmt = "bogus"; }},
      {"encode_names", [](Params& params) { params.encode_names = "a|b"; }},
      {"'a'", [](Params& params) { params.encodes = 2, params.encode_names = "a|a"; }},
      {"import=bogus", [](Params& params) { params.import = "bogus"; }},
      {"check=bogus", [](Params& params) { params.check = "bogus"; }},
      {"convert=bogus", [](Params& params) { params.convert = "bogus"; }},
      {"backend 'bogus'", [](Params& params) { params.backend = "bogus"; }},
      {"maps=' '", [](Params& params) { params.maps = " "; }},
      {"none of the metrics has maps",
       [](Params& params) { params.model = "", params.feature = "name=motion", params.maps = "/tmp"; }},
      {"log_path", [](Params& params) { params.log_path = params.openmetrics = "/nonexistent/file"; }},
  };
  setenv("VMAFX_HIP_RUNTIME", FAKE_RUNTIME, 1);
  for (const auto& [word, change] : kWrong) {
    Params params = cpu_params();
    params.backend = "hip";
    change(params);
    const Outcome outcome = run_stream(params);
    ck_assert_int_ne(outcome.error, 0);
    assert_contains(outcome.log, word);
    ck_assert_msg(!runtime_is_loaded(), "a GPU runtime was loaded before this was told: %s", outcome.log.c_str());
  }
  Params params = cpu_params();
  params.backend = "hip";
  run_stream(params);
  ck_assert(runtime_is_loaded());
  unsetenv("VMAFX_HIP_RUNTIME");
}
END_TEST

/* The mean of one key over frames first .. last. */
double mean_of(const Outcome& outcome, const std::string& key, int64_t first, int64_t last) {
  double sum = 0;
  for (int64_t frame = first; frame <= last; frame++) sum += outcome.frames[frame].at(key);
  return sum / static_cast<double>(last - first + 1);
}

/* Motion holds a frame's score back until the next frame is there, and the last one's until the end. */
START_TEST(windows_come_with_their_last_frame) {
  Params params = cpu_params(nullptr, "name=psnr");
  params.window = "0.2";
  const Outcome outcome = run_stream(params, {.frames = 13, .frame_rate = 25});
  ck_assert_msg(outcome.error == 0, "%s", outcome.log.c_str());
  ck_assert_int_eq(outcome.windows.size(), 3);
  for (int64_t i = 0; i < 3; i++) {
    const ReceivedWindow& window = outcome.windows[i];
    ck_assert(window.number == i && window.first == 5 * i && window.last == std::min<int64_t>(5 * i + 4, 12));
    ck_assert_double_eq_tol(window.time, 0.2 * static_cast<double>(i), 1e-12);
    for (const auto& [key, score] : window.scores)
      ck_assert_double_eq(score, mean_of(outcome, key, window.first, window.last));
    ck_assert(window.scores.contains("vmaf") && window.scores.contains("psnr_cr"));
  }
  for (const int threads : {1, 5}) {
    params.n_threads = threads;
    ck_assert(run_stream(params, {.frames = 13, .frame_rate = 25}).windows == outcome.windows);
  }
}
END_TEST

/* All is as it would be with them, but for what cannot be. */
START_TEST(scores_of_frames_can_be_forgotten) {
  const std::string path = temporary("pooled.ndjson");
  Params params = cpu_params(nullptr, "name=psnr");
  params.window = "7";
  params.n_subsample = 2;
  params.log_path = path.c_str();
  const StreamOptions stream = {.ref = format(32, 32, VMAFX_CHROMA_420, 8), .frames = 700, .frame_rate = 25};
  for (const char* pool : {"mean", "harmonic_mean"}) {
    params.pool = pool;
    params.pooled_only = params.summary = 0;
    const Outcome kept = run_stream(params, stream);
    ck_assert_msg(kept.error == 0, "%s", kept.log.c_str());
    std::string lines = file_text(path);
    params.pooled_only = params.summary = 1;
    const Outcome outcome = run_stream(params, stream);
    ck_assert_msg(outcome.error == 0, "%s", outcome.log.c_str());
    assert_same_frames(outcome, kept);
    ck_assert_int_eq(kept.windows.size(), 4);
    ck_assert(outcome.windows == kept.windows && outcome.features == kept.features);
    assert_contains(outcome.log, "vmaf: mean ");
    ck_assert(outcome.log.find("worst") == outcome.log.npos);
    std::string pooled = file_text(path);
    for (std::string* text : {&lines, &pooled}) {
      const size_t from = text->find("\"fps\""), to = text->find("\"pooled_metrics\"");
      ck_assert(from != text->npos && to != text->npos);
      text->erase(from, to - from);  // differs from run to run
    }
    const size_t statistics = lines.find("\"pooled_statistics\"");
    ck_assert(pooled.starts_with(lines.substr(0, statistics)));
    assert_contains(lines.substr(statistics), "\"windows\"");
    for (const char* key : {"pooled_statistics", "windows"}) ck_assert(pooled.find(key) == pooled.npos);
  }
  std::remove(path.c_str());
}
END_TEST

START_TEST(what_needs_all_frames_is_refused_where_they_are_forgotten) {
  const Params pooled_only = [] {
    Params params = cpu_params("", "name=psnr");
    params.pooled_only = 1;
    return params;
  }();
  ck_assert_int_eq(run_stream(pooled_only).error, 0);
  Params params = pooled_only;
  for (const char* pool : {"median", "stddev", "p5"}) {
    params.pool = pool;
    assert_contains(open_complaint(params, -EINVAL),
                    format_text("pooled_only=1 keeps no scores of frames, which pool=%s needs", pool));
  }
  params = pooled_only;
  params.range = "0-9";
  assert_contains(open_complaint(params, -EINVAL),
                  "pooled_only=1 keeps no scores of frames, which are needed to merge range=0-9");
  params = pooled_only;
  params.log_path = "/dev/null";
  for (const char* format : {"json", "xml", "csv", "sub"}) {
    params.log_fmt = format;
    assert_contains(open_complaint(params, -EINVAL), "use log_fmt=ndjson");
  }
  params = pooled_only;
  params.feature = "name=cvvdp:fps=25";
  assert_contains(open_complaint(params, -EINVAL), "of a stream is made of all of them");
}
END_TEST

START_TEST(windows_go_by_keyframes) {
  Params params = cpu_params("", "name=psnr");
  params.window = "keyframe";
  params.pool = "min";
  const Outcome outcome = run_stream(params, {.frames = 10, .key_distance = 4});
  ck_assert_int_eq(outcome.windows.size(), 3);
  ck_assert(outcome.windows[1].first == 4 && outcome.windows[1].last == 7 && outcome.windows[2].last == 9);
  double least = 1000;
  for (int frame = 4; frame < 8; frame++) least = std::min(least, outcome.frames[frame].at("psnr_y"));
  ck_assert_double_eq(outcome.windows[1].scores.at("psnr_y"), least);
}
END_TEST

START_TEST(windows_by_time_need_times) {
  Params params = cpu_params();
  params.window = "1";
  const Outcome outcome = run_stream(params);
  ck_assert_int_eq(outcome.error, -EINVAL);
  assert_contains(outcome.log, "window=1 goes by the times of frames, and frame 0 has none");
  const Outcome no_number = run_stream(params, {.frame_rate = std::numeric_limits<double>::quiet_NaN()});
  assert_contains(no_number.log, "window=1 goes by the times of frames, and frame 0 has none");
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

START_TEST(main_scores_of_features_are_pooled) {
  Params params = cpu_params("", "name=psnr_hvs|name=psnr|name=ssimulacra2");
  params.pool = "max";
  const Outcome outcome = run_stream(params);
  ck_assert_msg(outcome.error == 0, "%s", outcome.log.c_str());
  ck_assert_int_eq(outcome.features.size(), 3);
  for (const auto& [key, score] : outcome.features) {
    double most = -1000;
    for (const FrameScores& frame : outcome.frames) most = std::max(most, frame.at(key));
    ck_assert_double_eq(score, most);
  }
  ck_assert(outcome.features.contains("psnr_hvs") && outcome.features.contains("psnr_y") &&
            outcome.features.contains("ssimulacra2"));
  ck_assert(run_stream(cpu_params()).features.empty());
}
END_TEST

/* That of the reference, else of an encode, else what a metric takes in doubt; an option of a feature is before all. */
START_TEST(frame_rate_reaches_the_metrics) {
  const auto scores = [](const char* feature, double ref, double dist) {
    StreamOptions options;
    options.ref.fps = ref;
    options.dist.fps = dist;
    const Outcome outcome = run_stream(cpu_params("", feature), options);
    ck_assert_msg(outcome.error == 0, "%s", outcome.log.c_str());
    ck_assert(ref || dist ? outcome.log.find("frame rate") == std::string::npos
                          : outcome.log.find("do not say their frame rate") != std::string::npos);
    std::vector<double> of;
    for (const FrameScores& frame : outcome.frames)
      for (const auto& [key, score] : frame) of.push_back(score);
    std::ranges::sort(of);  // keys with the option are in another order
    return of;
  };
  const std::vector<double> slow = scores("name=xpsnr", 25, 0), fast = scores("name=xpsnr", 60, 0);
  ck_assert(slow != fast);
  ck_assert(scores("name=xpsnr", 0, 0) == slow);
  ck_assert(scores("name=xpsnr", 0, 60) == fast);
  ck_assert(scores("name=xpsnr", 60, 25) == fast);
  ck_assert(scores("name=xpsnr:fps=60", 25, 25) == fast);

  StreamOptions wrong;
  for (const double fps : {-1.0, std::nan(""), HUGE_VAL}) {
    wrong.dist.fps = fps;
    const Outcome outcome = run_stream(cpu_params(), wrong);
    ck_assert_int_eq(outcome.error, -EINVAL);
    assert_contains(outcome.log, "frames per second; 0 says that it is not known");
  }
}
END_TEST

/* Metrics that look back far have their pictures converted, and let go of them then. */
START_TEST(a_long_history_keeps_no_pictures) {
  const auto scores = [](int threads, int n_subsample) {
    StreamOptions options;
    options.frames = 40;
    options.ref.fps = options.dist.fps = 120;  // 30 pictures before each
    Params params = cpu_params("", "name=cvvdp");
    params.n_threads = threads;
    params.n_subsample = n_subsample;
    TestPicture::most_alive = 0;
    const Outcome outcome = run_stream(params, options);
    ck_assert_msg(outcome.error == 0, "%s", outcome.log.c_str());
    ck_assert_int_le(TestPicture::most_alive, 2 * (threads + threads / 4 + 2) + 2);
    ck_assert_int_eq(TestPicture::alive, 0);
    std::vector<double> of;
    for (const FrameScores& frame : outcome.frames)
      if (frame.contains("cvvdp")) of.push_back(frame.at("cvvdp"));
    return of;
  };
  const std::vector<double> all = scores(1, 1), some = scores(3, 2);
  ck_assert_int_eq(all.size(), 40);
  ck_assert_int_eq(some.size(), 20);
  for (size_t i = 0; i < some.size(); i++) ck_assert_double_eq(some[i], all[2 * i]);
  ck_assert(scores(4, 1) == all);
}
END_TEST

/* A stream's score is by the mean of its metric; so are those of windows, and what gates look at. */
START_TEST(metrics_have_their_own_mean) {
  Params params = cpu_params("", "name=cvvdp:fps=24");
  params.fail_below = "cvvdp_fps_24=9.99";
  const Outcome outcome = run_stream(params);
  ck_assert_int_eq(outcome.error, -ERANGE);
  double sum = 0;
  for (const FrameScores& frame : outcome.frames) sum += frame.at("cvvdp_fps_24");
  ck_assert_double_lt(outcome.features.at("cvvdp_fps_24"), sum / static_cast<double>(outcome.frames.size()) - 1e-4);
}
END_TEST

START_TEST(a_score_below_its_gate_is_an_error_with_scores) {
  const std::string path = temporary("gate.json");
  Params params = cpu_params(nullptr, "name=psnr");
  params.log_path = path.c_str();
  params.fail_below = "psnr_y=99|0";
  Outcome outcome = run_stream(params);
  ck_assert_int_eq(outcome.error, -ERANGE);
  assert_contains(outcome.log, "fail_below: psnr_y is ");
  ck_assert_int_eq(outcome.models.size(), 1);
  ck_assert_int_eq(outcome.frames.size(), 6);
  assert_contains(file_text(path), "\"pooled_metrics\"");
  std::filesystem::remove(path);
  params.log_path = nullptr;
  params.fail_below = "psnr_y=1";
  params.warn_below = "vmaf=100.5";
  outcome = run_stream(params);
  ck_assert_int_eq(outcome.error, 0);
  assert_contains(outcome.log, "warn_below: vmaf is ");
  params.fail_below = "ssim=1";
  outcome = run_stream(params);
  ck_assert_int_eq(outcome.error, -EINVAL);
  assert_contains(outcome.log, "fail_below: there is no score called ssim");
}
END_TEST

int main() {
  return run_suite("session", {
                                  {"order", every_frame_comes_once_in_order},
                                  {"no_threads", threads_that_cannot_start_are_no_reason_to_try_again},
                                  {"threads", threads_do_not_change_scores},
                                  {"bounds", frames_in_flight_are_bounded},
                                  {"subsample", subsampling_skips_frames_but_not_motion},
                                  {"layout", memory_layout_does_not_change_scores},
                                  {"gray", gray_is_scored_and_chroma_left_alone},
                                  {"no-chroma", chroma_may_have_no_samples},
                                  {"whole_chroma", chroma_of_odd_sizes_is_scored_where_it_is_whole},
                                  {"sharing", models_share_their_features},
                                  {"overloads", overloads_change_the_key},
                                  {"bootstrap", bootstrap_scores_are_reported},
                                  {"parameters", wrong_parameters_are_named},
                                  {"configure_again", what_failed_to_configure_is_not_configured_again},
                                  {"versions", what_this_version_does_not_know_is_refused},
                                  {"score_format", scores_are_formatted_as_reports_are},
                                  {"planes", planes_that_are_read},
                                  {"discovery", what_is_listed_opens},
                                  {"pool", unknown_pool_is_the_mean_with_a_warning},
                                  {"mismatch", inputs_must_match},
                                  {"check_formats", formats_can_be_checked_ahead},
                                  {"colors", colors_that_do_not_go_together_are_warned_of},
                                  {"unknown_kinds", formats_of_unknown_kinds_are_refused},
                                  {"platforms", platforms_of_unknown_kinds_are_refused},
                                  {"too_small", too_small_is_refused},
                                  {"no_frames", no_frames_is_an_error},
                                  {"one_frame", one_frame_is_enough},
                                  {"release", pictures_are_released_after_a_failure},
                                  {"summary", the_summary_names_the_worst_frames},
                                  {"times", times_of_pictures_are_in_reports},
                                  {"provenance", reports_say_where_scores_come_from},
                                  {"no_report", a_format_without_a_report_is_told},
                                  {"not_finite", scores_that_are_not_finite_are_told},
                                  {"nan", scores_that_are_no_numbers_are_told_by_key},
                                  {"own_features", features_do_not_change_a_models_score},
                                  {"failed_report", a_report_that_fails_does_not_hide_the_scores},
                                  {"partial", an_abandoned_stream_leaves_a_partial_report},
                                  {"ndjson", ndjson_grows_while_frames_finish},
                                  {"side_by_side", sessions_side_by_side_agree},
                                  {"windows", windows_come_with_their_last_frame},
                                  {"pooled_only", scores_of_frames_can_be_forgotten},
                                  {"all_frames", what_needs_all_frames_is_refused_where_they_are_forgotten},
                                  {"keyframes", windows_go_by_keyframes},
                                  {"no_times", windows_by_time_need_times},
                                  {"main_scores", main_scores_of_features_are_pooled},
                                  {"frame_rate", frame_rate_reaches_the_metrics},
                                  {"long_history", a_long_history_keeps_no_pictures},
                                  {"own_mean", metrics_have_their_own_mean},
                                  {"gates", a_score_below_its_gate_is_an_error_with_scores},
                                  {"gpu", gpu_is_refused_with_a_cause},
                                  {"texts_first", wrong_texts_are_told_before_a_gpu_is_opened},
                              });
}
