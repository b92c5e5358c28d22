/* Sessions with backend=auto, which begin on the CPU and go on on the GPU, here the emulator, once it is open: the same
 * scores, wherever that is, whatever becomes of the opening, and whenever the stream ends. */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "base/device_place.h"
#include "base/mutex.h"
#include "tests/support/check_main.h"
#include "tests/support/emulator.h"
#include "tests/support/encodes.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

/* Metrics that read up to two earlier pictures, of the reference or of both, and one that sees all frames and none
 * before. */
constexpr char kFeatures[] =
    "name=psnr:enable_apsnr=true|name=motion:motion_five_frame_window=true|name=float_motion|name=speed_temporal";

/* One that reads six as it converts them, and one that reads two of the reference. */
constexpr char kLookBack[] = "name=cvvdp:fps=24|name=motion:motion_five_frame_window=true";
constexpr VmafxFormat kSmall = {24, 20, VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};

/* Holds the opening back where it says that it begins, until it is let go. */
class Gate {
 public:
  void on_log(const std::string& line) {
    const MutexLock lock(mutex_);
    if (line == "the GPU is being opened")
      while (!opened_) changed_.wait(mutex_);
    if (line != "the GPU is open" && line != "the GPU does not open") return;
    ended_ = true;
    changed_.notify_all();
  }

  /* Lets the opening go on, and waits for its end. */
  void open() {
    const MutexLock lock(mutex_);
    opened_ = true;
    changed_.notify_all();
    while (!ended_) changed_.wait(mutex_);
  }

 private:
  Mutex mutex_;
  Condition changed_;
  bool opened_ VMAFX_GUARDED_BY(mutex_) = false, ended_ VMAFX_GUARDED_BY(mutex_) = false;
};

/* Has the GPU take over right before that picture of the reference. */
Encodes with_takeover(Encodes encodes, int frame, bool at_once = true) {
  if (at_once) setenv("VMAFX_HIP_DELAY", "0", 1);
  else unsetenv("VMAFX_HIP_DELAY");
  const auto gate = std::make_shared<Gate>();
  encodes.on_log = [gate](const std::string& line) { gate->on_log(line); };
  encodes.before = [gate, frame](int next) {
    if (next == frame) gate->open();
  };
  return encodes;
}

std::string takes_over(int frame) { return "the GPU takes over at frame " + std::to_string(frame) + ": "; }

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/* -- The cases that are run again ---------------------------------------------------------------------------------- */

constexpr char kFew[] = "name=psnr|name=motion";

/* Prints the log's lines about the choice, and the scores. */
int print(const Params& params, Encodes encodes) {
  std::string said;
  encodes.on_log = [&said, then = encodes.on_log](const std::string& line) {
    if (line.starts_with("backend=auto")) said += line + "\n";
    if (then) then(line);
  };
  const Result result = run(params, encodes, 0, 1);
  std::printf("%s", said.c_str());
  if (result.error) std::printf("error %d: %s", -result.error, result.log.c_str());
  for (size_t i = 0; i < result.frames[0].size(); i++)
    for (const auto& [key, score] : result.frames[0][i]) std::printf("%zu %s %a\n", i, key.c_str(), score);
  return result.error != 0;
}

Encodes short_stream(int frames) { return {.count = 1, .frames = frames}; }

/* A frame each 5 ms. A session that waits for an opening that does not come back takes a minute. */
int print_slowly(int frames) {
  const auto begin = std::chrono::steady_clock::now();
  Encodes encodes = short_stream(frames);
  encodes.before = [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  const int failed = print(params_for("auto", "", kFew), encodes);
  return failed || std::chrono::steady_clock::now() - begin > std::chrono::seconds(40);
}

/* Two sessions that end while the device is opened, and the program some time after, or with the second one. */
int end_early(int milliseconds, bool goes_on) {
  for (const int wait : {milliseconds / 3, milliseconds}) {
    Encodes encodes = short_stream(2);
    encodes.before = [wait](int frame) {
      if (frame) std::this_thread::sleep_for(std::chrono::milliseconds(wait));
    };
    if (run(params_for("auto", "", kFew), encodes, 0, 1).error) return 1;
  }
  if (goes_on) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  return 0;
}

/* The program ends with a session that nobody closes. */
int leave_open(int milliseconds) {
  const Params params = params_for("auto", "", kFew);
  VmafxContext* ctx = nullptr;
  const StreamOptions options;
  if (open_context(&ctx, params) || vmafx_configure(ctx, &options.ref, &options.dist)) return 1;
  const VmafxPicture ref = make_picture(options, 0, false), dist = make_picture(options, 0, true);
  if (vmafx_submit(ctx, &ref, &dist)) return 1;
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  std::exit(0);
}

/* The stream is known to be long. */
Params params_of_long_stream(const char* features) {
  Params params = params_for("auto", "", features);
  params.expected_frames = 10000000;
  return params;
}

int run_case(const std::string& name, int number) {
  if (name == "long") return print(params_of_long_stream(kFew), short_stream(number));
  if (name == "slowly") return print_slowly(number);
  if (name == "early" || name == "with") return end_early(number, name == "early");
  if (name == "left") return leave_open(number);
  if (name == "takeover") return print(params_for("auto", "", kFew), with_takeover(short_stream(9), number));
  return print(params_for("cpu", "", kFew), short_stream(number));
}

/* Has it that earlier sessions measured a GPU that is ten times as fast, and that its opening takes so many
 * milliseconds. */
void say_that_it_is_fast(const std::filesystem::path& costs, int opening) {
  std::istringstream before(text_of(costs));
  std::ofstream after(costs);
  for (std::string line; std::getline(before, line); after << line << "\n") {
    std::istringstream words(line);
    std::string kind, name, known, last;
    words >> kind >> name >> known >> last;
    if (kind == "plan") line = "plan " + name + " 1000000000 100000000 0";
    if (kind == "device") line = "device " + name + " " + std::to_string(opening) + "000000 " + last;
  }
}

std::string cpu_scores(int frames) { return run_again("", "cpu " + std::to_string(frames)).text; }

/* The log's one line, if any, and the CPU's scores. */
void assert_scores_survive(const std::string& variables, const std::string& arguments, const std::string& want) {
  const Rerun rerun = run_again(variables, arguments);
  const bool told = rerun.text.starts_with("backend=auto runs on the CPU: ");
  const std::string scores = told ? rerun.text.substr(rerun.text.find('\n') + 1) : rerun.text;
  ck_assert_msg(rerun.succeeded && scores == want, "%s: %s", variables.c_str(), rerun.last_words().c_str());
}

const std::string kAtOnce = "VMAFX_HIP_DELAY=0 ";

}  // namespace

START_TEST(scores_equal_the_cpus_wherever_the_gpu_takes_over) {
  for (const int frame : {1, 2, 3, 6, 10}) {
    const Result result =
        assert_as_alone(params_for("auto", "", kFeatures), with_takeover({.count = 1, .frames = 11}, frame));
    assert_contains(result.log, takes_over(frame) + "psnr on hip, ");
  }
}
END_TEST

/* It opens the GPU by itself for a stream that will be long. */
START_TEST(long_streams_open_the_gpu) {
  const Result result =
      assert_as_alone(params_of_long_stream(kFeatures), with_takeover({.count = 1, .frames = 12}, 9, false));
  assert_contains(result.log, takes_over(9) + "psnr on hip, ");
}
END_TEST

/* A CPU that is known to be much slower leaves all pairs to the GPU, for twice the time that opening takes. */
START_TEST(pairs_wait_for_a_gpu_that_is_known_to_be_fast) {
  char folder[] = "/tmp/vmafx_costs_XXXXXX";
  ck_assert(mkdtemp(folder));
  const std::string costs = std::string(folder) + "/costs.txt";
  setenv("VMAFX_COSTS", costs.c_str(), 1);
  setenv("VMAFX_DEVICE_PLACE_DIR", folder, 1);  // others that use the GPU would change the choice
  for (const bool is_known : {false, true}) {
    if (is_known) say_that_it_is_fast(costs, 20000);
    Params params = params_of_long_stream(kFew);
    const std::string path = std::string(folder) + (is_known ? "/known.json" : "/new.json");
    params.log_path = path.c_str();
    Encodes encodes = with_takeover({.count = 1, .frames = 8}, 2, false);
    encodes.before = [is_known, open = encodes.before](int frame) {
      if (frame == 2 && !is_known) std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the CPU scores them
      open(frame);
    };
    assert_contains(assert_as_alone(params, encodes).log, takes_over(2));
    const std::string text = text_of(path);
    const size_t at = text.find("\"uploaded\"");
    ck_assert_msg((text.find("\"uploaded\": 8") != text.npos) == is_known, "known: %d, %s", is_known,
                  text.substr(std::min(at, text.size()), 20).c_str());
  }
  setenv("VMAFX_COSTS", "", 1);
  const std::string variables = "VMAFX_COSTS=" + costs + " ";
  say_that_it_is_fast(costs, 20000);  // a program that ends before the GPU is open leaves what that has
  ck_assert(run_again(variables, "long 12").succeeded);
  say_that_it_is_fast(costs, 100);
  const Rerun rerun = run_again(variables + emulator("BLOCK", "hipInit"), "long 12");
  ck_assert_msg(rerun.succeeded, "%s", rerun.last_words().c_str());
  assert_text_eq(rerun.text,
                 "backend=auto ran on the CPU: the stream ended before the GPU was open\n" + cpu_scores(12));
  unsetenv("VMAFX_DEVICE_PLACE_DIR");
  std::filesystem::remove_all(folder);
}
END_TEST

START_TEST(models_do_not_notice) {
  const Result result = assert_as_alone(params_for("auto", nullptr), with_takeover({.count = 1, .frames = 5}, 2));
  assert_contains(result.log, takes_over(2));
}
END_TEST

START_TEST(frames_are_left_out_as_before) {
  for (const int frame : {1, 4, 5}) {
    Params params = params_for("auto", "", kFeatures);
    params.n_subsample = 3;
    assert_contains(assert_as_alone(params, with_takeover({.count = 1, .frames = 11}, frame)).log, takes_over(frame));
  }
}
END_TEST

START_TEST(each_encode_keeps_its_history) {
  for (const Schedule& schedule : {Schedule(every), Schedule(uneven)})
    for (const int frame : {1, 3, 4, 6}) {
      Params params = params_for("auto", "", kFeatures);
      params.n_subsample = 1 + frame % 2;
      const Encodes encodes = {.count = 5, .frames = 10, .has_pair = schedule};
      assert_contains(assert_as_alone(params, with_takeover(encodes, frame)).log, "the GPU takes over at frame ");
    }
}
END_TEST

START_TEST(metrics_may_look_back_far) {
  Params params = params_for("auto", "", kLookBack);
  params.verify_fail = 1;
  for (const int frame : {1, 4, 9}) {
    params.verify = frame == 4 ? 3 : 0;
    const Encodes one = {.count = 1, .frames = 12, .format = kSmall};
    assert_contains(assert_as_alone(params, with_takeover(one, frame)).log,
                    takes_over(frame) + "cvvdp_fps_24 on hip, ");
  }
  for (const int frame : {2, 8}) {
    params.n_subsample = 1 + frame % 3;
    const Encodes several = {.count = 5, .frames = 16, .has_pair = uneven, .format = kSmall};
    assert_contains(assert_as_alone(params, with_takeover(several, frame)).log, "the GPU takes over at frame ");
  }
}
END_TEST

START_TEST(the_gpu_is_verified_from_there_on) {
  Params params = params_for("auto", "", kFeatures);
  params.verify = 2;
  params.verify_fail = 1;
  const Result result = assert_as_alone(params, with_takeover({.count = 1, .frames = 9}, 4));
  assert_contains(result.log, "verify=2: the largest difference between GPU and CPU in 3 frames is 0");
}
END_TEST

/* An encode that ended before was the CPU's alone. */
START_TEST(reports_say_where_it_was) {
  const auto folder = std::filesystem::temp_directory_path() / ("vmafx_takeover_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const auto report_of = [&](const Encodes& encodes, const char* name, const char* read) {
    Params params = params_for("auto", "", "name=psnr");
    const std::string path = folder / name;
    params.log_path = path.c_str();
    assert_as_alone(params, with_takeover(encodes, 4));
    return text_of(folder / read);
  };
  const std::string of_cpu = "\"psnr\": \"cpu\"", of_gpu = "\"psnr\": \"hip\"";
  const std::string takeover = "\"takeover\": {\n      \"frame\": 4\n    }";
  const Encodes one = {.count = 1};
  const Encodes two = {.count = 2, .has_pair = [](int encode, int frame) { return encode == 1 || frame < 2; }};
  for (const std::string& text : {report_of(one, "one.json", "one.json"), report_of(two, "both.json", "both.json"),
                                  report_of(two, "of%d.json", "of1.json")}) {
    assert_contains(text, takeover);
    assert_contains(text, of_gpu);
  }
  const std::string of_first = text_of(folder / "of0.json");
  assert_contains(of_first, of_cpu);
  ck_assert(of_first.find("takeover") == of_first.npos);
  std::filesystem::remove_all(folder);
}
END_TEST

/* -- A GPU that fails, or comes too late --------------------------------------------------------------------------- */

/* While it is opened, and after it took over. */
START_TEST(each_call_may_fail) {
  const std::string want = cpu_scores(9);
  const int calls = count_calls("takeover 3");
  ck_assert_int_ge(calls, 100);
  const char* const how[] = {"launch", "memory", "lost"};
  for (int k = 1; k <= calls; k += every_if_not_all(10) * every_under_sanitizers(2))
    assert_scores_survive(emulator("FAIL", std::to_string(k) + ":" + how[k % 3]), "takeover 3", want);
}
END_TEST

START_TEST(each_launch_may_hang) {
  const std::string want = cpu_scores(9);
  const std::vector<std::string> calls = list_calls("takeover 3");
  for (size_t k = 0; k < calls.size(); k++)
    if (calls[k] == "hipModuleLaunchKernel" && k % every_under_sanitizers(3) == 0)
      assert_scores_survive(emulator("HANG", std::to_string(k + 1)) + " VMAFX_HIP_DEADLINE=300", "takeover 3", want);
}
END_TEST

START_TEST(why_it_is_the_cpu_is_told_once) {
  const std::string want = cpu_scores(9), line = "backend=auto runs on the CPU: ";
  const auto told = [&](const std::string& variables, const std::string& reason) {
    const Rerun rerun = run_again(variables, "takeover 2");
    ck_assert_msg(rerun.succeeded, "%s", rerun.last_words().c_str());
    ck_assert_msg(rerun.text.starts_with(line + reason) && rerun.text.ends_with("\n" + want), "%s",
                  rerun.last_words().c_str());
    ck_assert(rerun.text.find(line, 1) == rerun.text.npos);
  };
  told(emulator("DEVICES", "none"), "the emulator has no device");
  told(emulator("FAIL", "hipModuleLoadData"), "hipModuleLoadData failed");
  told(emulator("MEMORY", "40000"), "the frames take ");
}
END_TEST

/* Even the shortest stream that has the GPU opened learns that there is no runtime at all. */
START_TEST(a_missing_runtime_is_told_at_once) {
  for (const char* frames : {"1", "2"})
    assert_contains(
        run_again(kAtOnce + "VMAFX_HIP_RUNTIME=/nonexistent/libamdhip64.so", std::string("slowly ") + frames).text,
        "backend=auto runs on the CPU: no HIP runtime library: there is no /nonexistent/libamdhip64.so\n");
  assert_contains(run_again("VMAFX_HIP_DELAY=soon", "slowly 1").text,
                  "VMAFX_HIP_DELAY=soon is not a number of milliseconds; use 0 or more\n");
}
END_TEST

START_TEST(a_short_stream_leaves_the_gpu_alone) {
  assert_text_eq(
      run_again("VMAFX_HIP_RUNTIME=/nonexistent/libamdhip64.so", "slowly 3").text,
      "backend=auto ran on the CPU: the stream ended before opening a GPU would have paid\n" + cpu_scores(3));
}
END_TEST

START_TEST(an_opening_that_does_not_come_back_is_left_behind) {
  const std::string late = "the GPU has not opened within 600 ms: a call of its runtime does not come back\n";
  for (const char* call : {"hipInit", "hipModuleLoadData", "hipModuleLaunchKernel"}) {
    const std::string blocked = kAtOnce + emulator("BLOCK", call);
    const Rerun longer = run_again(blocked + " VMAFX_HIP_DEADLINE=100", "slowly 250");
    const Rerun shorter = run_again(blocked, "slowly 3");
    ck_assert_msg(longer.succeeded && shorter.succeeded, "%s%s", longer.last_words().c_str(),
                  shorter.last_words().c_str());
    assert_text_eq(longer.text, "backend=auto runs on the CPU: " + late + cpu_scores(250));
    assert_text_eq(shorter.text,
                   "backend=auto ran on the CPU: the stream ended before the GPU was open\n" + cpu_scores(3));
  }
}
END_TEST

/* The emulator ends a program that leaves something behind on the device, or meets a call after its end. Calls that the
 * end of the program cuts off may leave something, which a plan to hang allows. */
START_TEST(streams_and_programs_may_end_at_any_moment) {
  const std::string may_leak = kAtOnce + emulator("HANG", "1000000");
  for (int milliseconds = 0; milliseconds < 60; milliseconds += 2 * every_under_sanitizers(4))
    for (const char* how : {"early ", "with ", "left "}) {
      const Rerun rerun = run_again(*how == 'e' ? kAtOnce : may_leak, how + std::to_string(milliseconds));
      ck_assert_msg(rerun.succeeded, "%s%d: %s", how, milliseconds, rerun.last_words().c_str());
    }
}
END_TEST

/* That of a GPU that was open before the stream ended, and not taken. */
START_TEST(the_place_on_the_device_is_given_back) {
  char folder[] = "/tmp/vmafx_places_XXXXXX";
  ck_assert(mkdtemp(folder));
  setenv("VMAFX_DEVICE_PLACE_DIR", folder, 1);
  setenv("VMAFX_DEVICE_PLACES", "1", 1);
  const std::vector<std::string> device = {"0000:03:00.0"};
  int refusals = -1;
  Encodes encodes = with_takeover({.count = 1, .frames = 3, .has_pair = [](int, int frame) { return frame < 2; }}, 2);
  encodes.before = [&, open = encodes.before](int frame) {
    open(frame);
    if (frame == 2) refusals = !take_device_place(folder, device, 1).ok();
  };
  const Result result = assert_as_alone(params_for("auto", "", kFew), encodes);
  assert_contains(result.log, "the stream ended before the GPU was open");
  ck_assert_int_eq(refusals, 1);
  for (int i = 0; i < 1000 && !take_device_place(folder, device, 1).ok(); i++)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ck_assert(take_device_place(folder, device, 1).ok());
  unsetenv("VMAFX_DEVICE_PLACE_DIR");
  unsetenv("VMAFX_DEVICE_PLACES");
  std::filesystem::remove_all(folder);
}
END_TEST

int main(int argc, char** argv) {
  if (argc > 2) return run_case(argv[1], std::atoi(argv[2]));
  const int failed = run_host_suite_on_device("takeover", {{"equal", scores_equal_the_cpus_wherever_the_gpu_takes_over},
                                                           {"long", long_streams_open_the_gpu},
                                                           {"waits", pairs_wait_for_a_gpu_that_is_known_to_be_fast},
                                                           {"models", models_do_not_notice},
                                                           {"subsample", frames_are_left_out_as_before},
                                                           {"encodes", each_encode_keeps_its_history},
                                                           {"look_back", metrics_may_look_back_far},
                                                           {"verify", the_gpu_is_verified_from_there_on},
                                                           {"reports", reports_say_where_it_was}});
  return failed | run_suite_on_emulator("a GPU that fails or comes too late",
                                        {{"failures", each_call_may_fail},
                                         {"hangs", each_launch_may_hang},
                                         {"told", why_it_is_the_cpu_is_told_once},
                                         {"missing", a_missing_runtime_is_told_at_once},
                                         {"short", a_short_stream_leaves_the_gpu_alone},
                                         {"blocks", an_opening_that_does_not_come_back_is_left_behind},
                                         {"ends", streams_and_programs_may_end_at_any_moment},
                                         {"places", the_place_on_the_device_is_given_back}});
}
