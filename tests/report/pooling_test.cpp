#include "report/pooling.h"

#include <check.h>

#include <cmath>
#include <limits>

#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

using Method = Pool::Method;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kTolerance = 1e-12;

double pooled(const char* method, const std::vector<double>& values) {
  const ParsedPool parsed = parse_pool(method);
  ck_assert(parsed.known);
  ScoreTable table({"a"});
  for (size_t i = 0; i < values.size(); i++) table.put(static_cast<int64_t>(i), 0, values[i]);
  return pool_scores(parsed.pool, pool_values(table, 0, 1));
}

}  // namespace

START_TEST(names) {
  ck_assert((parse_pool("").pool == Pool{Method::kMean}));
  ck_assert((parse_pool("mean").pool == Pool{Method::kMean}));
  ck_assert((parse_pool("min").pool == Pool{Method::kMin}));
  ck_assert((parse_pool("max").pool == Pool{Method::kMax}));
  ck_assert((parse_pool("harmonic_mean").pool == Pool{Method::kHarmonicMean}));
  ck_assert((parse_pool("median").pool == Pool{Method::kMedian}));
  ck_assert((parse_pool("stddev").pool == Pool{Method::kStddev}));
  ck_assert((parse_pool("p5").pool == Pool{Method::kPercentile, 5}));
  ck_assert((parse_pool("perc5").pool == Pool{Method::kPercentile, 5}));
  ck_assert((parse_pool("p99.9").pool == Pool{Method::kPercentile, 99.9}));
  ck_assert((parse_pool("p0").pool == Pool{Method::kPercentile, 0}));
  ck_assert((parse_pool("perc100").pool == Pool{Method::kPercentile, 100}));
}
END_TEST

START_TEST(unknown_names_are_mean) {
  for (const char* text :
       {"Mean", "MIN", "avg", "p", "perc", "p-1", "p100.1", "p5x", "pnan", "pinf", "p1e1", "p 5", "percp5"}) {
    const ParsedPool parsed = parse_pool(text);
    ck_assert_msg(!parsed.known && parsed.pool == Pool{Method::kMean}, "%s", text);
  }
}
END_TEST

START_TEST(formulas) {
  const std::vector<double> values = {3, 1, 4, 1, 5};
  ck_assert_double_eq(pooled("mean", values), 14. / 5);
  ck_assert_double_eq(pooled("min", values), 1);
  ck_assert_double_eq(pooled("max", values), 5);
  ck_assert_double_eq(pooled("harmonic_mean", values), 5 / (1. / 4 + 1. / 2 + 1. / 5 + 1. / 2 + 1. / 6) - 1);
  ck_assert_double_eq(pooled("median", values), 3);
  ck_assert_double_eq_tol(pooled("stddev", values), std::sqrt(2.56), kTolerance);
  ck_assert_double_eq(pooled("median", {1, 2, 4, 8}), 3);
}
END_TEST

/* The third of 0.1 three times is not 0.1, from which all three would deviate. Means are libvmaf's, to the last bit. */
START_TEST(equal_scores_do_not_deviate) {
  for (const double score : {0.1, 0.7, 60.0, 97.42803, 1e-320, 1e308, 0.0, -0.5})
    for (const size_t count : {1, 3, 7, 1000}) {
      const std::vector<double> values(count, score);
      for (const char* method : {"min", "max", "median", "p5", "p33.3", "p95"})
        ck_assert_msg(pooled(method, values) == score, "%s of %zu times %.17g", method, count, score);
      ck_assert_double_eq(pooled("stddev", values), 0);
    }
  ck_assert_double_eq(pooled("mean", {0.1, 0.1, 0.1}), (0.1 + 0.1 + 0.1) / 3);
  ck_assert_double_gt(pooled("stddev", {0.1, 0.1, std::nextafter(0.1, 1)}), 0);
}
END_TEST

START_TEST(percentiles_interpolate) {
  const std::vector<double> values = {50, 10, 40, 20, 30};
  ck_assert_double_eq(pooled("p0", values), 10);
  ck_assert_double_eq(pooled("p100", values), 50);
  ck_assert_double_eq(pooled("p25", values), 20);
  ck_assert_double_eq_tol(pooled("p5", values), 12, kTolerance);
  ck_assert_double_eq_tol(pooled("perc97.5", values), 49, kTolerance);
  for (const char* method : {"p0", "p33.3", "p100", "median"}) ck_assert_double_eq(pooled(method, {7}), 7);
}
END_TEST

START_TEST(nothing_pools_to_nan) {
  for (const char* method : {"mean", "min", "max", "harmonic_mean", "median", "stddev", "p5"})
    ck_assert(std::isnan(pooled(method, {})));
}
END_TEST

START_TEST(only_finite_scores_of_scored_frames_count) {
  ScoreTable table({"a", "b"});
  const double scores[] = {1, 99, 2, 99, kNan, 99, 3, 99, kInf};
  for (int frame = 0; frame < 9; frame++) table.put(frame, 0, scores[frame]);
  table.put(10, 1, 5);
  const PoolValues pooled = pool_values(table, 0, 2);
  ck_assert((pooled.values == std::vector<double>{1, 2, 3}));
  ck_assert_int_eq(pooled.sums.count, 3);
  ck_assert_int_eq(pooled.sums.not_finite, 2);
}
END_TEST

/* To the last bit what they pooled to, or to nothing. */
START_TEST(forgotten_scores_pool_by_their_sums) {
  ScoreTable kept({"a", "b"}), table({"a", "b"});
  for (ScoreTable* each : {&kept, &table}) {
    for (int frame = 0; frame < 1000; frame++) {
      const double score = frame % 2 ? 1e9 : frame % 14 ? 100 * std::sin(frame) : frame % 4 ? kInf : kNan;
      for (int column = 0; column < 2; column++) each->put(frame, column, score);
    }
    each->set_mean(1, [](std::span<const double> scores) { return scores[0]; });
  }
  table.forget_before(1000, 2);
  ck_assert_int_eq(table.kept_from(), 768);
  const auto of = [](const ScoreTable& from, const char* method, int column, FrameRange range = {}) {
    return pool_column(parse_pool(method).pool, pool_values(from, column, 2, range));
  };
  for (const char* method : {"mean", "min", "max", "harmonic_mean"}) {
    ck_assert_double_eq(*of(table, method, 0), *of(kept, method, 0));
    ck_assert_double_eq(*of(table, method, 0, {800, 900}), *of(kept, method, 0, {800, 900}));
  }
  for (const char* method : {"median", "stddev", "p5"}) {
    ck_assert(of(kept, method, 0) && !of(table, method, 0));
    ck_assert(std::isnan(pool_scores(parse_pool(method).pool, pool_values(table, 0, 2))));
    ck_assert_double_eq(*of(table, method, 0, {800, 900}), *of(kept, method, 0, {800, 900}));
  }
  ck_assert(of(kept, "mean", 1) && !of(table, "mean", 1) && *of(table, "min", 1) == *of(kept, "min", 1));
  ck_assert_int_eq(pool_values(table, 0, 2).sums.not_finite, pool_values(kept, 0, 2).sums.not_finite);
}
END_TEST

/* In the place of the arithmetic one, and of nothing else. */
START_TEST(columns_may_have_a_mean_of_their_own) {
  ScoreTable table({"a", "b"});
  for (int frame = 0; frame < 3; frame++)
    for (int column = 0; column < 2; column++) table.put(frame, column, frame * frame);
  table.set_mean(1, [](std::span<const double> scores) { return 100.0 + static_cast<double>(scores.size()); });
  const auto of = [&](const char* method, int column) {
    return *pool_column(parse_pool(method).pool, pool_values(table, column, 1));
  };
  ck_assert_double_eq(of("mean", 0), 5 / 3.);
  ck_assert_double_eq(of("mean", 1), 103);
  for (const char* method : {"min", "median", "stddev", "harmonic_mean", "p5"})
    ck_assert_double_eq(of(method, 0), of(method, 1));
  ScoreTable equal({"a"});
  for (int frame = 0; frame < 3; frame++) equal.put(frame, 0, 9.1);
  equal.set_mean(0, [](std::span<const double>) { return std::nextafter(9.1, 10); });
  ck_assert_double_eq(*pool_column(parse_pool("mean").pool, pool_values(equal, 0, 1)), 9.1);
}
END_TEST

/* Metrics that are infinite in all frames pool to what libvmaf writes. */
START_TEST(columns_without_a_finite_score_pool_to_what_they_are) {
  ScoreTable table({"infinite", "negative", "mixed", "none", "finite"});
  for (int frame = 0; frame < 3; frame++) {
    table.put(frame, 0, kInf);
    table.put(frame, 1, -kInf);
    table.put(frame, 2, frame == 1 ? kNan : kInf);
    table.put(frame, 4, frame ? kInf : 7);
  }
  const auto of = [&](const char* method, int column) {
    return pool_column(parse_pool(method).pool, pool_values(table, column, 1));
  };
  for (const char* method : {"min", "max", "mean", "harmonic_mean", "median", "p5"}) {
    ck_assert_double_eq(of(method, 0).value(), kInf);
    ck_assert_double_eq(of(method, 1).value(), -kInf);
    ck_assert(std::isnan(of(method, 2).value()));
    ck_assert(!of(method, 3));
    ck_assert_double_eq(of(method, 4).value(), 7);
  }
  ck_assert(std::isnan(of("stddev", 0).value()));
  ck_assert_double_eq(of("stddev", 4).value(), 0);
}
END_TEST

int main() {
  return vmafx::test::run_suite("pooling", {{"names", names},
                                            {"unknown", unknown_names_are_mean},
                                            {"formulas", formulas},
                                            {"equal", equal_scores_do_not_deviate},
                                            {"percentiles", percentiles_interpolate},
                                            {"empty", nothing_pools_to_nan},
                                            {"left_out", only_finite_scores_of_scored_frames_count},
                                            {"forgotten", forgotten_scores_pool_by_their_sums},
                                            {"own", columns_may_have_a_mean_of_their_own},
                                            {"infinite", columns_without_a_finite_score_pool_to_what_they_are}});
}
