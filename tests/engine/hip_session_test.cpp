/* Sessions on the GPU, here the emulator: the same scores as on the CPU, whatever the device does. */
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/support/check_main.h"
#include "tests/support/device.h"
#include "tests/support/emulator.h"
#include "tests/support/stream.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

Outcome run_on(const char* backend, Params params, const StreamOptions& options) {
  params.backend = backend;
  return run_stream(params, options);
}

/* The CPU's scores, by both backends, and all of them on the GPU. */
void assert_same_scores(const Params& params, const StreamOptions& options) {
  const Outcome hip = run_on("hip", params, options), cpu = run_on("cpu", params, options);
  ck_assert_msg(hip.error == 0, "%s", hip.log.c_str());
  ck_assert_int_eq(cpu.error, 0);
  ck_assert_int_eq(hip.frames.size(), options.frames);
  for (size_t i = 0; i < hip.frames.size(); i++)
    ck_assert_msg(hip.frames[i] == cpu.frames[i], "%dx%d, frame %zu differs", options.ref.width, options.ref.height, i);
  ck_assert(hip.models == cpu.models);
  ck_assert_int_eq(TestPicture::alive, 0);
}

constexpr char kAllFeatures[] = "name=psnr:enable_apsnr=true|name=motion:motion_five_frame_window=true";

/* -- The case that is run again: a short stream, its scores to the last bit ---------------------------------------- */

/* Arguments: the backend, fallback, device_wait, features in place of the default model and psnr. */
int print_stream(char** arguments) {
  const bool names_features = arguments[2] && arguments[3];
  Params params = params_for(arguments[0], names_features ? "" : nullptr, names_features ? arguments[3] : "name=psnr");
  params.fallback = std::atoi(arguments[1]);
  params.device_wait = arguments[2] ? std::atoi(arguments[2]) : 0;
  StreamOptions options;
  options.ref.width = options.dist.width = 24;
  options.ref.height = options.dist.height = 20;
  options.frames = names_features ? 1 : 9;  // one: how many go into a launch is left to chance
  const Outcome outcome = run_stream(params, options);
  if (outcome.error) {
    std::printf("error %d: %s", -outcome.error, outcome.log.c_str());
    return 1;
  }
  for (size_t i = 0; i < outcome.frames.size(); i++)
    for (const auto& [key, value] : outcome.frames[i]) std::printf("%zu %s %a\n", i, key.c_str(), value);
  for (const double pooled : outcome.models) std::printf("pooled %a\n", pooled);
  return 0;
}

std::string cpu_scores() { return run_again("", "cpu 1").text; }

/* Whether the GPU opened, in which case the scores are the CPU's, whatever followed. */
bool scores_survive(const std::string& variables, const std::string& want) {
  const Rerun rerun = run_again(variables, "hip 1");
  if (!rerun.succeeded) assert_contains(rerun.text, "backend=hip cannot run: ");
  else ck_assert_msg(rerun.text == want, "%s: %s", variables.c_str(), rerun.last_words().c_str());
  return rerun.succeeded;
}

std::string fails(int k) {
  constexpr const char* kHow[] = {"launch", "memory", "lost"};
  return emulator("FAIL", std::to_string(k) + ":" + kHow[k % 3]);
}

/* Each call so far behind the last one is made to fail: no multiple of three, so that calls fail in each way. */
int every_call() { return every_if_not_all(7) * every_under_sanitizers(2); }

bool queues_work(const std::string& call) {
  return call.starts_with("hipMem") || call == "hipModuleLaunchKernel" || call == "hipEventRecord";
}

}  // namespace

START_TEST(scores_equal_the_cpus) {
  use_emulator();
  StreamOptions options;
  options.frames = 11;
  assert_same_scores(params_for("hip", nullptr, kAllFeatures), options);
  options.ref = {75, 43, VMAFX_CHROMA_422, 10, VMAFX_LAYOUT_SEMIPLANAR, 6, VMAFX_MEMORY_HOST};
  options.dist = {75, 43, VMAFX_CHROMA_422, 10, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};
  options.upside_down = true;
  assert_same_scores(params_for("hip", nullptr, kAllFeatures), options);
  options.ref.whole_chroma = options.dist.whole_chroma = 1;
  options.frames = 2;
  assert_same_scores(params_for("hip", "", "name=psnr|name=ciede|name=xpsnr|name=ssimulacra2"), options);
}
END_TEST

/* Two models that view the pictures from different distances, and share what they can: each has the scores that it has
 * alone, on both processors. */
START_TEST(models_that_share_are_those_of_each_alone) {
  use_emulator();
  StreamOptions options;
  options.ref = {360, 320, VMAFX_CHROMA_420, 10, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};
  options.dist = options.ref;
  options.frames = 3;
  constexpr const char* kModels[] = {"version=vmaf_v1.0.16_3d0h:name=a", "version=vmaf_v1.0.16_1d5h_2160:name=b",
                                     "version=vmaf_v1.0.16_3d0h_2160:name=c"};
  std::string together;
  std::vector<FrameScores> alone(static_cast<size_t>(options.frames));
  for (const char* model : kModels) {
    together += (together.empty() ? "" : "|") + std::string(model);
    const Outcome outcome = run_on("cpu", params_for("cpu", model, nullptr), options);
    ck_assert_msg(outcome.error == 0, "%s", outcome.log.c_str());
    for (size_t i = 0; i < outcome.frames.size(); i++)
      alone[i].insert(outcome.frames[i].begin(), outcome.frames[i].end());
  }
  for (const char* backend : {"cpu", "hip"}) {
    const Outcome outcome = run_on(backend, params_for(backend, together.c_str(), nullptr), options);
    ck_assert_msg(outcome.error == 0, "%s", outcome.log.c_str());
    ck_assert_msg(outcome.frames == alone, "%s: scores of models in one session differ from each alone", backend);
  }
}
END_TEST

START_TEST(frames_are_left_out_on_the_device_too) {
  use_emulator();
  StreamOptions options;
  options.frames = 23;
  Params params = params_for("hip", nullptr, "name=psnr");
  for (const int subsample : {2, 3, 10}) {
    params.n_subsample = subsample;
    assert_same_scores(params, options);
  }
}
END_TEST

START_TEST(one_frame_is_enough) {
  use_emulator();
  StreamOptions options;
  options.frames = 1;
  assert_same_scores(params_for("hip", nullptr, kAllFeatures), options);
}
END_TEST

/* On hardware, where it costs little, long enough to meet what happens seldom. */
START_TEST(a_stream_repeats) {
  StreamOptions options;
  options.frames = on_hardware() ? 2000 : 30;
  use_emulator();
  const Params params = params_for("hip", nullptr, kAllFeatures);
  const Outcome first = run_on("hip", params, options), second = run_on("hip", params, options);
  ck_assert_msg(first.error == 0 && second.error == 0, "%s%s", first.log.c_str(), second.log.c_str());
  ck_assert_int_eq(first.frames.size(), options.frames);
  ck_assert(first.frames == second.frames && first.models == second.models);
}
END_TEST

START_TEST(sessions_do_not_disturb_each_other) {
  use_emulator();
  constexpr int kSessions = 4;
  std::thread threads[kSessions];
  Outcome alone[kSessions], together[kSessions];
  const auto run = [](int i, Outcome& outcome) {
    StreamOptions options;
    options.ref.width = options.dist.width = 96 + 16 * i;
    options.frames = 10 + i;
    outcome = run_on("hip", params_for("hip", nullptr, kAllFeatures), options);
  };
  for (int i = 0; i < kSessions; i++) run(i, alone[i]);
  for (int i = 0; i < kSessions; i++) threads[i] = std::thread(run, i, std::ref(together[i]));
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kSessions; i++) {
    ck_assert_msg(together[i].error == 0, "%s", together[i].log.c_str());
    ck_assert(together[i].frames == alone[i].frames && together[i].models == alone[i].models);
  }
}
END_TEST

START_TEST(the_log_says_what_runs_where) {
  use_emulator();
  const Outcome outcome = run_stream(params_for("auto", nullptr, "name=psnr_hip"));
  ck_assert_int_eq(outcome.error, 0);
  assert_contains(outcome.log, "psnr on hip");
  assert_contains(outcome.log, "(0000:03:00.0, emulator)");
}
END_TEST

START_TEST(a_twin_of_the_gpu_needs_one) {
  const Outcome outcome = run_stream(params_for("cpu", nullptr, "name=psnr_hip"));
  ck_assert_int_eq(outcome.error, -EINVAL);
  assert_contains(outcome.log, "psnr_hip: it runs on a GPU, and this session has none; the metric is called psnr");
}
END_TEST

START_TEST(overloads_reach_the_gpus_twin) {
  use_emulator();
  const Outcome outcome = run_stream(
      params_for("hip", "version=vmaf_v0.6.1:vif.vif_enhn_gain_limit=1.5:adm.adm_enhn_gain_limit=1", nullptr));
  ck_assert_msg(outcome.error == 0, "%s", outcome.log.c_str());
  ck_assert(outcome.frames[0].contains("integer_vif_scale0_egl_1.5"));
  ck_assert(outcome.frames[0].contains("integer_adm2_egl_1"));
}
END_TEST

START_TEST(verification_finds_nothing) {
  use_emulator();
  Params params = params_for("hip", nullptr, kAllFeatures);
  params.verify = 4;
  const Outcome outcome = run_stream(params, {.frames = 9});
  ck_assert_int_eq(outcome.error, 0);
  assert_contains(outcome.log, "verify=4: the largest difference between GPU and CPU in 3 frames is 0");
}
END_TEST

START_TEST(a_device_without_memory_is_told) {
  const std::string little = emulator("MEMORY", "4096");
  const Rerun strict = run_again(little, "hip 1");
  ck_assert(!strict.succeeded);
  assert_contains(strict.text, "error 12: ");
  assert_contains(strict.text, "\nbackend=hip cannot run: ");
}
END_TEST

START_TEST(a_gpu_full_of_processes_is_left_alone) {
  char folder[] = "/tmp/vmafx_places_XXXXXX";
  ck_assert(mkdtemp(folder));
  const std::string one = std::string("VMAFX_DEVICE_PLACES=1 VMAFX_DEVICE_PLACE_DIR=") + folder;
  const std::vector<std::string> device = {"0000:03:00.0"};
  ck_assert(run_again(one, "hip 1").succeeded);
  auto other = take_device_place(folder, device, 1);
  const Rerun strict = run_again(one, "hip 1 1");
  ck_assert(!strict.succeeded);
  assert_contains(strict.text, "error 16: ");
  assert_contains(strict.text, "backend=hip cannot run: 0 = emulator");
  assert_contains(strict.text,
                  "other processes use it, as many as it has room for (1; VMAFX_DEVICE_PLACES changes that)");
  std::thread leaving([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    other.value().reset();
  });
  ck_assert(run_again(one, "hip 1 60").succeeded);
  leaving.join();
  std::filesystem::remove_all(folder);
}
END_TEST

START_TEST(a_bad_deadline_is_refused) {
  assert_contains(run_again("VMAFX_HIP_DEADLINE=soon", "hip 1").text,
                  "VMAFX_HIP_DEADLINE=soon is not a number of milliseconds; use 1 or more");
}
END_TEST

/* At the opening of a session, in mid-stream, at its end. */
START_TEST(each_call_may_fail) {
  const std::string want = cpu_scores();
  const int calls = count_calls("hip 1"), step = every_call();
  ck_assert_int_ge(calls, 100);
  int opened = 0;
  for (int k = 1; k <= calls; k += step) opened += scores_survive(fails(k), want);
  ck_assert_int_ge(opened, calls / 3 / step);
}
END_TEST

START_TEST(each_call_may_hang) {
  const std::string want = cpu_scores();
  const std::vector<std::string> calls = list_calls("hip 1");
  ck_assert_int_ge(std::ranges::count_if(calls, queues_work), 20);
  const int step = every_if_not_all(4) * every_under_sanitizers(2);
  int opened = 0;
  for (size_t k = 0; k < calls.size(); k += static_cast<size_t>(step))
    if (queues_work(calls[k]))
      opened += scores_survive(emulator("HANG", std::to_string(k + 1)) + " VMAFX_HIP_DEADLINE=300", want);
  ck_assert_int_ge(opened, 10 / step);
}
END_TEST

/* While the device is opened (the first launch is the self-test's) or frames are on their way: every fourth launch. */
START_TEST(calls_that_never_return_are_left_behind) {
  const std::string want = cpu_scores();
  for (const char* call : {"hipInit", "hipModuleLoadData", "hipModuleLaunchKernel:1"})
    ck_assert(!scores_survive(emulator("BLOCK", call) + " VMAFX_HIP_DEADLINE=100", want));
  std::vector<std::string> blocked;
  const auto launches = std::ranges::count(list_calls("hip 1"), "hipModuleLaunchKernel");
  for (int launch = 2; launch <= launches; launch += 4)
    blocked.push_back("hipModuleLaunchKernel:" + std::to_string(launch));
  ck_assert_int_ge(blocked.size(), 4);
  for (const std::string& call : blocked)
    ck_assert(scores_survive(emulator("BLOCK", call) + " VMAFX_HIP_DEADLINE=100", want));
  const Rerun strict = run_again(emulator("BLOCK", "hipModuleLaunchKernel") + " VMAFX_HIP_DEADLINE=100", "hip 0");
  ck_assert(!strict.succeeded);
  assert_contains(strict.text, "the GPU has not opened within 600 ms: a call of its runtime does not come back");
}
END_TEST

/* A second viewing distance costs no launch. */
START_TEST(distances_share_their_launches) {
  const auto launches = [](const std::string& features) {
    return std::ranges::count(list_calls("hip 0 0 '" + features + "'"), "hipModuleLaunchKernel");
  };
  const auto one = launches("name=adm");
  ck_assert_int_ge(one, 5);
  ck_assert_int_eq(launches("name=adm|name=adm:adm_norm_view_dist=5|name=adm:adm_norm_view_dist=4"), one);
  ck_assert_int_gt(launches("name=adm|name=adm:adm_enhn_gain_limit=1"), one);
}
END_TEST

/* Without a fallback: the right scores, if the failure did no harm, or an error. */
START_TEST(no_call_that_fails_goes_unnoticed) {
  const std::string want = cpu_scores();
  const int calls = count_calls("hip 0"), step = every_call();
  int errors = 0;
  for (int k = 1; k <= calls; k += step) {
    const Rerun rerun = run_again(fails(k), "hip 0");
    errors += !rerun.succeeded;
    if (rerun.succeeded) ck_assert_msg(rerun.text == want, "%s: %s", fails(k).c_str(), rerun.last_words().c_str());
    else assert_contains(rerun.text, "error ");
  }
  ck_assert_int_ge(errors, calls / 2 / step);
}
END_TEST

int main(int argc, char** argv) {
  if (argc > 1) return print_stream(argv + 1);
  const int failed =
      run_host_suite_on_device("session on a GPU", {{"equal", scores_equal_the_cpus},
                                                    {"shared", models_that_share_are_those_of_each_alone},
                                                    {"subsample", frames_are_left_out_on_the_device_too},
                                                    {"one_frame", one_frame_is_enough},
                                                    {"repeats", a_stream_repeats},
                                                    {"four", sessions_do_not_disturb_each_other},
                                                    {"verify", verification_finds_nothing},
                                                    {"overloads", overloads_reach_the_gpus_twin}});
  return failed | run_suite_on_emulator("session on a bad GPU", {{"where", the_log_says_what_runs_where},
                                                                 {"by_name", a_twin_of_the_gpu_needs_one},
                                                                 {"memory", a_device_without_memory_is_told},
                                                                 {"places", a_gpu_full_of_processes_is_left_alone},
                                                                 {"deadline", a_bad_deadline_is_refused},
                                                                 {"failures", each_call_may_fail},
                                                                 {"hangs", each_call_may_hang},
                                                                 {"blocks", calls_that_never_return_are_left_behind},
                                                                 {"distances", distances_share_their_launches},
                                                                 {"strict", no_call_that_fails_goes_unnoticed}});
}
