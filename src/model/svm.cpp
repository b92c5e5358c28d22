#include "model/svm.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string>

namespace vmafx {
namespace {

constexpr int kMaxVectors = 10000;  // libvmaf's models have up to 276

/* Takes the front of `text` up to `separator` off, and the separator with it. */
std::string_view take_until(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view front = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return front;
}

/* The next word of a line; "" at its end. */
std::string_view take_word(std::string_view& line) {
  std::string_view word;
  while (!line.empty() && word.empty()) word = take_until(line, ' ');
  return word;
}

/* All of `text` as a finite number, whatever the locale. */
std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string quoted(std::string_view text) { return "'" + std::string(text.substr(0, 40)) + "'"; }

/* The lines that libsvm writes before the vectors of a nu-SVR with a radial basis kernel. Other lines belong to other
 * kinds of machines. */
constexpr std::string_view kHeader[] = {
    "svm_type", "kernel_type", "gamma", "total_sv", "rho",
    "nr_class",  // 2 of every regression
    "probA",     // the spread of the errors in training (option -b), which no prediction uses
};

/* The lines before "SV": name -> value. Taken off the front of `text`, counted in `line_number`. */
StatusOr<std::map<std::string_view, std::string_view>> take_header(std::string_view& text, int& line_number) {
  std::map<std::string_view, std::string_view> header;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    line_number++;
    const std::string_view name = take_word(line);
    if (name == "SV") return header;
    if (name.empty()) continue;
    if (std::ranges::find(kHeader, name) == std::end(kHeader))
      return error(EINVAL, "line %d: %s is not known of a nu_svr with an rbf kernel, and scores may depend on it",
                   line_number, quoted(name).c_str());
    if (!header.emplace(name, take_word(line)).second)
      return error(EINVAL, "line %d: %s is given twice", line_number, quoted(name).c_str());
    if (const std::string_view more = take_word(line); !more.empty())
      return error(EINVAL, "line %d: %s has a second value, %s", line_number, quoted(name).c_str(),
                   quoted(more).c_str());
  }
  return error(EINVAL, "the line 'SV' is missing");
}

/* Appends one line of support vectors, "coefficient 1:value 3:value …", to `rows` as a dense row. */
Status append_vector(std::string_view line, int n_features, std::vector<double>& rows) {
  const auto coefficient = parse_number(take_word(line));
  if (!coefficient) return error(EINVAL, "the coefficient is not a number");
  rows.push_back(*coefficient);
  const size_t begin = rows.size();
  rows.resize(begin + n_features, 0.0);

  double previous = 0;
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    std::string_view value_text = word;
    const auto index = parse_number(take_until(value_text, ':'));
    const auto value = parse_number(value_text);
    if (!index || !value) return error(EINVAL, "%s is not index:value", quoted(word).c_str());
    if (*index != std::floor(*index) || *index <= previous || *index > n_features)
      return error(EINVAL, "%s: indices ascend from 1 to the number of features, which is %d", quoted(word).c_str(),
                   n_features);
    rows[begin + static_cast<size_t>(*index) - 1] = *value;
    previous = *index;
  }
  return {};
}

}  // namespace

StatusOr<Svm> Svm::parse(std::string_view text, int n_features) {
  int line_number = 0;
  VMAFX_ASSIGN(const auto header, take_header(text, line_number));
  const auto field = [&](const char* name) {
    const auto found = header.find(name);
    return found == header.end() ? std::string_view() : found->second;
  };
  if (field("svm_type") != "nu_svr")
    return error(EINVAL, "svm_type %s: only nu_svr is supported", quoted(field("svm_type")).c_str());
  if (field("kernel_type") != "rbf")
    return error(EINVAL, "kernel_type %s: only rbf is supported", quoted(field("kernel_type")).c_str());
  if (header.contains("nr_class") && field("nr_class") != "2")
    return error(EINVAL, "nr_class %s: it is 2 for a nu_svr", quoted(field("nr_class")).c_str());
  const auto gamma = parse_number(field("gamma")), rho = parse_number(field("rho")),
             total = parse_number(field("total_sv"));
  if (!gamma || !rho || !total) return error(EINVAL, "gamma, rho or total_sv is missing or not a number");
  if (*total < 1 || *total > kMaxVectors)
    return error(EINVAL, "total_sv %g: from 1 to %d are supported", *total, kMaxVectors);

  std::vector<double> rows;
  double count = 0;
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    line_number++;
    if (line.find_first_not_of(' ') == line.npos) continue;
    if (++count > *total) break;
    if (const Status status = append_vector(line, n_features, rows); !status.ok())
      return error(EINVAL, "line %d: %s", line_number, status.message().c_str());
  }
  if (count != *total) return error(EINVAL, "the number of support vectors is not total_sv, which is %g", *total);
  return Svm(n_features, *gamma, *rho, std::move(rows));
}

double Svm::differentiate(std::span<const double> x, std::span<double> slopes) const {
  std::ranges::fill(slopes, 0.0);
  double sum = 0;
  for (const double* row = rows_.data(); row != rows_.data() + rows_.size(); row += n_features_ + 1) {
    double distance = 0;
    for (int i = 0; i < n_features_; i++) distance += (x[i] - row[1 + i]) * (x[i] - row[1 + i]);
    const double value = row[0] * std::exp(-gamma_ * distance);
    sum += value;
    const double factor = -2 * gamma_ * value;
    for (int i = 0; i < n_features_; i++) slopes[i] += factor * (x[i] - row[1 + i]);
  }
  return sum - rho_;
}

double Svm::predict(std::span<const double> x) const {
  double sum = 0;
  for (const double* row = rows_.data(); row != rows_.data() + rows_.size(); row += n_features_ + 1) {
    double distance = 0;
    for (int i = 0; i < n_features_; i++) {
      const double difference = x[i] - row[1 + i];
      distance += difference * difference;
    }
    sum += row[0] * std::exp(-gamma_ * distance);
  }
  return sum - rho_;
}

}  // namespace vmafx
