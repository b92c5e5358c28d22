#include "engine/device/opening_choice.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace vmafx {
namespace {

/* How long a process that others came before waits until it tries again. */
constexpr std::chrono::milliseconds kPauseBehindOthers{50};

/* Places of processes that open a GPU, of all devices: which one it will be is known only when a driver runs. */
constexpr const char* kTurns = "opening";
constexpr int kMostTurns = 64;

/* Pairs of which a time is worth keeping, and how far it must be from the known one. */
constexpr int64_t kFewestPairs = 8;
constexpr double kNews = 0.2;

/* Pairs by which the GPU's time is measured before the CPU may score beside it. */
constexpr int64_t kPairsOfGpuAlone = 64;

/* The share of the time that the application may need to bring pairs, if the time is that of scoring. */
constexpr double kMostOfSource = 0.7;

/* Above this share of busy processors, those that score are missing where pairs come from. */
constexpr double kScarce = 0.8;

/* Kept times are those of a machine that does nothing else, as far as one was seen, and kept lengths those of short
 * streams: a longer one counts for less. */
double settled(double measured, double known) {
  constexpr double kLater = 0.25;
  if (measured <= 0) return known;
  return known <= 0 || measured < known ? measured : known + kLater * (measured - known);
}

bool is_news(double measured, double known) {
  return measured > 0 && (known <= 0 || std::abs(measured - known) > kNews * known);
}

}  // namespace

OpeningChoice::OpeningChoice(std::string plan, std::string device)
    : plan_(std::move(plan)), device_(std::move(device)), file_(known_costs_file()), known_(KnownCosts::read(file_)) {
  costs_ = known_.of_plan(plan_).value_or(PlanCosts());
  of_device_ = known_.of_device(device_).value_or(DeviceCosts());
}

/* The known time is that of an idle machine, or of a busy one: the stream itself tells the least that it is. */
double OpeningChoice::cpu_pair(const StreamState& stream) const {
  const double least = stream.seen ? stream.elapsed / static_cast<double>(stream.seen) : 0;
  const bool knows = stream.finished > 4 * (stream.seen - stream.finished) + kFewestPairs;
  return knows ? stream.elapsed / static_cast<double>(stream.finished) : std::max(least, costs_.cpu_pair);
}

double OpeningChoice::gpu_pair(const StreamState& stream) const {
  return costs_.gpu_pair > 0 ? costs_.gpu_pair : guess_gpu_pair(cpu_pair(stream), stream.threads);
}

StreamCosts OpeningChoice::costs_of(const StreamState& stream) const {
  StreamCosts costs;
  costs.cpu_pair = cpu_pair(stream);
  costs.gpu_pair = gpu_pair(stream);
  costs.source_pair = stream.source_pair;
  if (stream.busy > kScarce && stream.finished)
    costs.relief = stream.worker_seconds / static_cast<double>(stream.finished) / stream.processors;
  if (of_device_.opening > 0) costs.opening = of_device_.opening;
  costs.seen = stream.seen;
  costs.expected = stream.expected;
  costs.usual = costs_.pairs;
  costs.openers = openers_;
  costs.few_threads = 2 * stream.threads < stream.processors;
  return costs;
}

int OpeningChoice::users() const {
  constexpr int kMostPlaces = 16;
  if (of_device_.pci_address.empty()) return 0;
  return count_taken_places(device_place_folder(), of_device_.pci_address, kMostPlaces);
}

bool OpeningChoice::opens(const StreamState& stream) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return false;
  openers_ = 0;
  StreamCosts costs = costs_of(stream);
  if (!pays_to_open(costs)) return false;
  const std::string turns[] = {kTurns};
  auto turn = take_device_place(device_place_folder(), turns, kMostTurns);
  costs.openers = turn.ok() ? turn.value()->number() : kMostTurns;
  costs.users = users_ = users();
  if (pays_to_open(costs)) {
    openers_ = costs.openers;
    if (turn.ok()) turn_ = std::move(turn.value());
    return true;
  }
  next_look_ = now + kPauseBehindOthers;
  return false;
}

bool OpeningChoice::leaves_to_gpu(const StreamState& stream, double lasts, bool ends) {
  StreamCosts costs = costs_of(stream);
  costs.cpu_pair = costs_.cpu_pair;  // known ones: pairs that wait tell nothing
  costs.gpu_pair = costs_.gpu_pair;
  costs.opening = of_device_.opening;
  costs.users = users_;
  const bool leaves =
      vmafx::leaves_to_gpu(costs, {.lasts = lasts, .waiting = stream.seen - stream.finished, .ends = ends});
  left_ = left_ || leaves;
  return leaves;
}

/* Others that were opening it at the same time made it take longer. */
void OpeningChoice::opened(double seconds, const std::string& pci_address) {
  measured_device_ = {seconds / (1 + openers_), pci_address};
}

void OpeningChoice::measured_cpu(const StreamState& stream) {
  if (!left_ && stream.finished >= kFewestPairs)
    measured_.cpu_pair = stream.elapsed / static_cast<double>(stream.finished);
}

/* Where the application is slower than the GPU, the time is only a bound. */
void OpeningChoice::measured_gpu(const StreamState& stream) {
  if (shares_ || stream.finished < kFewestPairs) return;
  const double pair = stream.elapsed / static_cast<double>(stream.finished);
  const bool is_bound = stream.source_pair > kMostOfSource * pair;
  measured_.gpu_pair = is_bound && costs_.gpu_pair > 0 ? std::min(pair, costs_.gpu_pair) : pair;
}

int OpeningChoice::pairs_for_cpu(const StreamState& stream, int least, int64_t room) {
  if (!shares_) {
    if (stream.finished < kPairsOfGpuAlone) return 0;
    measured_gpu(stream);
    idle_ = 1 - stream.busy;
  }
  SharedCosts costs{.cpu_pair = measured_.cpu_pair > 0 ? measured_.cpu_pair : costs_.cpu_pair,
                    .gpu_pair = measured_.gpu_pair,
                    .elapsed = stream.elapsed,
                    .idle = idle_,
                    .least = least,
                    .room = room};
  if (stream.expected) costs.left = std::max<int64_t>(0, *stream.expected - stream.seen);
  const int pairs = vmafx::pairs_for_cpu(costs);
  shares_ |= pairs > 0;
  return pairs;
}

void OpeningChoice::keep() const {
  if (!known_.any() && !measured_device_) return;
  const bool device_is_news = measured_device_ && (is_news(measured_device_->opening, of_device_.opening) ||
                                                   measured_device_->pci_address != of_device_.pci_address);
  const double pairs = static_cast<double>(measured_.pairs), usual = static_cast<double>(costs_.pairs);
  if (!device_is_news && !is_news(measured_.cpu_pair, costs_.cpu_pair) &&
      !is_news(measured_.gpu_pair, costs_.gpu_pair) && !is_news(pairs, usual))
    return;
  const PlanCosts costs = {settled(measured_.cpu_pair, costs_.cpu_pair), settled(measured_.gpu_pair, costs_.gpu_pair),
                           std::llround(settled(pairs, usual))};
  std::optional<DeviceCosts> device = measured_device_;
  if (device && device->pci_address == of_device_.pci_address)
    device->opening = settled(device->opening, of_device_.opening);
  keep_costs(file_, plan_, costs, device_, device ? &*device : nullptr);
}

}  // namespace vmafx
