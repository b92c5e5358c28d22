#include "bench/arguments.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "bench/die.h"
#include "vmafx/vmafx.h"

namespace bench {

std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> items;
  std::stringstream stream(list);
  for (std::string item; std::getline(stream, item, separator);) items.push_back(item);
  return items;
}

std::vector<std::string> models_of(const std::string& row) {
  std::vector<std::string> models = split(row, '+');
  const bool all_known = std::ranges::all_of(models, [](const std::string& name) {
    for (int i = 0; vmafx_builtin_model(i); i++)
      if (name == vmafx_builtin_model(i)) return true;
    return false;
  });
  return all_known ? models : std::vector<std::string>();
}

std::string model_option(const std::string& row) {
  std::string option;
  for (const std::string& model : models_of(row))
    option += (option.empty() ? "version=" : "|version=") + model + ":name=" + model;
  return option;
}

int whole_number(const std::string& text, int least, int most, const char* what) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || value < least || value > most)
    die(std::string(what) + " '" + text + "': use a whole number from " + std::to_string(least) + " to " +
        std::to_string(most));
  return static_cast<int>(value);
}

std::vector<int> whole_numbers(const std::string& list, int least, int most, const char* what) {
  std::vector<int> numbers;
  for (const std::string& item : split(list)) numbers.push_back(whole_number(item, least, most, what));
  return numbers;
}

Size size_of(const std::string& text) {
  const size_t cross = text.find('x');
  if (cross == std::string::npos) die("--size '" + text + "': use WIDTHxHEIGHT");
  return {whole_number(text.substr(0, cross), 16, 16384, "--size"),
          whole_number(text.substr(cross + 1), 16, 16384, "--size")};
}

}  // namespace bench
