/* bench: how long each metric and model takes per frame, per instruction set and thread count, and how that compares
 * with another implementation's `vmaf` tool on the same clip in the same run. See docs/performance.md.
 *
 * Everything is timed through the public API, as a user meets it. A process decides once on its instruction set
 * (VMAFX_CPU), so each one gets a child process of its own. */
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/arguments.h"
#include "bench/clip.h"
#include "bench/peer.h"
#include "bench/reader.h"
#include "bench/settings.h"
#include "bench/timing.h"
#include "commit/commit.h"
#include "tests/support/params.h"
#include "vmafx/vmafx.h"

namespace bench {
namespace {

/* Once each: every run of a row opens a session. */
void print_message(void*, VmafxLogLevel level, const char* message) {
  static std::mutex mutex;
  static std::set<std::string> printed;
  const std::lock_guard lock(mutex);
  if (level <= VMAFX_LOG_WARNING && printed.insert(message).second) std::fprintf(stderr, "bench: %s\n", message);
}

/* The processor time of reading the frames alone, in milliseconds. */
double reading_time(Reader& ref, Reader& dist, int frames, int encodes) {
  const auto read = [](Reader& reader, int frame) {
    const VmafxPicture picture = reader.read(frame);
    picture.release(picture.opaque);
  };
  const Stopwatch stopwatch(true);
  for (int i = 0; i < frames; i++) {
    read(ref, i);
    for (int encode = 0; encode < encodes; encode++) read(dist, (i + encode) % frames);
  }
  return stopwatch.elapsed();
}

/* The times of a run with the reading of its frames, and of reading them alone. */
struct RunTime {
  double all, reading;
};

/* Milliseconds per frame of the runs of a row, without the reading. All and reading are each sorted before they are
 * subtracted: the shortest difference would be that of the run whose reading happened to take longest. */
class RunTimes {
 public:
  void add(const RunTime& run, int frames) {
    all_.push_back(run.all / frames);
    reading_.push_back(run.reading / frames);
    std::ranges::sort(all_);
    std::ranges::sort(reading_);
  }
  double median() const { return at(all_.size() / 2); }
  double fastest() const { return at(0); }

 private:
  double at(size_t i) const { return all_[i] - reading_[i]; }
  std::vector<double> all_, reading_;
};

constexpr double kFps = 24;

/* One stream through the API. The time runs from the first frame until the last score is pooled. */
class Stream {
 public:
  Stream(const std::string& row, const Settings& s, int threads, int encodes = 1)
      : cpu_time_(s.cpu_time), encodes_(encodes) {
    vmafx::test::Params params;
    const std::string models = model_option(row);
    const std::string feature = "name=" + row;
    params.model = models.c_str();
    params.feature = models.empty() ? feature.c_str() : nullptr;
    params.backend = "cpu";
    params.n_threads = threads;
    params.encodes = encodes;
    params.check = s.check.c_str();
    params.result_maps = s.maps;
    params.log = print_message;
    VmafxFormat format = {s.clip.w, s.clip.h, VMAFX_CHROMA_420, s.clip.bits, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};
    format.fps = kFps;
    ok_ = vmafx::test::open_context(&context_, params) == 0 && vmafx_configure(context_, &format, &format) == 0;
  }
  Stream(const Stream&) = delete;
  ~Stream() { vmafx_close(&context_); }

  /* Milliseconds for all frames; nothing when it failed, the message is printed. Encode i shows what `dist` shows i
   * frames later. */
  std::optional<RunTime> run(Reader& ref, Reader& dist, int frames) {
    const double reading = cpu_time_ ? reading_time(ref, dist, frames, encodes_) : 0;
    const Stopwatch stopwatch(cpu_time_);
    for (int i = 0; ok_ && i < frames; i++) {
      const VmafxPicture ref_picture = ref.read(i);
      VmafxPicture pictures[VMAFX_MOST_ENCODES];
      const VmafxPicture* dists[VMAFX_MOST_ENCODES];
      for (int encode = 0; encode < encodes_; encode++) {
        pictures[encode] = dist.read((i + encode) % frames);
        dists[encode] = &pictures[encode];
      }
      ok_ = vmafx_submit_encodes(context_, &ref_picture, dists, encodes_) == 0;
      receive();
    }
    ok_ = ok_ && vmafx_finish(context_) == 0;
    const RunTime time = {stopwatch.elapsed(), reading};
    receive();
    return ok_ ? std::optional(time) : std::nullopt;
  }

  const FrameScores& scores() const { return scores_; }  // encode 0's

 private:
  void receive() {
    for (VmafxFrameResult result; ok_ && vmafx_receive(context_, &result) == 0;) {
      if (result.encode) continue;
      auto& frame = scores_.emplace_back();
      for (size_t i = 0; i < result.n_scores; i++) frame[result.scores[i].key] = result.scores[i].value;
    }
  }

  const bool cpu_time_;
  const int encodes_;
  VmafxContext* context_ = nullptr;
  bool ok_ = false;
  FrameScores scores_;
};

/* The clip and the peer's results that every row is measured with. */
struct Job {
  const Settings& settings;
  const Clip& ref;
  const Clip& dist;
  std::map<std::tuple<std::string, int, int>, PeerResult> peers;  // by row, threads and mask; empty without a peer
};

/* A description of the machine and the clip, for all rows of a run. */
nlohmann::ordered_json description(const Settings& settings) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string processor = "not known";
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.starts_with("model name") || line.starts_with("CPU part")) processor = line.substr(line.find(": ") + 2);
  char date[16];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%F", std::gmtime(&now));
  return {{"version", std::string(vmafx_version()) + VMAFX_COMMIT},
          {"date", date},
          {"processor", processor},
          {"width", settings.clip.w},
          {"height", settings.clip.h},
          {"bits", settings.clip.bits},
          {"frames", settings.clip.frames},
          {"clock", settings.cpu_time ? "processor" : "wall"}};
}

void append(const std::string& path, const nlohmann::ordered_json& line) {
  if (path.empty()) return;
  std::ofstream file(path, std::ios::app);
  if (!(file << line.dump() << std::endl)) die("cannot write " + path);
}

/* The peer's masks of instruction sets: all that it has, and one for each of our levels. */
std::set<int> masks_of(const Settings& settings) {
  std::set<int> masks = {0};
  for (const std::string& cpu : settings.cpus) masks.insert(peer_mask(cpu));
  return masks;
}

/* Prints one line. False when a run failed or the scores differ. */
bool measure_row(const Job& job, const std::string& row, const std::string& cpu, int threads) {
  const int frames = job.settings.clip.frames, encodes = job.settings.encodes;
  RunTimes runs, together;  // one encode alone; all of them in one session
  FrameScores scores, scores_together;
  const auto run = [&](int n, RunTimes& times, FrameScores& seen) {
    // By the clock, reading would overlap with scoring: what it takes is known of processor time only.
    const bool copies = job.settings.cpu_time;
    Reader ref(job.ref, copies), dist(job.dist, copies);
    Stream stream(row, job.settings, threads, n);
    const auto time = stream.run(ref, dist, frames);
    if (!time) return false;
    times.add(*time, frames);
    seen = stream.scores();
    return true;
  };
  for (int i = 0; i < job.settings.runs; i++) {
    if (!run(1, runs, scores)) return false;
    if (encodes > 1 && !run(encodes, together, scores_together)) return false;
  }
  nlohmann::ordered_json line = description(job.settings);
  const double fastest = runs.fastest();
  line.update({{"row", row}, {"cpu", cpu}, {"threads", threads}, {"median", runs.median()}, {"fastest", fastest}});
  std::printf("%-18s %-7s %7d %9.3f %9.3f", row.c_str(), cpu.c_str(), threads, runs.median(), fastest);
  bool good = true;
  if (encodes > 1) {
    good = scores == scores_together;
    const double least = together.fastest();
    std::printf(" %9.3f %6.3f  %s", least, least / (encodes * fastest), good ? "equal" : "SCORES DIFFER");
    line["encodes"] = encodes;
    line["together"] = least;
  }
  if (!job.peers.empty()) {
    const PeerResult &same = job.peers.at({row, threads, peer_mask(cpu)}), &best = job.peers.at({row, threads, 0});
    const Verdict verdict = compare(scores, same.scores);
    good &= verdict.good;
    std::printf(" %9.3f %6.2f %9.3f %6.2f  %s", same.ms, same.ms / fastest, best.ms, best.ms / fastest,
                verdict.text.c_str());
    line["peer"] = same.ms;
    line["peer_best"] = best.ms;
  }
  line["good"] = good;
  std::printf("\n");
  std::fflush(stdout);
  append(job.settings.json, line);
  return good;
}

bool measure_cpu(const Job& job, const std::string& cpu) {
  setenv("VMAFX_CPU", cpu.c_str(), 1);
  bool good = true;
  for (const std::string& row : job.settings.rows)
    for (const int threads : job.settings.threads) good &= measure_row(job, row, cpu, threads);
  return good;
}

/* Measures the rows of one instruction set in a child process. */
bool measure_cpu_apart(const Job& job, const std::string& cpu) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) die("cannot start a process");
  if (child == 0) {
    const bool good = measure_cpu(job, cpu);
    std::fflush(stdout);
    _exit(good ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

int run(const Settings& settings) {
  const ClipFormat& clip = settings.clip;
  const std::vector<std::string>& files = settings.files;
  const Clip dist = files.empty() ? Clip::distorted(clip) : Clip::read(clip, files[0]);
  const Clip ref = files.empty() ? Clip::reference(clip) : Clip::read(clip, files[1]);
  std::printf("%dx%d, %d bit, 4:2:0, %d frames, %d runs; ms of %s time per frame\n", clip.w, clip.h, clip.bits,
              clip.frames, settings.runs, settings.cpu_time ? "processor" : "wall");
  Job job = {settings, ref, dist, {}};
  if (!settings.peer.empty()) {
    const Peer peer(settings, ref, dist);
    for (const std::string& row : settings.rows)
      for (const int threads : settings.threads)
        for (const int mask : masks_of(settings)) job.peers[{row, threads, mask}] = peer.measure(row, threads, mask);
  }
  std::printf("%-18s %-7s %7s %9s %9s%s%s\n", "", "cpu", "threads", "median", "fastest",
              settings.encodes > 1 ? "  together  ratio  scores" : "",
              job.peers.empty() ? "" : "      peer  ratio      best  ratio  scores");
  bool good = true;
  for (const std::string& cpu : settings.cpus) good &= measure_cpu_apart(job, cpu);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) try {
  return bench::run(bench::parse(argc, argv));
} catch (const std::exception& failure) {
  std::fprintf(stderr, "bench: %s\n", failure.what());
  return 2;
}
