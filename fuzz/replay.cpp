/* main() of a target without libFuzzer: runs each of the inputs, then so many inputs that are made from them, the same
 * ones each time.
 *
 *     fuzz/specs [--mutations N] [--seconds N] FILE|FOLDER…
 *
 * Prints `N inputs, N mutations`. An input that ends the program, or takes longer than so many seconds (10), is left in
 * `./finding-TARGET`. */
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "fuzz/target.h"

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

constexpr size_t kLongest = 1 << 16;

/* Keeps the present input in a file, so that it is found when the program ends in the middle of it. */
class Finding {
 public:
  explicit Finding(const char* program) : path_("finding-" + fs::path(program).filename().string()) {}
  ~Finding() { fs::remove(path_); }

  void keep(const Bytes& input) const {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(input.data()), static_cast<long>(input.size()));
  }

 private:
  std::string path_;
};

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

Bytes read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/* Changes a few places: bytes, numbers, pieces that are repeated, left out or taken from another input. */
class Mutator {
 public:
  Bytes operator()(const std::vector<Bytes>& inputs) {
    Bytes input = inputs[below(inputs.size())];
    for (size_t i = 0; i <= below(5); i++) change(input, inputs[below(inputs.size())]);
    input.resize(std::min(input.size(), kLongest));
    return input;
  }

 private:
  size_t below(size_t end) { return end ? random_() % end : 0; }

  Bytes piece(const Bytes& of) {
    const size_t at = below(of.size()), size = std::min(of.size() - at, 1 + below(below(4) ? 12 : 200));
    return {of.begin() + static_cast<ptrdiff_t>(at), of.begin() + static_cast<ptrdiff_t>(at + size)};
  }
  void insert(Bytes& input, const Bytes& what) {
    input.insert(input.begin() + static_cast<ptrdiff_t>(below(input.size() + 1)), what.begin(), what.end());
  }
  void insert(Bytes& input, const char* what) { insert(input, Bytes(what, what + std::strlen(what))); }

  void change(Bytes& input, const Bytes& other) {
    static constexpr const char* kWords[] = {
        "0",      "-1",   "1e999",   "nan", "inf", "2147483648", "18446744073709551616",
        "1e-320", "null", "true",    "\"",  "\\",  "{",          "[",
        "]",      "}",    ":",       "=",   "|",   "\n",         "%",
        "'",      "\xff", "\xc3\xa4"};
    const size_t at = below(input.size());
    switch (below(8)) {
      case 0: return insert(input, kWords[below(std::size(kWords))]);
      case 1: return insert(input, piece(other));
      case 2: return insert(input, piece(input));
      case 3: return insert(input, Bytes(1, static_cast<uint8_t>(below(256))));
      default: break;
    }
    if (input.empty()) return;
    switch (below(4)) {
      case 0: input[at] = static_cast<uint8_t>(below(256)); break;
      case 1: input[at] ^= static_cast<uint8_t>(1u << below(8)); break;
      case 2: input[at] = static_cast<uint8_t>(input[at] + below(3) - 1); break;
      default:
        input.erase(input.begin() + static_cast<ptrdiff_t>(at),
                    input.begin() + static_cast<ptrdiff_t>(std::min(input.size(), at + 1 + below(20))));
    }
  }

  std::mt19937_64 random_;  // the same ones each time
};

void too_slow(int) {
  constexpr char kWords[] = "an input took too long\n";
  (void)!write(STDERR_FILENO, kWords, sizeof kWords - 1);
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  size_t mutations = 0;
  unsigned seconds = 10;
  std::vector<Bytes> inputs;
  const Finding finding(argv[0]);
  std::signal(SIGALRM, too_slow);
  const auto run = [&](const Bytes& input) {
    alarm(seconds);
    LLVMFuzzerTestOneInput(input.data(), input.size());
    alarm(0);
  };
  for (int i = 1; i < argc; i++) {
    if (std::string(argv[i]) == "--mutations" && i + 1 < argc) mutations = std::strtoull(argv[++i], nullptr, 10);
    else if (std::string(argv[i]) == "--seconds" && i + 1 < argc) seconds = static_cast<unsigned>(std::atoi(argv[++i]));
    else
      for (const fs::path& file : files_of(argv[i])) {
        std::fprintf(stderr, "%s\n", file.c_str());
        inputs.push_back(read(file));
        finding.keep(inputs.back());
        run(inputs.back());
      }
  }
  Mutator mutate;
  for (size_t i = 0; i < mutations && !inputs.empty(); i++) {
    const Bytes input = mutate(inputs);
    finding.keep(input);
    run(input);
  }
  std::printf("%zu inputs, %zu mutations\n", inputs.size(), mutations);
}
