/* bench: how long each metric and model takes per frame, per instruction set and thread count, and how that compares
 * with another implementation's `vmaf` tool on the same clip in the same run. See docs/performance.md.
 *
 * Everything is timed through the public API, as a user meets it. Which instruction set runs is decided once per
 * process (VMAFX_CPU), so each one gets a child process of its own. */
#include <fcntl.h>
#include <getopt.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/cpu.h"
#include "vmafx/vmafx.h"

namespace {

constexpr const char* kHelp =
    R"(usage: bench/bench [OPTIONS]

Times metrics and models on frames in memory; prints milliseconds per frame.

  --size WxH       size of the clip (1920x1080)
  --bits N         bits per sample, 8 to 16 (8)
  --frames N       frames per run (32)
  --runs N         runs of each row, of which the median and the fastest are printed (5)
  --threads LIST   numbers of threads, e.g. 1,2 (1)
  --cpu LIST       instruction sets, e.g. ref,avx2,avx3 (all that this machine runs, then ref)
  --only LIST      metrics and models, e.g. motion,vmaf_v0.6.1 (all metrics and vmaf_v0.6.1)
  --clock NAME     wall, or cpu: processor time, which holds on a machine that does other work too (wall)
  --peer PATH      libvmaf's vmaf tool: time it on the same clip and compare the scores
  --help           this text

Exits with 1 when a run fails or the scores differ from the peer's.
)";

double milliseconds(const timespec& t) { return t.tv_sec * 1e3 + t.tv_nsec * 1e-6; }
double milliseconds(const timeval& t) { return t.tv_sec * 1e3 + t.tv_usec * 1e-3; }

/* Milliseconds since it was made: of time, or of processor time of this process. */
class Stopwatch {
 public:
  explicit Stopwatch(bool cpu_time) : clock_(cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC), start_(now()) {}
  double elapsed() const { return now() - start_; }

 private:
  double now() const {
    timespec t;
    clock_gettime(clock_, &t);
    return milliseconds(t);
  }
  clockid_t clock_;
  double start_;
};

struct Times {
  double median = 0, least = 0;  // ms

  static Times of(std::vector<double> runs) {
    std::ranges::sort(runs);
    return {runs[runs.size() / 2], runs[0]};
  }
};

/* Frame by frame: key -> score. */
using FrameScores = std::vector<std::map<std::string, double>>;

/* -- Command line
 * --------------------------------------------------------------------------------------------------- */

struct Settings {
  int w = 1920, h = 1080, bits = 8, frames = 32, runs = 5;
  std::vector<int> threads = {1};
  std::vector<std::string> cpus, rows;
  std::string peer;
  bool cpu_time = false;
};

[[noreturn]] void die(const std::string& message) {
  std::fprintf(stderr, "bench: %s\n", message.c_str());
  std::exit(2);
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  std::stringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');) items.push_back(item);
  return items;
}

int whole_number(const std::string& text, int least, int most, const char* what) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || value < least || value > most)
    die(std::string(what) + " '" + text + "': use a whole number from " + std::to_string(least) + " to " +
        std::to_string(most));
  return static_cast<int>(value);
}

std::vector<std::string> all_cpus() {
  std::vector<std::string> names;
  for (const int64_t target : vmafx::runnable_cpu_targets()) names.push_back(vmafx::cpu_target_name(target));
  names.push_back("ref");
  return names;
}

bool is_model(const std::string& name) {
  for (int i = 0; vmafx_builtin_model(i); i++)
    if (name == vmafx_builtin_model(i)) return true;
  return false;
}

std::vector<std::string> all_rows() {
  std::vector<std::string> names;
  for (int i = 0; vmafx_extractor(i); i++) names.push_back(vmafx_extractor(i));
  names.push_back("vmaf_v0.6.1");
  return names;
}

Settings parse(int argc, char** argv) {
  enum { kSize, kBits, kFrames, kRuns, kThreads, kCpu, kOnly, kClock, kPeer, kHelpText };
  const option known[] = {{"size", required_argument, nullptr, kSize},
                          {"bits", required_argument, nullptr, kBits},
                          {"frames", required_argument, nullptr, kFrames},
                          {"runs", required_argument, nullptr, kRuns},
                          {"threads", required_argument, nullptr, kThreads},
                          {"cpu", required_argument, nullptr, kCpu},
                          {"only", required_argument, nullptr, kOnly},
                          {"clock", required_argument, nullptr, kClock},
                          {"peer", required_argument, nullptr, kPeer},
                          {"help", no_argument, nullptr, kHelpText},
                          {}};
  Settings settings;
  settings.cpus = all_cpus();
  settings.rows = all_rows();
  for (int which; (which = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
    const std::string text = optarg ? optarg : "";
    switch (which) {
      case kSize: {
        const size_t cross = text.find('x');
        if (cross == std::string::npos) die("--size '" + text + "': use WIDTHxHEIGHT");
        settings.w = whole_number(text.substr(0, cross), 16, 16384, "--size");
        settings.h = whole_number(text.substr(cross + 1), 16, 16384, "--size");
        break;
      }
      case kBits: settings.bits = whole_number(text, 8, 16, "--bits"); break;
      case kFrames: settings.frames = whole_number(text, 4, 10000, "--frames"); break;
      case kRuns: settings.runs = whole_number(text, 1, 1000, "--runs"); break;
      case kThreads:
        settings.threads.clear();
        for (const std::string& item : split(text)) settings.threads.push_back(whole_number(item, 1, 256, "--threads"));
        break;
      case kCpu: settings.cpus = split(text); break;
      case kOnly: settings.rows = split(text); break;
      case kClock:
        if (text != "wall" && text != "cpu") die("--clock '" + text + "': use wall or cpu");
        settings.cpu_time = text == "cpu";
        break;
      case kPeer: settings.peer = text; break;
      case kHelpText: std::fputs(kHelp, stdout); std::exit(0);
      default: std::exit(2);
    }
  }
  if (optind < argc) die("what is '" + std::string(argv[optind]) + "'? See --help");
  return settings;
}

/* -- Clip
 * ----------------------------------------------------------------------------------------------------------- */

/* A planar 4:2:0 clip in memory; samples of more than 8 bits are 16-bit words. */
class Clip {
 public:
  Clip(const Settings& s) : w_(s.w), h_(s.h), bits_(s.bits), frames_(s.frames) {}

  int plane_w(int p) const { return p ? (w_ + 1) / 2 : w_; }
  int plane_h(int p) const { return p ? (h_ + 1) / 2 : h_; }
  int sample_bytes() const { return bits_ > 8 ? 2 : 1; }

  /* One more frame; sample(p, x, y) with 16 bits. */
  template <class Sample>
  void add_frame(Sample sample) {
    for (int p = 0; p < 3; p++) {
      auto& plane = planes_.emplace_back(static_cast<size_t>(plane_w(p)) * plane_h(p) * sample_bytes());
      size_t at = 0;
      for (int y = 0; y < plane_h(p); y++)
        for (int x = 0; x < plane_w(p); x++, at++) {
          const uint16_t value = static_cast<uint16_t>(sample(p, x, y) >> (16 - bits_));
          if (bits_ > 8) std::memcpy(&plane[2 * at], &value, 2);
          else plane[at] = static_cast<uint8_t>(value);
        }
    }
  }

  VmafxPicture picture(int frame) const {
    VmafxPicture picture = {};
    for (int p = 0; p < 3; p++) {
      picture.data[p] = planes_[3 * frame + p].data();
      picture.stride[p] = static_cast<ptrdiff_t>(plane_w(p)) * sample_bytes();
    }
    return picture;
  }

  void write(const std::string& path) const {
    std::ofstream file(path, std::ios::binary);
    for (const auto& plane : planes_) file.write(reinterpret_cast<const char*>(plane.data()), plane.size());
    if (!file.flush()) die("cannot write " + path);
  }

 private:
  int w_, h_, bits_, frames_;
  std::vector<std::vector<uint8_t>> planes_;
};

uint32_t scrambled(uint32_t v) {
  v = (v ^ (v >> 16)) * 0x7FEB352Du;
  v = (v ^ (v >> 15)) * 0x846CA68Bu;
  return v ^ (v >> 16);
}

/* Smooth noise, 0..65535: random values at the corners of cells of 2^cell_log2 samples, linear in between. */
int smooth_noise(uint32_t x, uint32_t y, int cell_log2, uint32_t seed) {
  const uint32_t size = 1u << cell_log2, fx = x & (size - 1), fy = y & (size - 1);
  const auto corner = [&](uint32_t dx, uint32_t dy) {
    return scrambled(((x >> cell_log2) + dx) * 0x9E3779B1u + ((y >> cell_log2) + dy) * 0x85EBCA6Bu + seed) >> 16;
  };
  const uint64_t top = corner(0, 0) * (size - fx) + corner(1, 0) * fx;
  const uint64_t bottom = corner(0, 1) * (size - fx) + corner(1, 1) * fx;
  return static_cast<int>((top * (size - fy) + bottom * fy) >> (2 * cell_log2));
}

/* The reference: texture of three scales that moves by (3, 1) samples a frame, and grain. */
int reference_sample(int p, int x, int y, int frame) {
  const uint32_t mx = x + 3 * frame, my = y + frame, seed = 1000 * p;
  const int texture = smooth_noise(mx, my, 6, seed) / 2 + smooth_noise(mx, my, 4, seed + 1) / 4 +
                      smooth_noise(mx, my, 2, seed + 2) / 8;
  const int grain = static_cast<int>(scrambled(mx * 31 + my * 17 + frame * 1013 + p) & 1023);
  return 4096 + texture * 7 / 8 + grain;
}

/* The distorted clip: a horizontal blur, then steps of 6/256 of the range. */
int distorted_sample(int p, int x, int y, int frame) {
  const int blurred = (reference_sample(p, x - 1, y, frame) + 2 * reference_sample(p, x, y, frame) +
                       reference_sample(p, x + 1, y, frame)) / 4;
  constexpr int kStep = 6 * 256;
  return std::min(blurred / kStep * kStep + kStep / 2, 65535);
}

/* -- Ours
 * ----------------------------------------------------------------------------------------------------------- */

void print_message(void*, VmafxLogLevel level, const char* message) {
  if (level <= VMAFX_LOG_WARNING) std::fprintf(stderr, "bench: %s\n", message);
}

/* One stream through the API. The time runs from the first frame until the last score is pooled. */
class Stream {
 public:
  Stream(const std::string& row, const Settings& s, int threads) : cpu_time_(s.cpu_time) {
    VmafxParams params;
    vmafx_default_params(&params);
    const std::string name = is_model(row) ? "version=" + row : "name=" + row;
    params.model = is_model(row) ? name.c_str() : "";
    params.feature = is_model(row) ? nullptr : name.c_str();
    params.backend = "cpu";
    params.n_threads = threads;
    params.log = print_message;
    const VmafxFormat format = {s.w, s.h, VMAFX_CHROMA_420, s.bits, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};
    ok_ = vmafx_open(&context_, &params) == 0 && vmafx_configure(context_, &format, &format) == 0;
  }
  Stream(const Stream&) = delete;
  ~Stream() { vmafx_close(&context_); }

  /* Milliseconds for the whole clip. */
  std::optional<double> run(const Clip& ref, const Clip& dist, int frames) {
    const Stopwatch stopwatch(cpu_time_);
    for (int i = 0; ok_ && i < frames; i++) {
      const VmafxPicture a = ref.picture(i), b = dist.picture(i);
      ok_ = vmafx_submit(context_, &a, &b) == 0;
      receive();
    }
    ok_ = ok_ && vmafx_finish(context_) == 0;
    const double time = stopwatch.elapsed();
    receive();
    return ok_ ? std::optional(time) : std::nullopt;
  }

  const FrameScores& scores() const { return scores_; }

 private:
  void receive() {
    for (VmafxFrameResult result; ok_ && vmafx_receive(context_, &result) == 0;) {
      auto& frame = scores_.emplace_back();
      for (size_t i = 0; i < result.n_scores; i++) frame[result.scores[i].key] = result.scores[i].value;
    }
  }

  VmafxContext* context_ = nullptr;
  const bool cpu_time_;
  bool ok_ = false;
  FrameScores scores_;
};

/* -- The peer
 * ------------------------------------------------------------------------------------------------------- */

class Directory {
 public:
  Directory() {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base && *base ? base : "/tmp") + "/vmafx-bench-XXXXXX";
    if (!mkdtemp(path_.data())) die("cannot make a folder like " + path_);
  }
  Directory(const Directory&) = delete;
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/* Runs a program, its output thrown away. Milliseconds, or nothing when it failed. */
std::optional<double> run_program(std::vector<std::string> words, bool cpu_time) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  const Stopwatch stopwatch(false);
  pid_t child;
  const bool started = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  rusage usage;
  if (!started || wait4(child, &status, 0, &usage) < 0 || status != 0) return std::nullopt;
  return cpu_time ? milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime) : stopwatch.elapsed();
}

struct PeerResult {
  double ms = 0;  // per frame
  FrameScores scores;
};

/* The vmaf tool on the clip in a raw file. */
class Peer {
 public:
  Peer(const Settings& settings, const Clip& ref, const Clip& dist) : s_(settings) {
    ref.write(folder_.file("ref.yuv"));
    dist.write(folder_.file("dist.yuv"));
  }

  /* Start-up is taken out as the difference of a long and a short run, reading as the time of the same runs with the
   * extractor `null`. With threads, reading overlaps with scoring, and this is in the peer's favour. */
  PeerResult measure(const std::string& row, int threads) const {
    constexpr int kShort = 2;
    const auto without_start_up = [&](const std::string& what) {
      const double start_up = fastest(what, threads, kShort);
      return fastest(what, threads, s_.frames) - start_up;
    };
    const double reading = without_start_up("null");
    const double scoring = without_start_up(row);
    return {(scoring - reading) / (s_.frames - kShort), read_scores()};
  }

 private:
  double fastest(const std::string& row, int threads, int frames) const {
    std::vector<std::string> words = {s_.peer, "-r", folder_.file("ref.yuv"), "-d", folder_.file("dist.yuv"),
                                      "-w", std::to_string(s_.w), "-h", std::to_string(s_.h), "-p", "420",
                                      "-b", std::to_string(s_.bits), "-q", "--frame_cnt", std::to_string(frames),
                                      "--json", "-o", folder_.file("scores.json")};
    if (is_model(row)) words.insert(words.end(), {"-m", "version=" + row});
    else words.insert(words.end(), {"-n", "--feature", row});
    if (threads > 1) words.insert(words.end(), {"--threads", std::to_string(threads)});
    double least = HUGE_VAL;
    for (int run = 0; run < s_.runs; run++) {
      const auto time = run_program(words, s_.cpu_time);
      if (!time) die(s_.peer + " failed on " + row);
      least = std::min(least, *time);
    }
    return least;
  }

  FrameScores read_scores() const {
    FrameScores scores;
    const auto report = nlohmann::json::parse(std::ifstream(folder_.file("scores.json")), nullptr, false);
    for (const auto& frame : report.value("frames", nlohmann::json::array())) {
      auto& of_frame = scores.emplace_back();
      for (const auto& [key, value] : frame["metrics"].items())
        if (value.is_number()) of_frame[key] = value.get<double>();
    }
    return scores;
  }

  const Settings& s_;
  Directory folder_;
};

/* "equal", or what differs. The peer prints six decimals, so equal means equal in these. */
std::string compare(const FrameScores& ours, const FrameScores& peers) {
  const auto printed = [](double v) {
    char text[64];
    std::snprintf(text, sizeof text, "%.6f", v);
    return std::string(text);
  };
  int scores = 0, differing = 0;
  double most = 0;
  for (size_t n = 0; n < peers.size(); n++)
    for (const auto& [key, value] : peers[n]) {
      scores++;
      const auto found = n < ours.size() ? ours[n].find(key) : std::map<std::string, double>::const_iterator();
      if (n >= ours.size() || found == ours[n].end()) return key + " is missing";
      if (printed(found->second) == printed(value)) continue;
      differing++;
      most = std::max(most, std::abs(found->second - value));
    }
  if (!scores) return "the peer printed no scores";
  if (!differing) return "equal (" + std::to_string(scores) + ")";
  char text[96];
  std::snprintf(text, sizeof text, "%d of %d differ, most by %.2g", differing, scores, most);
  return text;
}

/* -- The table
 * ------------------------------------------------------------------------------------------------------ */

using PeerResults = std::map<std::pair<std::string, int>, PeerResult>;  // by row and threads

/* Prints one line. False when a run failed or the scores differ. */
bool measure_row(const std::string& row, const std::string& cpu, int threads, const Settings& s, const Clip& ref,
                 const Clip& dist, const PeerResults& peers) {
  std::vector<double> runs;
  FrameScores scores;
  for (int run = 0; run < s.runs; run++) {
    Stream stream(row, s, threads);
    const auto time = stream.run(ref, dist, s.frames);
    if (!time) return false;
    runs.push_back(*time / s.frames);
    scores = stream.scores();
  }
  const Times times = Times::of(std::move(runs));
  std::printf("%-14s %-6s %7d %9.3f %9.3f", row.c_str(), cpu.c_str(), threads, times.median, times.least);
  bool equal = true;
  if (const auto peer = peers.find({row, threads}); peer != peers.end()) {
    const std::string verdict = compare(scores, peer->second.scores);
    equal = verdict.starts_with("equal");
    std::printf(" %9.3f %6.2f  %s", peer->second.ms, peer->second.ms / times.least, verdict.c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
  return equal;
}

bool measure_cpu(const std::string& cpu, const Settings& s, const Clip& ref, const Clip& dist,
                 const PeerResults& peers) {
  setenv("VMAFX_CPU", cpu.c_str(), 1);
  bool good = true;
  for (const std::string& row : s.rows)
    for (const int threads : s.threads) good &= measure_row(row, cpu, threads, s, ref, dist, peers);
  return good;
}

/* The same in a child process. */
bool measure_cpu_apart(const std::string& cpu, const Settings& s, const Clip& ref, const Clip& dist,
                       const PeerResults& peers) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) die("cannot start a process");
  if (child == 0) {
    const bool good = measure_cpu(cpu, s, ref, dist, peers);
    std::fflush(stdout);
    _exit(good ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  Clip ref(settings), dist(settings);
  for (int i = 0; i < settings.frames; i++) {
    ref.add_frame([&](int p, int x, int y) { return reference_sample(p, x, y, i); });
    dist.add_frame([&](int p, int x, int y) { return distorted_sample(p, x, y, i); });
  }

  std::printf("%dx%d, %d bit, 4:2:0, %d frames, %d runs; ms of %s time per frame\n", settings.w, settings.h,
              settings.bits, settings.frames, settings.runs, settings.cpu_time ? "processor" : "wall");
  PeerResults peers;
  if (!settings.peer.empty()) {
    const Peer peer(settings, ref, dist);
    for (const std::string& row : settings.rows)
      for (const int threads : settings.threads) peers[{row, threads}] = peer.measure(row, threads);
  }
  std::printf("%-14s %-6s %7s %9s %9s%s\n", "", "cpu", "threads", "median", "fastest",
              peers.empty() ? "" : "      peer  ratio  scores");
  bool good = true;
  for (const std::string& cpu : settings.cpus) good &= measure_cpu_apart(cpu, settings, ref, dist, peers);
  return good ? 0 : 1;
}
