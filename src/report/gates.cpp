#include "report/gates.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <string_view>

#include "report/score_format.h"

namespace vmafx {

StatusOr<Gates> Gates::parse(const char* option, const std::string& text) {
  Gates gates;
  gates.option_ = option;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('|', begin), text.size());
    const std::string_view part = std::string_view(text).substr(begin, end - begin);
    const size_t equals = part.rfind('=');
    const std::string_view number = equals == part.npos ? part : part.substr(equals + 1);
    Asked asked{std::string(part.substr(0, equals == part.npos ? 0 : equals)), 0};
    const auto [rest, failure] = std::from_chars(number.data(), number.data() + number.size(), asked.least);
    if (failure != std::errc() || rest != number.data() + number.size() || !std::isfinite(asked.least) || equals == 0)
      return error(EINVAL, "%s=%s: use a number, for all models, or KEY=NUMBER, with | between several", option,
                   text.c_str());
    gates.asked_.push_back(std::move(asked));
    begin = end + 1;
  }
  return gates;
}

Status Gates::resolve(std::span<const std::string> keys, std::span<const int> models) {
  for (const Asked& asked : asked_) {
    if (asked.key.empty()) {
      if (models.empty())
        return error(EINVAL, "%s=%g is for models, and there is none: write KEY=%g, with the key of a score in reports",
                     option_, asked.least, asked.least);
      for (const int column : models) gates_.push_back({column, keys[column], asked.least});
      continue;
    }
    const auto found = std::ranges::find(keys, asked.key);
    if (found == keys.end()) {
      std::string known;
      for (const std::string& key : keys) known += (known.empty() ? "" : ", ") + key;
      return error(EINVAL, "%s: there is no score called %s; there are: %s", option_, asked.key.c_str(), known.c_str());
    }
    gates_.push_back({static_cast<int>(found - keys.begin()), asked.key, asked.least});
  }
  return {};
}

std::string Gates::complaint(const PooledFrames& pooled) const {
  std::string text;
  for (const Gate& gate : gates_) {
    const auto score = pooled.scores[gate.column];
    if (!score || *score >= gate.least) continue;
    text += (text.empty() ? "" : "; ") + gate.key + " is " + score_text(*score) + ", below " +
            format_text("%g", gate.least);
  }
  return text;
}

}  // namespace vmafx
