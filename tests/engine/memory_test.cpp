/* Memory stays flat: frames come as fast as they are taken, twenty thousand of them. */
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <check.h>

#include "tests/support/check_main.h"
#include "tests/support/stream.h"

using namespace vmafx::test;

namespace {

/* Sanitizers hold freed memory back on purpose: there only their own leak check counts. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr int kFrames = kSanitized ? 500 : 20000, kSettled = kFrames / 5;

double resident_mib() {
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/* The score table keeps a double and a bit for each frame and score; nothing else may grow. */
double table_mib(int frames, size_t columns) { return frames * columns * (8 + 1.0 / 8) / (1 << 20); }

}  // namespace

START_TEST(twenty_thousand_frames_leave_nothing_behind) {
  const VmafxFormat f = {64, 48, VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};
  const Samples ref_samples[2] = {make_samples(f, 0, false), make_samples(f, 1, false)};
  const Samples dist_samples[2] = {make_samples(f, 0, true), make_samples(f, 1, true)};
  const VmafxParams params = cpu_params();
  VmafxContext* ctx = nullptr;
  ck_assert_int_eq(vmafx_open(&ctx, &params), 0);
  ck_assert_int_eq(vmafx_configure(ctx, &f, &f), 0);

  double settled = 0;
  size_t columns = 0;
  VmafxFrameResult result;
  for (int n = 0; n < kFrames; n++) {
    if (n == kSettled) settled = resident_mib();
    const VmafxPicture ref = TestPicture::make(f, ref_samples[n % 2]);
    const VmafxPicture dist = TestPicture::make(f, dist_samples[n % 2]);
    ck_assert_int_eq(vmafx_submit(ctx, &ref, &dist), 0);
    while (vmafx_receive(ctx, &result) == 0) columns = std::max(columns, result.n_scores);
  }
  ck_assert_int_eq(vmafx_finish(ctx), 0);
  const double growth = resident_mib() - settled, allowed = table_mib(kFrames - kSettled, columns) + 2;
  ck_assert_msg(kSanitized || growth <= allowed, "%.1f MiB more after %d frames than after %d; %.1f are the scores'",
                growth, kFrames, kSettled, allowed);
  vmafx_close(&ctx);
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

int main() { return run_suite("memory", {{"flat", twenty_thousand_frames_leave_nothing_behind}}); }
