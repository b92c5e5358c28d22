/* bench/backends: one stream through the public API, as a process of its own: what backend=auto, cpu and hip take from
 * vmafx_open() to vmafx_close(), and to the end of the process, which bench/backends.py measures.
 *
 * usage: bench/backends [--backend auto|cpu|hip] [--frames N] [--size WxH] [--threads N] [--rows A,B,…] [--told]
 *                       [--pace MICROSECONDS] [--distinct N] [--wait]
 *
 *   --rows      models and metrics: vmaf_v0.6.1,ssimulacra2 (default vmaf_v0.6.1)
 *   --told      sets expected_frames to the number of frames
 *   --pace      the least time from one pair to the next, like that of a decoder (0)
 *   --distinct  so many different pairs, which come again and again (8)
 *   --wait      waits for a line on standard input before it opens the session, so that pictures are ready before
 *
 * Prints one line of JSON: milliseconds to the last score and to the end of vmafx_close(), processor time, a hash of
 * all scores, and the log's lines about the GPU. */
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "bench/arguments.h"
#include "bench/clip.h"
#include "bench/die.h"
#include "bench/timing.h"
#include "tests/support/params.h"
#include "vmafx/vmafx.h"

namespace bench {
namespace {

struct Settings {
  std::string backend = "auto", models, features;
  Size size = {1920, 1080};
  int frames = 52, threads = 0, distinct = 8, pace = 0;
  bool told = false, waits = false;
};

/* Collects the lines of a session's log that speak of the GPU, each after its time, in milliseconds. */
class Said {
 public:
  static void on_message(void* said, VmafxLogLevel, const char* message) {
    auto& self = *static_cast<Said*>(said);
    const std::lock_guard lock(self.mutex_);
    for (const char* word : {"backend=auto", "the GPU"})
      if (std::strstr(message, word))
        return self.lines_.push_back(std::to_string(std::lround(self.stopwatch_.elapsed())) + " ms: " + message);
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  const Stopwatch stopwatch_{false};
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

Settings parse(int argc, char** argv) {
  Settings settings;
  std::vector<std::string> rows = {"vmaf_v0.6.1"};
  for (int i = 1; i < argc; i++) {
    const std::string word = argv[i];
    if (word == "--told" || word == "--wait") {
      (word == "--told" ? settings.told : settings.waits) = true;
      continue;
    }
    if (++i == argc) die(word + " needs a value");
    const std::string value = argv[i];
    if (word == "--backend") settings.backend = value;
    else if (word == "--frames") settings.frames = whole_number(value, 1, 1000000, "--frames");
    else if (word == "--size") settings.size = size_of(value);
    else if (word == "--threads") settings.threads = whole_number(value, 0, 1024, "--threads");
    else if (word == "--distinct") settings.distinct = whole_number(value, 1, 10000, "--distinct");
    else if (word == "--pace") settings.pace = whole_number(value, 0, 10000000, "--pace");
    else if (word == "--rows") rows = split(value);
    else die("there is no option " + word);
  }
  for (const std::string& row : rows) {
    const std::string model = model_option(row);
    std::string& list = model.empty() ? settings.features : settings.models;
    list += (list.empty() ? "" : "|") + (model.empty() ? "name=" + row : model);
  }
  return settings;
}

void check(int failed, const char* call) {
  if (failed) die(std::string(call) + " failed: " + std::strerror(-failed));
}

class Stream {
 public:
  explicit Stream(const Settings& settings) : settings_(settings) {
    vmafx::test::Params params;
    params.backend = settings.backend.c_str();
    params.model = settings.models.c_str();
    params.feature = settings.features.empty() ? nullptr : settings.features.c_str();
    params.n_threads = settings.threads;
    params.expected_frames = settings.told ? settings.frames : 0;
    params.log = Said::on_message;
    params.log_cookie = &said_;
    check(vmafx::test::open_context(&context_, params), "vmafx_open()");
    VmafxFormat format = {settings.size.w,  settings.size.h, VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_PLANAR, 0,
                          VMAFX_MEMORY_HOST};
    format.fps = 24;
    check(vmafx_configure(context_, &format, &format), "vmafx_configure()");
  }
  Stream(const Stream&) = delete;
  ~Stream() { vmafx_close(&context_); }

  void run(const Clip& ref, const Clip& dist) {
    auto next = std::chrono::steady_clock::now();
    for (int i = 0; i < settings_.frames; i++) {
      std::this_thread::sleep_until(next);
      next += std::chrono::microseconds(settings_.pace);
      const VmafxPicture ref_picture = ref.picture(i), dist_picture = dist.picture(i);
      check(vmafx_submit(context_, &ref_picture, &dist_picture), "vmafx_submit()");
      receive();
    }
    check(vmafx_finish(context_), "vmafx_finish()");
    receive();
  }

  const Said& said() const { return said_; }
  std::string hash() const { return vmafx::Hash::text(hash_.value()); }

 private:
  void receive() {
    for (VmafxFrameResult result; vmafx_receive(context_, &result) == 0;)
      for (size_t i = 0; i < result.n_scores; i++) hash_.add(&result.scores[i].value, sizeof(double));
  }

  const Settings& settings_;
  Said said_;
  vmafx::Hash hash_;
  VmafxContext* context_ = nullptr;
};

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int run(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  const ClipFormat format = {settings.size.w, settings.size.h, 8, settings.frames,
                             std::min(settings.distinct, settings.frames)};
  const Clip ref = Clip::reference(format), dist = Clip::distorted(format);
  if (settings.waits) {
    std::puts("ready");
    std::fflush(stdout);
    if (std::getchar() == EOF) die("nobody said when to begin");
  }
  const double processors_before = processor_seconds();
  const Stopwatch stopwatch(false);
  nlohmann::ordered_json line;
  {
    Stream stream(settings);
    stream.run(ref, dist);
    line["scored_ms"] = stopwatch.elapsed();
    line["hash"] = stream.hash();
    line["log"] = stream.said().lines();
  }
  line["closed_ms"] = stopwatch.elapsed();
  line["processor_ms"] = 1e3 * (processor_seconds() - processors_before);
  std::puts(line.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::run(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "bench/backends: %s\n", failure.what());
    return 1;
  }
}
