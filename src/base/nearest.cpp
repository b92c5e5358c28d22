#include "base/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace vmafx {
namespace {

constexpr size_t kMostChanges = 2;
constexpr size_t kMostCharacters = 64;  // longer names are not guessed

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/* Levenshtein's distance: how many characters to change, insert or remove. */
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); j++) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(const std::string& given, std::span<const std::string> names) {
  if (given.size() < 2 || given.size() > kMostCharacters) return "";
  const std::string wanted = lower(given);
  for (const std::string& name : names)
    if (name == wanted) return name;
  std::string best;
  for (const std::string& name : names)
    if (name.ends_with('_' + wanted) && (best.empty() || name.size() < best.size())) best = name;
  if (!best.empty()) return best;
  size_t least = std::min(kMostChanges, wanted.size() / 2) + 1;
  for (const std::string& name : names) {
    const size_t changes = distance(wanted, name);
    if (changes < least) best = name, least = changes;
  }
  return best;
}

}  // namespace vmafx
