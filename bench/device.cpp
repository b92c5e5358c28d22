/* bench/device: how long each metric's kernels take per frame on the GPU, how fast frames go through the frame pool
 * from device memory and from page-locked host memory, and how that compares with what the upload alone takes and with
 * another implementation. See docs/performance.md. */
#include <getopt.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "bench/arguments.h"
#include "bench/device_frames.h"
#include "bench/device_metrics.h"
#include "bench/device_session.h"
#include "bench/die.h"
#include "engine/plan.h"
#include "kernels/registry/registry.h"
#include "kernels/signature/signature.h"
#include "model/spec.h"

namespace bench {
namespace {

using namespace vmafx;

constexpr const char* kHelp =
    R"(usage: bench/device [OPTIONS]

Times the GPU kernels of metrics; prints microseconds per frame. Sums are compared with the CPU's first.

  --size LIST      sizes (1920x1080,3840x2160)
  --bits LIST      bits per sample, 8 to 16 (8,10)
  --batch LIST     frames in one launch, 1 to 16 (1,4)
  --only LIST      metrics and models, e.g. vif,vmaf_v1.0.16_3d0h (all metrics and three models); models joined
                   by + are scored in one session; signature: what the look at the pictures reads of them
  --time MS        how long frames go through the pool for a row (300)
  --device NAME    auto, an index or a PCI address (auto)
  --encodes LIST   encodes of one reference, in a session through the API and for kernels alone, e.g. 1,8 (1)
  --check LIST     options check of sessions through the API, e.g. off,warn: off leaves out the look (warn)
  --maps           with maps, too: kernels of metrics that have some, and sessions
  --memory LIST    memory of sessions' frames: device, page-locked, pageable, pageable-kept, locked-kept (all)
  --turns N        runs of each session, with each check in turn; the least times are printed (1)
  --peer A,B       another implementation's frames per second at vmaf_v0.6.1, from device and from page-locked memory
                   (for 8 bit at the usual sizes: libvmaf's CUDA backend on an NVIDIA H200)
  --help           this text

VMAFX_HIP_RUNTIME names another runtime library, such as libcuda.so.1 or the emulator (for which --size 64x48 --time 1).
)";

constexpr const char* kPeersModel = "vmaf_v0.6.1";
constexpr const char* kUsualModels[] = {kPeersModel, "vmaf_v1.0.16_3d0h", "vmaf_v1.0.16_1d5h_2160"};

struct Peer {
  double device_fps = 0, pinned_fps = 0;  // 0: unknown
};

struct Settings {
  std::vector<Size> sizes = {{1920, 1080}, {3840, 2160}};
  std::vector<int> bits = {8, 10}, batches = {1, 4};
  std::vector<std::string> rows;
  int milliseconds = 300;
  std::string device = "auto";
  std::vector<int> encodes = {1};
  std::vector<std::string> checks = {"warn"};
  bool maps = false;
  std::vector<std::string> memories;  // of sessions; empty: all
  int turns = 1;
  Peer peer;
};

constexpr double kFramesPerSecond = 24;  // the video's, for metrics that depend on it

/* A row of the table: a metric, or all that a model needs, or several models, joined by "+", or kLook. */
struct Row {
  std::string name;
  bool is_model;
};

/* The signatures of the look at the pictures, which are no metric. */
constexpr const ExtractorInfo& kLook = kSignatureExtractor;

Plan plan_of(const Row& row, bool maps = false) {
  Log log;
  Plan plan = take(row.is_model ? Plan::make(take(parse_models(model_option(row.name))), {}, log)
                                : Plan::make({}, {{.extractor = row.name}}, log));
  if (maps) check(plan.make_maps());
  check(plan.place(Placement::kDevice));
  for (const PlannedExtractor& planned : plan.extractors())
    if (planned.placement != Placement::kDevice) die(row.name + ": " + planned.info->name + " has no kernels");
  return plan;
}

/* The metrics that a session of this format runs. */
std::vector<DeviceMetric> metrics_of(const Row& row, const VideoFormat& format, bool maps = false) {
  std::vector<DeviceMetric> metrics;
  if (row.name == kLook.name) {
    metrics.push_back({kLook.name, take(kLook.create({}, format, Placement::kDevice))});
    return metrics;
  }
  Log log;
  Plan plan = plan_of(row, maps);
  check(plan.instantiate(format, log));
  DeviceExtractors made = take(plan.make_device_extractors(format));
  for (size_t i = 0; i < made.of_plan.size(); i++) {
    const char* const name = plan.extractors()[plan.extractions()[i].of.front()].info->name;
    if (!made.of_plan[i]) die(row.name + ": the kernels of " + name + " do not take this format");
    metrics.push_back({name, std::move(made.of_plan[i])});
  }
  return metrics;
}

bool has_maps(const Row& row) {
  if (row.name == kLook.name) return false;
  const Plan plan = plan_of(row);
  return std::ranges::any_of(plan.extractors(),
                             [](const PlannedExtractor& planned) { return planned.info->flags & kMaps; });
}

Row row_of(const std::string& name) {
  Row row{name, !models_of(name).empty()};
  if (name != kLook.name) plan_of(row);
  return row;
}

std::vector<Row> rows_of(std::vector<std::string> names) {
  if (names.empty()) {
    for (const ExtractorInfo* info : extractors())
      if (info->flags & kHip) names.emplace_back(info->name);
    names.insert(names.end(), std::begin(kUsualModels), std::end(kUsualModels));
  }
  std::vector<Row> rows;
  for (const std::string& name : names) rows.push_back(row_of(name));
  return rows;
}

Peer peer_of(const std::string& text) {
  const auto numbers = whole_numbers(text, 1, 1000000, "--peer");
  if (numbers.size() != 2) die("--peer '" + text + "': use two numbers, e.g. 2127,2097");
  return {static_cast<double>(numbers[0]), static_cast<double>(numbers[1])};
}

Settings parse(int argc, char** argv) {
  enum { kSize, kBits, kBatch, kOnly, kTime, kDevice, kEncodes, kCheck, kWithMaps, kMemory, kTurns, kPeer, kHelpText };
  const ::option known[] = {
      {"size", required_argument, nullptr, kSize},       {"bits", required_argument, nullptr, kBits},
      {"batch", required_argument, nullptr, kBatch},     {"only", required_argument, nullptr, kOnly},
      {"time", required_argument, nullptr, kTime},       {"device", required_argument, nullptr, kDevice},
      {"encodes", required_argument, nullptr, kEncodes}, {"check", required_argument, nullptr, kCheck},
      {"maps", no_argument, nullptr, kWithMaps},         {"memory", required_argument, nullptr, kMemory},
      {"turns", required_argument, nullptr, kTurns},     {"peer", required_argument, nullptr, kPeer},
      {"help", no_argument, nullptr, kHelpText},         {}};
  Settings settings;
  for (int which; (which = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
    const std::string text = optarg ? optarg : "";
    switch (which) {
      case kSize:
        settings.sizes.clear();
        for (const std::string& item : split(text)) settings.sizes.push_back(size_of(item));
        break;
      case kBits: settings.bits = whole_numbers(text, 8, 16, "--bits"); break;
      case kBatch: settings.batches = whole_numbers(text, 1, hip::kMostBatch, "--batch"); break;
      case kOnly: settings.rows = split(text); break;
      case kTime: settings.milliseconds = whole_number(text, 1, 60000, "--time"); break;
      case kDevice: settings.device = text; break;
      case kEncodes: settings.encodes = whole_numbers(text, 1, VMAFX_MOST_ENCODES, "--encodes"); break;
      case kCheck: settings.checks = split(text); break;
      case kWithMaps: settings.maps = true; break;
      case kMemory: settings.memories = split(text); break;
      case kTurns: settings.turns = whole_number(text, 1, 1000, "--turns"); break;
      case kPeer: settings.peer = peer_of(text); break;
      case kHelpText: std::fputs(kHelp, stdout); std::exit(0);
      default: die("see --help");
    }
  }
  if (optind < argc) die("what is '" + std::string(argv[optind]) + "'? See --help");
  return settings;
}

/* libvmaf f85a853, CUDA backend, on kKnownPeersCard; measured with textured frames of the same kind. */
constexpr const char* kKnownPeersCard = "NVIDIA H200";
Peer known_peer(const VideoFormat& format) {
  if (format.bpc == 8 && format.w == 1920 && format.h == 1080) return {2127, 2097};
  if (format.bpc == 8 && format.w == 3840 && format.h == 2160) return {648, 639};
  return {};
}

void print_pace(const Pace& pace) { std::printf(" %9.2f %8.0f %7.2f", pace.wall, 1e6 / pace.wall, pace.cpu); }

void print_peer(double us, double peer_fps) {
  if (peer_fps > 0) std::printf(" %7.2f", 1e6 / us / peer_fps);
  else std::printf(" %7s", "-");
}

void print_heading(const VideoFormat& format, int batch, int frames, const Peer& given) {
  const std::string peer = given.device_fps > 0 ? "as given" : std::string("on ") + kKnownPeersCard;
  std::printf("\n%dx%d, %d bit, 4:2:0, %d in a launch, %d frames\n", format.w, format.h, format.bpc, batch, frames);
  std::printf("%-22s %9s %9s %8s %7s %9s %8s %7s %9s %7s  peer (%s): device, pinned\n", "", "kernels", "device", "fps",
              "cpu", "pinned", "fps", "cpu", "upload", "of it", peer.c_str());
}

void print_row(const Row& row, const Settings& settings, const hip::OpenedDevice& device, const DeviceFrames& frames,
               int batch) {
  const DeviceMetrics metrics(device, metrics_of(row, frames.format()), frames, batch);
  metrics.check_sums(Source::kDevice);
  metrics.check_sums(Source::kPinned);
  const Pace resident = metrics.pace(Source::kDevice, settings.milliseconds);
  const Pace pinned = metrics.pace(Source::kPinned, settings.milliseconds);
  const Pace upload = metrics.pace(Source::kPinnedUploadOnly, settings.milliseconds);
  std::printf("%-22s %9.2f", row.name.c_str(), metrics.kernel_time());
  print_pace(resident);
  print_pace(pinned);
  std::printf(" %9.2f %6.0f%% ", upload.wall, 100 * upload.wall / pinned.wall);
  if (row.name == kPeersModel) {
    const Peer peer = settings.peer.device_fps > 0 ? settings.peer : known_peer(frames.format());
    print_peer(resident.wall, peer.device_fps);
    print_peer(pinned.wall, peer.pinned_fps);
  }
  std::printf("\n");
  if (settings.maps && has_maps(row)) {
    const DeviceMetrics with_maps(device, metrics_of(row, frames.format(), true), frames, batch);
    with_maps.check_sums(Source::kDevice);
    std::printf("  with maps            %9.2f\n", with_maps.kernel_time());
  }
  for (const int encodes : settings.encodes) {
    if (encodes == 1 || encodes > batch || metrics.reads_earlier_frames()) continue;
    const DeviceMetrics of_encodes(device, metrics_of(row, frames.format()), frames, batch, encodes);
    of_encodes.check_sums(Source::kDevice);
    std::printf("  of %2d encodes         %9.2f\n", encodes, of_encodes.kernel_time());
  }
  std::fflush(stdout);
}

constexpr struct SessionMemory {
  const char* name;
  VmafxMemory memory;
  bool stays = false;
} kMemories[] = {{"device", VMAFX_MEMORY_DEVICE},
                 {"page-locked", VMAFX_MEMORY_PINNED},
                 {"pageable", VMAFX_MEMORY_HOST},
                 {"pageable-kept", VMAFX_MEMORY_HOST, true},
                 {"locked-kept", VMAFX_MEMORY_PINNED, true}};

/* Prints a line for each option check, and with maps for each of them again. */
void print_session(const std::string& model, const Settings& settings, const hip::OpenedDevice& device,
                   const DeviceFrames& frames, const SessionMemory& memory, int encodes) {
  std::vector<DeviceSession::Kind> kinds;
  for (int maps = 0; maps <= static_cast<int>(settings.maps); maps++)
    for (const std::string& check : settings.checks)
      kinds.push_back({memory.memory, encodes, memory.stays, check.c_str(), maps == 1});
  std::vector<Pace> least(kinds.size(), Pace{HUGE_VAL, HUGE_VAL});
  for (int turn = 0; turn < settings.turns; turn++)
    for (size_t i = 0; i < kinds.size(); i++) {
      const Pace pace = DeviceSession(model, frames, device, kinds[i]).pace(settings.milliseconds);
      least[i] = {std::min(least[i].wall, pace.wall), std::min(least[i].cpu, pace.cpu)};
    }
  for (size_t i = 0; i < kinds.size(); i++) {
    std::printf("%-14s %-5s %-4s %7d", memory.name, kinds[i].check, kinds[i].maps ? "yes" : "no", encodes);
    print_pace(least[i]);
    std::printf("\n");
  }
  std::fflush(stdout);
}

/* Prints how much of the kernels' pace is left when frames come through the API. */
void print_sessions(const std::string& model, const Settings& settings, const hip::OpenedDevice& device,
                    const DeviceFrames& frames) {
  std::printf("\n%s through the API, %dx%d, %d bit\n%-14s %-5s %-4s %7s %9s %8s %7s\n", model.c_str(),
              frames.format().w, frames.format().h, frames.format().bpc, "memory", "check", "maps", "encodes", "wall",
              "fps", "cpu");
  for (const SessionMemory& memory : kMemories) {
    const auto& chosen = settings.memories;
    if (!chosen.empty() && std::ranges::find(chosen, memory.name) == chosen.end()) continue;
    if (memory.memory == VMAFX_MEMORY_DEVICE && !takes_device_memory(device)) continue;
    for (const int encodes : settings.encodes) print_session(model, settings, device, frames, memory, encodes);
  }
}

void run(const Settings& settings) {
  const std::vector<Row> rows = rows_of(settings.rows);
  if (const auto model = std::ranges::find(rows, true, &Row::is_model); model != rows.end())
    std::printf("first score of %s after %.0f ms\n", model->name.c_str(),
                first_score(model->name, settings.device, settings.sizes.front()));
  const hip::OpenedDevice device = take(hip::open_device(settings.device));
  std::printf("%s (%s, %s), %zu MiB, %d multiprocessors, waves of %d, through %s; us per frame\n", device.name.c_str(),
              device.pci_address.c_str(), device.arch.c_str(), device.memory_bytes >> 20, device.multiprocessors,
              device.wave_size, device.runtime->library().c_str());
  std::fflush(stdout);
  for (const Size& size : settings.sizes)
    for (const int bits : settings.bits) {
      const DeviceFrames frames(
          device.context, {.w = size.w, .h = size.h, .bpc = bits, .chroma = Chroma::k420, .fps = kFramesPerSecond});
      for (const int batch : settings.batches) {
        print_heading(frames.format(), batch, frames.count(), settings.peer);
        for (const Row& row : rows) print_row(row, settings, device, frames, batch);
      }
      for (const Row& row : rows)
        if (row.is_model) print_sessions(row.name, settings, device, frames);
    }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) try {
  bench::run(bench::parse(argc, argv));
  return 0;
} catch (const std::exception& failure) {
  std::fprintf(stderr, "bench/device: %s\n", failure.what());
  return 1;
}
