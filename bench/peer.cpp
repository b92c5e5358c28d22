#include "bench/peer.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <nlohmann/json.hpp>

#include "bench/arguments.h"

namespace bench {
namespace {

double milliseconds(const timeval& t) { return t.tv_sec * 1e3 + t.tv_usec * 1e-3; }

std::string temporary_folder() {
  const char* base = std::getenv("TMPDIR");
  std::string path = std::string(base && *base ? base : "/tmp") + "/vmafx-bench-XXXXXX";
  if (!mkdtemp(path.data())) die("cannot make a folder like " + path);
  return path;
}

/* Runs a program; a file takes its output. Milliseconds, or nothing when it failed. */
std::optional<double> run_program(std::vector<std::string> words, bool cpu_time,
                                  const std::string& output = "/dev/null") {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, fd, output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const Stopwatch stopwatch(false);
  pid_t child;
  const bool started = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  rusage usage;
  if (!started || wait4(child, &status, 0, &usage) < 0 || status != 0) return std::nullopt;
  return cpu_time ? milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime) : stopwatch.elapsed();
}

/* A metric with options, as the peer writes it: name=option=value:option=value. */
std::string with_options(std::string row) {
  const size_t colon = row.find(':');
  if (colon != std::string::npos) row[colon] = '=';
  return row;
}

constexpr unsigned kNoGpu = ~0u;  // --gpumask with which the tool does not even open a GPU

std::string printed(double score) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6f", score);
  return text;
}

}  // namespace

int peer_mask(const std::string& cpu) {
  enum : int { kSsse3 = 1 << 1, kSse4 = 1 << 2, kAvx2 = 1 << 3, kAvx512 = 1 << 4, kAvx512Icelake = 1 << 5 };
  if (cpu == "avx3") return kAvx512Icelake;
  if (cpu == "avx2" || cpu == "avx2_vnni") return kAvx512Icelake | kAvx512;
  if (cpu == "sse4") return kAvx512Icelake | kAvx512 | kAvx2;
  if (cpu == "sse2") return kAvx512Icelake | kAvx512 | kAvx2 | kSse4 | kSsse3;
  if (cpu == "scalar" || cpu == "plain") return -1;
  return 0;
}

Peer::Peer(const Settings& settings, const Clip& ref, const Clip& dist)
    : settings_(settings), folder_(temporary_folder()) {
  if (!ref.write(file("ref.yuv")) || !dist.write(file("dist.yuv"))) die("cannot write the clip to " + folder_);
  run_program({settings.peer, "--help"}, false, file("help.txt"));  // some versions call this a failure
  std::ifstream help(file("help.txt"));
  const std::string text{std::istreambuf_iterator<char>(help), {}};
  takes_gpumask_ = text.find("--gpumask") != std::string::npos;
}

Peer::~Peer() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

PeerResult Peer::measure(const std::string& row, int threads, int mask) const {
  constexpr int kShort = 2;
  const auto without_start_up = [&](const std::string& what) {
    const double start_up = fastest(what, threads, mask, kShort);
    return fastest(what, threads, mask, settings_.clip.frames) - start_up;
  };
  const double reading = threads == 1 || settings_.cpu_time ? without_start_up("null") : 0;
  const double scoring = without_start_up(row);
  return {(scoring - reading) / (settings_.clip.frames - kShort), read_scores()};
}

double Peer::fastest(const std::string& row, int threads, int mask, int frames) const {
  const ClipFormat& clip = settings_.clip;
  std::vector<std::string> words = {settings_.peer,
                                    "-r",
                                    file("ref.yuv"),
                                    "-d",
                                    file("dist.yuv"),
                                    "-w",
                                    std::to_string(clip.w),
                                    "-h",
                                    std::to_string(clip.h),
                                    "-p",
                                    "420",
                                    "-b",
                                    std::to_string(clip.bits),
                                    "-q",
                                    "--frame_cnt",
                                    std::to_string(frames),
                                    "--json",
                                    "-o",
                                    file("scores.json")};
  const std::vector<std::string> models = models_of(row);
  for (const std::string& model : models) words.insert(words.end(), {"-m", "version=" + model + ":name=" + model});
  if (models.empty()) words.insert(words.end(), {"-n", "--feature", with_options(row)});
  if (mask) words.insert(words.end(), {"--cpumask", std::to_string(static_cast<unsigned>(mask))});
  if (takes_gpumask_) words.insert(words.end(), {"--gpumask", std::to_string(kNoGpu)});
  if (threads > 1) words.insert(words.end(), {"--threads", std::to_string(threads)});
  double least = HUGE_VAL;
  for (int run = 0; run < settings_.runs; run++) {
    const auto time = run_program(words, settings_.cpu_time);
    if (!time) die(settings_.peer + " failed on " + row);
    least = std::min(least, *time);
  }
  return least;
}

FrameScores Peer::read_scores() const {
  FrameScores scores;
  const auto report = nlohmann::json::parse(std::ifstream(file("scores.json")), nullptr, false);
  if (report.is_discarded()) die(settings_.peer + " wrote no JSON");
  for (const auto& frame : report.value("frames", nlohmann::json::array())) {
    auto& of_frame = scores.emplace_back();
    for (const auto& [key, value] : frame["metrics"].items())
      if (value.is_number()) of_frame[key] = value.get<double>();
  }
  return scores;
}

Verdict compare(const FrameScores& ours, const FrameScores& peers) {
  constexpr double kAllowed = 1e-5;
  int scores = 0, differing = 0;
  double most = 0;
  for (size_t n = 0; n < peers.size(); n++)
    for (const auto& [key, value] : peers[n]) {
      if (n >= ours.size() || !ours[n].contains(key))
        return {false, key + " of frame " + std::to_string(n) + " is missing"};
      const double score = ours[n].at(key);
      scores++;
      if (printed(score) == printed(value)) continue;
      differing++;
      most = std::max(most, std::abs(score - value) / std::max(1.0, std::abs(value)));
    }
  if (!scores) return {false, "the peer printed no scores"};
  if (!differing) return {true, "equal (" + std::to_string(scores) + ")"};
  char text[96];
  std::snprintf(text, sizeof text, "%d of %d differ, most by %.2g", differing, scores, most);
  return {most <= kAllowed, text};
}

}  // namespace bench
