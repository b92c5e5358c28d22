/* A session whose memory, threads or descriptors run out at any point ends with an error or the right scores: it never
 * hangs, never aborts, and gives every picture back. Built with ON_EMULATOR it is a session on a GPU, whose emulator
 * has all it wants. */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <new>

#include "tests/support/check_main.h"
#include "tests/support/stream.h"
#ifdef ON_EMULATOR
#include "tests/support/paths.h"
#endif

using namespace vmafx::test;

namespace {

constexpr int kNever = 0;
constexpr unsigned kHangSeconds = 60;  // SIGALRM then ends the program, and the test with it
#ifdef ON_EMULATOR
constexpr bool kOnEmulator = true;
constexpr int kPoints = 60;  // at which memory runs out, at least
#else
constexpr bool kOnEmulator = false;
constexpr int kPoints = 1500;
#endif

std::atomic<long> allocations_left = kNever;  // until memory runs out
std::atomic<bool> runs_out_for_good = false;  // not for one allocation only
std::atomic<int> threads_left = -1;           // -1: as many as the system has
thread_local int exempt = 0;                  // the test's own work

extern "C" const char __executable_start, etext;  // of this program, the library in it; the emulator is another object

bool is_ours(const void* caller) { return !kOnEmulator || (caller >= &__executable_start && caller < &etext); }

bool runs_out(const void* caller) {
  if (exempt || allocations_left == kNever || !is_ours(caller)) return false;
  if (--allocations_left > 0) return false;
  allocations_left = runs_out_for_good ? 1 : kNever;
  return true;
}

void* allocate(size_t bytes, size_t alignment, const void* caller) {
  if (runs_out(caller)) return nullptr;
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, sizeof(void*)), std::max<size_t>(bytes, 1)) != 0) return nullptr;
  return memory;
}

void* allocate_or_throw(size_t bytes, size_t alignment, const void* caller) {
  if (void* memory = allocate(bytes, alignment, caller)) return memory;
  throw std::bad_alloc();
}

}  // namespace

#define CALLER __builtin_return_address(0)
constexpr size_t kUsual = alignof(std::max_align_t);
void* operator new(size_t bytes) { return allocate_or_throw(bytes, kUsual, CALLER); }
void* operator new[](size_t bytes) { return allocate_or_throw(bytes, kUsual, CALLER); }
void* operator new(size_t bytes, std::align_val_t to) {
  return allocate_or_throw(bytes, static_cast<size_t>(to), CALLER);
}
void* operator new[](size_t bytes, std::align_val_t to) {
  return allocate_or_throw(bytes, static_cast<size_t>(to), CALLER);
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, kUsual, CALLER); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                             void* (*start)(void*), void* argument) {
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_left == 0) return EAGAIN;
  if (threads_left > 0) threads_left--;
  return create(thread, attributes, start, argument);
}

namespace {

constexpr VmafxFormat kFormat = {32, 32, VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_SEMIPLANAR, 0, VMAFX_MEMORY_HOST};
constexpr int kFrames = 4;

struct Result {
  int error = 0;      // the first
  int finished = -1;  // what vmafx_finish() said
  double score = -1;
  long allocations[2] = {};  // of vmafx_open(), and all
};

void ignore_log(void*, VmafxLogLevel, const char*) {}

/* The folder for reports, and for remains of those that failed. */
std::filesystem::path folder() {
  return std::filesystem::temp_directory_path() / ("vmafx_faults_" + std::to_string(getpid()));
}

/* One stream, every step of it, whatever became of those before. Memory runs out at allocation `k`. */
Result run(long k) {
  const std::string path = folder() / "report.json";
  std::filesystem::create_directory(folder());
  static const Samples ref_samples = make_samples(kFormat, 0, false), dist_samples = make_samples(kFormat, 0, true);
  Params params = cpu_params("vmaf_v0.6.1", "psnr");
  if (kOnEmulator) params.backend = "hip";
  params.n_threads = 2;
  params.log_path = path.c_str();
  params.log = ignore_log;
  Result result;
  const auto note = [&](int ret) {
    if (ret < 0 && ret != -EAGAIN && !result.error) result.error = ret;
    return ret;
  };
  constexpr long kPlenty = 1L << 40;
  const long given = k == kNever ? kPlenty : k;
  alarm(kHangSeconds);
  allocations_left = given;
  VmafxContext* ctx = nullptr;
  note(open_context(&ctx, params));
  result.allocations[0] = given - allocations_left;
  if (ctx) {
    note(vmafx_configure(ctx, &kFormat, &kFormat));
    VmafxFrameResult scores;
    for (int n = 0; n < kFrames; n++) {
      exempt++;
      const VmafxPicture ref = TestPicture::make(kFormat, ref_samples), dist = TestPicture::make(kFormat, dist_samples);
      exempt--;
      note(vmafx_submit(ctx, &ref, &dist));
      note(vmafx_receive(ctx, &scores));
    }
    VmafxPairing pairing{};
    pairing.paired = kFrames;
    note(vmafx_set_pairing(ctx, &pairing));
    result.finished = note(vmafx_finish(ctx));
    while (vmafx_receive(ctx, &scores) == 0) continue;
    if (note(vmafx_model_score(ctx, 0, nullptr, &result.score)) < 0) result.score = -1;
  }
  vmafx_close(&ctx);
  result.allocations[1] = given - allocations_left;
  allocations_left = kNever;
  alarm(0);
  return result;
}

/* A score is the right one or none; no error, only with a score. */
void check(const Result& result, const Result& right, long k) {
  std::filesystem::remove_all(folder());
  ck_assert_msg(TestPicture::alive == 0, "%d pictures are left with the fault at %ld", TestPicture::alive.load(), k);
  ck_assert_msg(result.score == -1 || result.score == right.score, "%f instead of %f with the fault at %ld",
                result.score, right.score, k);
  ck_assert_msg(result.error || result.score == right.score, "no error and no score with the fault at %ld", k);
}

/* The thread sanitizer sees little more at more points. */
int points_to_try() {
  if (test_all()) return std::numeric_limits<int>::max();
#ifdef __SANITIZE_THREAD__
  return kPoints / every_under_sanitizers(10);
#else
  return kPoints / every_under_sanitizers(2);
#endif
}

}  // namespace

/* _i: whether memory stays away after the first refusal. */
START_TEST(memory_runs_out_anywhere) {
  runs_out_for_good = _i;
  (void)run(kNever);  // what is made once for the process
  const Result right = run(kNever);
  ck_assert_int_eq(right.error, 0);
  const long after_open = right.allocations[1] - right.allocations[0];
  const long step_in_open = std::max(1L, right.allocations[0] * 2 / points_to_try());
  const long step_after = std::max(1L, after_open * 2 / points_to_try());
  int points = 0, errors = 0;
  for (long k = 1; k <= right.allocations[1]; k += k < right.allocations[0] ? step_in_open : step_after, points++) {
    const Result result = run(k);
    check(result, right, k);
    errors += result.error != 0;
  }
  std::printf("%d of %ld allocations failed%s, %d errors\n", points, right.allocations[1],
              runs_out_for_good ? " and all after them" : "", errors);
  ck_assert_int_ge(2 * points, std::min<long>(points_to_try(), right.allocations[1]));  // with this test's other half
  ck_assert_int_ge(errors, points / 4);  // on a GPU the CPU may take over
}
END_TEST

/* One allocation fails: the reference keeps the frames that it has, and goes on with the next. */
START_TEST(memory_for_a_reference_runs_out) {
  runs_out_for_good = false;
  static const Samples samples = make_samples(kFormat, 0, false);
  int failures = 0;
  for (long k = 1; failures == k - 1; k++) {
    VmafxKeptReference* reference = nullptr;
    allocations_left = k;
    const auto note = [&](int ret) {
      failures += ret != 0;
      ck_assert(ret == 0 || ret == -ENOMEM);
      return ret == 0;
    };
    while (!note(vmafx_kept_reference_open(&reference, &kFormat, nullptr))) ck_assert_ptr_null(reference);
    for (int64_t n = 0; n < kFrames;) {
      exempt++;
      const VmafxPicture picture = TestPicture::make(kFormat, samples);
      exempt--;
      n += note(vmafx_kept_reference_add(reference, &picture));
      ck_assert_int_eq(vmafx_kept_reference_frames(reference), n);
    }
    allocations_left = kNever;
    vmafx_kept_reference_close(&reference);
    ck_assert_int_eq(TestPicture::alive, 0);
  }
  ck_assert_int_ge(failures, 2 * kFrames);
}
END_TEST

START_TEST(threads_are_refused) {
  const Result right = run(kNever);
  for (int threads = 0; threads < 4; threads++) {
    threads_left = threads;
    const Result result = run(kNever);
    threads_left = -1;
    check(result, right, threads);
    if (!kOnEmulator || !threads) ck_assert_int_eq(result.error, threads ? 0 : -ENOMEM);
  }
}
END_TEST

START_TEST(descriptors_are_refused) {
  const Result right = run(kNever);
  rlimit usual;
  getrlimit(RLIMIT_NOFILE, &usual);
  int errors = 0;
  for (rlim_t n = 0; n < 16; n++) {
    const rlimit few = {n, usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    const Result result = run(kNever);
    setrlimit(RLIMIT_NOFILE, &usual);
    check(result, right, static_cast<long>(n));
    errors += result.error == -EMFILE;
  }
  ck_assert_int_ge(errors, 1);
}
END_TEST

int main() {
#ifdef ON_EMULATOR
  setenv("VMAFX_HIP_RUNTIME", HIP_EMULATOR, 0);
#endif
  return run_suite("faults", {{"memory", memory_runs_out_anywhere, 0},
                              {"no_memory", memory_runs_out_anywhere, 1},
                              {"reference", memory_for_a_reference_runs_out},
                              {"threads", threads_are_refused},
                              {"descriptors", descriptors_are_refused}});
}
