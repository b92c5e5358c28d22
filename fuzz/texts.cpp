/* The short texts among options: ranges, windows, pools, gates and printf formats. All of them are tried on each
 * input. */
#include <charconv>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "engine/range/range.h"
#include "fuzz/target.h"
#include "report/gates.h"
#include "report/pool_windows.h"
#include "report/pooling.h"
#include "report/score_format.h"

using namespace vmafx;
using namespace vmafx::fuzz;

namespace {

std::string end_of(const Range& range, const std::string& end) {
  if (end == "null") return "";
  if (range.by_time()) return end + "s";
  return end;
}

/* Written again with the ends it was understood to have; the last pair of a range is in it, its last time is not. */
void parse_range(const std::string& text) {
  const auto parsed = Range::parse(text);
  if (!parsed.ok()) return require_reason(parsed.status());
  const Range& range = parsed.value();
  if (!range.is_given() || (range.from() == "null" && range.to() == "null")) return;
  std::string to = end_of(range, range.to());
  if (!range.by_time() && !to.empty()) to = std::to_string(std::stoll(to) - 1);
  const auto again = Range::parse(end_of(range, range.from()) + "-" + to);
  REQUIRE(again.ok(), "%s: %s", text.c_str(), again.status().message().c_str());
  REQUIRE(again.value().from() == range.from() && again.value().to() == range.to(), "%s became %s to %s", text.c_str(),
          again.value().from().c_str(), again.value().to().c_str());

  Place last = Place::kBefore;
  for (const double at : {-1e300, -1., 0., 0.0004, 1., 12.5, 99., 100., 1e9, 2147483646., 1e300}) {
    const auto place = range.place(static_cast<int64_t>(std::clamp(at, -1., 1e10)), at);
    REQUIRE(place.ok() && place.value() >= last, "%s: %g comes before what is smaller", text.c_str(), at);
    last = place.value();
  }
  for (const double at : {std::nan(""), std::numeric_limits<double>::infinity()}) (void)range.place(0, at);
  REQUIRE(range.place(0, std::nullopt).ok() != range.by_time(), "%s", text.c_str());
}

/* Windows follow one another without gaps. */
void parse_windows(const std::string& text) {
  const auto rule = parse_window(text);
  if (!rule.ok()) return require_reason(rule.status());
  if (!rule.value().any()) return;
  PoolWindows windows(rule.value());
  for (const double time : {0., 0.04, 0.5, 0.3, -7., 3., 1e6, 1e300})
    REQUIRE(windows.add(time, time < 1).ok(), "%g", time);
  windows.end();
  int64_t end = 0;
  for (size_t i = 0; i < windows.known(); i++) {
    REQUIRE(windows.frames(i).first == end && windows.frames(i).end > end, "window %zu", i);
    end = windows.frames(i).end;
  }
  REQUIRE(end == 8, "frames in windows: %lld", static_cast<long long>(end));
}

void parse_pools(const std::string& text) {
  const ParsedPool pool = parse_pool(text);
  ScoreTable table({"score"});
  const double values[] = {3, 1, 2, 100, -4};
  for (int64_t i = 0; i < 5; i++) table.put(i, 0, values[i]);
  const double pooled = pool_scores(pool.pool, pool_values(table, 0, 1));
  const bool within = pooled >= -4 && pooled <= 100;
  REQUIRE(within || pool.pool.method == Pool::Method::kHarmonicMean, "%s pools to %g", text.c_str(), pooled);
}

void parse_gates(const std::string& text) {
  auto gates = Gates::parse("fail_below", text);
  if (!gates.ok()) return require_reason(gates.status());
  const std::string keys[] = {"vmaf", "psnr_y"};
  const int models[] = {0};
  if (const Status status = gates.value().resolve(keys, models); !status.ok()) return require_reason(status);
  PooledFrames pooled;
  pooled.scores = {std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  REQUIRE(gates.value().complaint(pooled).empty(), "%s", text.c_str());
  pooled.scores = {-std::numeric_limits<double>::max(), std::nullopt};
  (void)gates.value().complaint(pooled);
}

/* Scores are printed as numbers that come back, and in JSON as JSON writes numbers. */
void parse_score_format(const std::string& text, bool json) {
  const auto format = ScoreFormat::parse(text, json);
  if (!format.ok()) return require_reason(format.status());
  for (const double score : {0.,      -0.,      1.,  -1.,  9.5,  10.,   99.9999999, 100., 1234.5, 100000.,
                             123456., 999999.5, 1e6, 1e15, 1e16, 1e100, -1e300,     1e-5, 5e-324, 1e308}) {
    const std::string printed = format.value().print(score);
    REQUIRE(printed.size() < 512, "%s prints %zu bytes", text.c_str(), printed.size());
    if (json) REQUIRE(nlohmann::json::accept(printed), "%s prints '%s'", text.c_str(), printed.c_str());
  }
  for (const double score : {std::nan(""), std::numeric_limits<double>::infinity()})
    REQUIRE(!format.value().print(score).empty(), "%s", text.c_str());
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  parse_range(text);
  parse_windows(text);
  parse_pools(text);
  parse_gates(text);
  parse_score_format(text, false);
  parse_score_format(text, true);
  return 0;
}
