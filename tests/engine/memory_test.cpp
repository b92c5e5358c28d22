/* Nothing is left behind: memory, descriptors and threads stay as they are over many frames and over many sessions of
 * one process. With VMAFX_TEST_ALL ten times as many frames, and far more sessions. Built with ON_EMULATOR the sessions
 * are on a GPU. */
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <thread>

#include "tests/support/check_main.h"
#include "tests/support/stream.h"
#ifdef ON_EMULATOR
#include "tests/support/paths.h"
#endif

using namespace vmafx::test;

namespace {

/* Sanitizers hold freed memory back on purpose: there only their own leak check counts. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
/* qemu's emulation of other processors keeps some 240 KiB of each thread that has ended. */
const bool kKeepsThreads = std::getenv("VMAFX_TEST_QEMU");
#ifdef ON_EMULATOR
constexpr const char* kBackend = "hip";
constexpr int kFewSessions = 16, kFewFrames = 120, kManyFrames = 20000;
#else
constexpr const char* kBackend = "cpu";
constexpr int kFewSessions = 200, kFewFrames = 12000, kManyFrames = 200000;
#endif
constexpr int kManySessions = 10000;
/* Buffers and the C library's pools have their sizes after so many frames, or after half of them all. */
constexpr int kMostSettled = 4000;
constexpr double kSlackMib = 2;
/* Each session looks at pictures on a thread of its own, whose buffers the C library keeps for later ones: once, and
 * not for each session, but not before the first few have ended. */
constexpr double kBuffersMib = 6;
constexpr double kLittleSlackMib = 1;  // where a table that is kept would take clearly more

/* NVIDIA's driver keeps 280 bytes for each thread that opens a device or loads code in it, and each session has one
 * (docs/reliability.md). */
double drivers_mib([[maybe_unused]] int sessions) {
#ifdef ON_EMULATOR
  if (!*std::getenv("VMAFX_HIP_RUNTIME")) return sessions * 300.0 / (1 << 20);
#endif
  return 0;
}

double resident_mib() {
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

long entries(const char* folder) { return std::distance(std::filesystem::directory_iterator(folder), {}); }

/* The resources that the process holds. */
struct Held {
  double mib;
  long descriptors, threads;

  static Held now() { return {resident_mib(), entries("/proc/self/fd"), entries("/proc/self/task")}; }
};

/* The emulator starts some for a launch, which end with it: no more than `most` of them are there soon. */
bool are_threads_few(long most) {
  for (int i = 0; i < 1000; i++) {
    if (entries("/proc/self/task") <= most) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/* Prints, and returns, what is held now. */
Held tell(const Held& before, const char* after_what) {
  const Held now = Held::now();
  std::printf("%s: %.1f MiB and %.1f more, %ld descriptors, %ld threads\n", after_what, before.mib,
              now.mib - before.mib, now.descriptors, now.threads);
  std::fflush(stdout);
  return now;
}

/* Holds no more than before, but for what the scores take. */
void assert_flat(const Held& before, double scores_mib, const char* after_what, double slack_mib = kSlackMib) {
  const Held now = tell(before, after_what);
  ck_assert_msg(kSanitized || now.mib - before.mib <= scores_mib + slack_mib,
                "%.1f MiB more after %s; %.1f are the scores'", now.mib - before.mib, after_what, scores_mib);
  ck_assert_int_eq(now.descriptors, before.descriptors);
  ck_assert_msg(are_threads_few(before.threads), "%ld threads, %ld before", now.threads, before.threads);
}

/* The score table keeps a double and a bit for each frame and score; nothing else may grow. */
double table_mib(int frames, size_t columns) { return frames * columns * (8 + 1.0 / 8) / (1 << 20); }

const VmafxFormat kFormat = {64, 48, VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};

class Stream {
 public:
  Stream(const Params& params) {
    ck_assert_int_eq(open_context(&ctx_, params), 0);
    ck_assert_int_eq(vmafx_configure(ctx_, &kFormat, &kFormat), 0);
  }
  ~Stream() { vmafx_close(&ctx_); }

  void add(int n) {
    VmafxPicture ref = TestPicture::make(kFormat, ref_[n % 2]), dist = TestPicture::make(kFormat, dist_[n % 2]);
    ref.has_time = dist.has_time = 1;
    ref.time = dist.time = n / 25.0;
    ck_assert_int_eq(vmafx_submit(ctx_, &ref, &dist), 0);
    receive();
  }

  void finish() {
    ck_assert_int_eq(vmafx_finish(ctx_), 0);
    receive();
  }

  size_t columns() const { return columns_; }

 private:
  void receive() {
    VmafxFrameResult result;
    while (vmafx_receive(ctx_, &result) == 0) columns_ = std::max(columns_, result.n_scores);
  }

  const Samples ref_[2] = {make_samples(kFormat, 0, false), make_samples(kFormat, 1, false)};
  const Samples dist_[2] = {make_samples(kFormat, 0, true), make_samples(kFormat, 1, true)};
  VmafxContext* ctx_ = nullptr;
  size_t columns_ = 0;
};

}  // namespace

/* Frames come as fast as they are taken, with all that is written as they finish; their scores are kept, or not. */
START_TEST(many_frames_leave_nothing_behind) {
  const bool pooled_only = _i;
  const int frames = kSanitized ? 500 : test_all() ? kManyFrames : kFewFrames;
  const int settled = std::min(frames / 2, kMostSettled);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("vmafx_memory_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string lines = folder / "report.ndjson", metrics = folder / "vmafx.prom";
  Params params = params_for(kBackend);
  params.log_path = lines.c_str();
  params.window = "10";
  params.openmetrics = metrics.c_str();
  params.pooled_only = pooled_only;
  {
    Stream stream(params);
    Held before{};
    for (int n = 0; n < frames; n++) {
      if (n == settled) before = Held::now();
      stream.add(n);
    }
    const std::string after = std::to_string(frames) + " frames" + (pooled_only ? ", pooled_only" : "");
    const double table = table_mib(frames - settled, stream.columns());
    if (!pooled_only) assert_flat(before, table, after.c_str());
    else assert_flat(before, 0, after.c_str(), table > 1.5 * kLittleSlackMib ? kLittleSlackMib : kSlackMib);
    stream.finish();
  }
  ck_assert_int_eq(TestPicture::alive, 0);
  std::filesystem::remove_all(folder);
}
END_TEST

/* On a GPU each opens the device, which takes the most of its time, or finds it open where another session stays. */
START_TEST(many_sessions_leave_nothing_behind) {
  std::optional<Stream> stays;
  if (_i) stays.emplace(params_for(kBackend)).add(0);
  const int sessions = test_all() ? kManySessions : kFewSessions / every_under_sanitizers(4), settled = sessions / 2;
  Held before{};
  for (int i = 0; i < sessions; i++) {
    if (i == settled) before = Held::now();
    if (i > settled && i % 1000 == 0) tell(before, (std::to_string(i) + " sessions").c_str());
    Stream stream(params_for(kBackend, "vmaf_v0.6.1", "psnr"));
    for (int n = 0; n < 3; n++) stream.add(n);
    stream.finish();
  }
  const double no_limit = std::numeric_limits<double>::infinity();
  assert_flat(before, 0, (std::to_string(sessions) + " sessions").c_str(),
              kKeepsThreads ? no_limit : kSlackMib + kBuffersMib + drivers_mib(sessions - settled));
  stays.reset();
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

int main() {
#ifdef ON_EMULATOR
  setenv("VMAFX_HIP_RUNTIME", HIP_EMULATOR, 0);
#endif
  return run_suite("memory", {{"frames", many_frames_leave_nothing_behind},
                              {"pooled_only", many_frames_leave_nothing_behind, 1},
#ifdef ON_EMULATOR
                              {"sessions_beside_another", many_sessions_leave_nothing_behind, 1},
#endif
                              {"sessions", many_sessions_leave_nothing_behind}});
}
