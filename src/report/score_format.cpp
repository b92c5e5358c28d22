#include "report/score_format.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/system/number_text.h"

namespace vmafx {
namespace {

/* Takes up to two digits off the front of `text`. */
void skip_number(std::string_view& text) {
  for (int i = 0; i < 2 && !text.empty() && text[0] >= '0' && text[0] <= '9'; i++) text.remove_prefix(1);
}

bool is_printf_format(std::string_view text) {
  if (!text.starts_with('%')) return false;
  text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of("+- #0"), text.size()));
  skip_number(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    skip_number(text);
  }
  return text.size() == 1 && std::string_view("aefgAEFG").find(text[0]) != text.npos;
}

/* How many decimal places in from the point the fraction's first digit stands: 1 for 0.5, 7 for 3e-7, 0 for none.
 * Repeated multiplication, roundings and all, since it decides between libvmaf's two formats. */
int first_decimal_place(double score) {
  const double magnitude = std::fabs(score);
  if (magnitude > std::numeric_limits<int>::max()) return 0;
  int place = 0;
  for (double fraction = magnitude - std::trunc(magnitude); fraction < 1.0 && fraction != 0; fraction *= 10) place++;
  return place;
}

}  // namespace

std::string score_text(double score) { return std::isfinite(score) ? fixed_text(score, 6) : format_text("%g", score); }

std::string fixed_text(double value, int decimals) {
  char text[400];  // 309 digits before the point of the largest double
  const auto [end, failure] = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals);
  return {text, end};
}

StatusOr<ScoreFormat> ScoreFormat::parse(const std::string& text, bool json) {
  ScoreFormat format;
  if (text.empty()) return format;
  if (!is_printf_format(text))
    return error(EINVAL, "score_fmt '%s' is no printf format of one number, like %%.6f or %%.17g", text.c_str());
  format.printf_format_ = text;
  if (!json) return format;
  std::vector<double> samples = {0.0, -1.0, 0.5, 100.25, 3e-9};
  for (int power = 0; power < 100; power++)
    samples.push_back(std::pow(10, power));  // at one of them %#.Ng ends in a point
  for (const double sample : samples)
    if (!nlohmann::json::accept(format.print(sample)))
      return error(EINVAL, "score_fmt '%s' prints '%s', which is no number in JSON", text.c_str(),
                   format.print(sample).c_str());
  return format;
}

ScoreFormat ScoreFormat::exact() {
  ScoreFormat format;
  format.printf_format_ = "%.17g";
  return format;
}

std::string ScoreFormat::print(double score) const {
  if (std::isnan(score)) return "nan";
  if (std::isinf(score)) return score > 0 ? "inf" : "-inf";
  if (printf_format_.empty()) return fixed_text(score, first_decimal_place(score) <= 6 ? 6 : 16);
  char text[512];  // 99 decimals after 309 digits fit
  const int length = system::print_number(text, sizeof text, printf_format_.c_str(), score);
  return {text, static_cast<size_t>(std::clamp(length, 0, static_cast<int>(sizeof text) - 1))};
}

}  // namespace vmafx
