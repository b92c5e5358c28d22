/* Windows of taps and scaled planes. */
#include "kernels/steps/prescale.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/steps/gaussian_window.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

constexpr PrescaleMethod kMethods[] = {PrescaleMethod::kNearest, PrescaleMethod::kBilinear, PrescaleMethod::kBicubic,
                                       PrescaleMethod::kLanczos4};

/* A scaled plane with guards behind each row. */
struct Floats {
  static constexpr float kGuard = 12345.0f;
  Floats(int w, int h) : w(w), h(h), values(static_cast<size_t>(w + 1) * h, kGuard) {}
  Plane<float> plane() { return {values.data(), static_cast<ptrdiff_t>((w + 1) * sizeof(float)), w, h}; }
  int w, h;
  std::vector<float> values;
};

template <class T>
void check_size(PrescaleMethod method, int w, int h, int to_w, int to_h, int bpc) {
  const Prescaler prescaler(method, w, h, to_w, to_h);
  TestPlane<T> in(w, h, w % 5, w % 3, w % 2);
  in.fill(Fill::kRandom, bpc, w + h);
  TestPlane<T> less(w, h, w % 3, w % 2, w % 5);
  less.fill(Fill::kRandom, bpc, w + h + 1);
  const TestScratch scratch(prescaler.scratch_bytes(), kRubbishNan);
  const PrescaleSource plain = {.plane = in.sample_plane(), .bpc = bpc, .offset = -128};
  for (const PrescaleSource& source : {plain, {.plane = plain.plane, .less = less.sample_plane(), .bpc = bpc}}) {
    Floats want(to_w, to_h);
    prescaler.plain(source, want.plane(), scratch.get());
    for_each_cpu_target([&](const std::string& target) {
      Floats got(to_w, to_h);
      prescaler.simd(source, got.plane(), scratch.get());
      ck_assert_msg(!std::memcmp(got.values.data(), want.values.data(), sizeof(float) * want.values.size()),
                    "%s: %dx%d to %dx%d, %d bit, method %d%s", target.c_str(), w, h, to_w, to_h, bpc,
                    static_cast<int>(method), source.less.data ? ", a difference" : "");
    });
  }
}

/* A row of samples scaled to `to`. */
std::vector<float> scaled(PrescaleMethod method, const std::vector<uint8_t>& row, int to) {
  const int w = static_cast<int>(row.size());
  const Prescaler prescaler(method, w, 1, to, 1);
  const TestScratch scratch(prescaler.scratch_bytes(), kRubbishNan);
  std::vector<float> out(to);
  prescaler.plain({.plane = {row.data(), w, w, 1}, .bpc = 8}, {out.data(), 0, to, 1}, scratch.get());
  return out;
}

void expect(const std::vector<float>& got, const std::vector<double>& want) {
  ck_assert_uint_eq(got.size(), want.size());
  for (size_t i = 0; i < want.size(); i++)
    ck_assert_msg(std::abs(got[i] - want[i]) < 1e-4, "%zu: %.9g instead of %.9g", i, got[i], want[i]);
}

}  // namespace

START_TEST(windows) {
  const int sizes[] = {17, 9, 5, 3};
  for (int scale = 0; scale < 4; scale++) ck_assert_int_eq(vif_window_size(scale, 1.0), sizes[scale]);
  ck_assert_int_eq(vif_window_size(0, 360 / 97.0), 65);
  ck_assert_int_eq(vif_window_size(1, 2 / 3.0), 7);
  ck_assert_int_eq(vif_window_size(3, 0.5), 3);
  for (const double valid : {1.0, 0.5, 0.6667, 2.4, 3.711, 1.25, 3.0, 0.444}) ck_assert(is_vif_kernelscale(valid));
  for (const double other : {0.1, 0.9, 1.002, 2.5, 4.0}) ck_assert(!is_vif_kernelscale(other));

  /* exp(-k^2 / 2 / 0.6^2), over its sum. */
  const GaussianWindow three = vif_window(3, 1.0);
  ck_assert_int_eq(three.half, 1);
  const double side = std::exp(-0.5 / 0.36);
  ck_assert_double_eq_tol(three.taps[0], 1 / (1 + 2 * side), 1e-7);
  ck_assert_double_eq_tol(three.taps[1], side / (1 + 2 * side), 1e-7);
  for (int scale = 0; scale < 4; scale++) {
    const GaussianWindow window = vif_window(scale, 360 / 97.0);
    double sum = window.taps[0];
    for (int k = 1; k <= window.half; k++) sum += 2 * window.taps[k];
    ck_assert_double_eq_tol(sum, 1, 1e-6);
  }
}
END_TEST

START_TEST(hand_computed) {
  expect(scaled(PrescaleMethod::kNearest, {10, 20, 30, 40, 50}, 2), {10, 30});
  expect(scaled(PrescaleMethod::kNearest, {10, 20}, 5), {10, 10, 10, 20, 20});
  expect(scaled(PrescaleMethod::kBilinear, {10, 20, 40, 60}, 2), {15, 50});
  /* The first sample lies at -1/4: its d is taken from the reflected x0, 1: -5/4. At the other end x0 + 1 reflects. */
  expect(scaled(PrescaleMethod::kBilinear, {10, 20}, 4), {20 * 2.25 - 10 * 1.25, 12.5, 17.5, 17.5});
  /* At d = 1/2: -3/32, 19/32, 19/32, -3/32. */
  expect(scaled(PrescaleMethod::kBicubic, {10, 20, 40, 60}, 2),
         {(19 * 30 - 3 * 60) / 32.0, (19 * 100 - 3 * 60) / 32.0});
  for (const PrescaleMethod method : kMethods) expect(scaled(method, {77, 77, 77}, 7), std::vector<double>(7, 77));
}
END_TEST

START_TEST(lanczos_weights) {
  for (const double d : {0.0, 1e-7, 0.125, 0.5, 0.8125, 0.9999999})
    for (int i = -4; i <= 4; i++) {
      const double t = i - d, pi = 3.14159265358979323846;
      const double want = t == 0 ? 1 : t <= -4 ? 0 : 4 * std::sin(pi * t) * std::sin(pi * t / 4) / (pi * pi * t * t);
      ck_assert_double_eq_tol(prescale::lanczos4(i, t), want, 1e-8);
    }
}
END_TEST

START_TEST(simd_equals_plain) {
  for (const PrescaleMethod method : kMethods)
    for (const int bpc : {8, 10, 16})
      with_sample_type(bpc, [&]<class T>(T) {
        for (int w = 1; w <= 40; w++) check_size<T>(method, w, 1 + w % 7, prescaled_size(w, 1.5), 3, bpc);
        for (int to_w = 1; to_w <= 40; to_w++) check_size<T>(method, 33, 9, to_w, 5, bpc);
      });
}
END_TEST

START_TEST(names) {
  ck_assert(prescale_method("foo", "bicubic").value() == PrescaleMethod::kBicubic);
  const auto wrong = prescale_method("foo", "linear");
  ck_assert_int_eq(wrong.status().code(), EINVAL);
  assert_contains(wrong.status().message(), "lanczos4");
  ck_assert_int_eq(prescaled_size(5, 0.5), 3);
}
END_TEST

int main() {
  return run_suite("prescale", {{"windows", windows},
                                {"hand_computed", hand_computed},
                                {"lanczos", lanczos_weights},
                                {"simd_equals_plain", simd_equals_plain},
                                {"names", names}});
}
