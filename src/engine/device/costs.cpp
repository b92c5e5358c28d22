#include "engine/device/costs.h"

#include <algorithm>
#include <cmath>

namespace vmafx {
namespace {

/* The part of the remaining time that opening must gain. */
constexpr double kWorthwhile = 0.02;

constexpr double kProcessorsOfGpu = 64;

/* How many times as long opening takes beside processes that keep the processors busy: 16 of one thread had scored 52
 * pairs each on 16 processors, in four times what opening takes alone, before a GPU was open (docs/gpu-results.md). */
constexpr double kBesideOthers = 4;

/* The CPU helps if it makes the stream faster by a quarter (by an eighth, it took processors from those that copy pairs
 * for the GPU, and a twelfth was lost), has most processors idle, and is not late at the end by
 * more than a fiftieth of the time. */
constexpr double kLeastHelp = 1.0 / 4, kLeastIdle = 0.5, kMostLate = 0.02;

/* The CPU leaves pairs to a GPU that takes this part of its time for them, if the application brings them in so many
 * times the GPU's time. */
constexpr double kFast = 1.0 / 4, kSourceOfFast = 2;

}  // namespace

int64_t pairs_left(const StreamCosts& costs) {
  if (costs.expected) return std::abs(*costs.expected - costs.seen);
  return costs.usual > costs.seen ? costs.usual - costs.seen : costs.seen;
}

double time_on_gpu(const StreamCosts& costs) {
  return std::max(costs.gpu_pair * (1 + costs.users + costs.openers), costs.source_pair - costs.relief);
}

double gain_of_opening(const StreamCosts& costs) {
  const double on_cpu = static_cast<double>(pairs_left(costs)) * costs.cpu_pair;
  const double opening = costs.opening * std::max(costs.openers + 1.0, costs.few_threads ? kBesideOthers : 1);
  if (on_cpu <= opening) return -costs.closing;
  const double left_then = (on_cpu - opening) / costs.cpu_pair;
  return on_cpu - (opening + left_then * time_on_gpu(costs) + costs.closing);
}

bool pays_to_open(const StreamCosts& costs) {
  return gain_of_opening(costs) > kWorthwhile * static_cast<double>(pairs_left(costs)) * costs.cpu_pair;
}

bool leaves_to_gpu(const StreamCosts& costs, const Opening& opening) {
  const bool is_known = costs.cpu_pair > 0 && costs.gpu_pair > 0 && costs.opening > 0;
  const bool is_alone = costs.openers == 0 && costs.users == 0;
  if (!is_known || !is_alone || costs.few_threads || opening.lasts >= 2 * costs.opening) return false;
  if (costs.gpu_pair > kFast * costs.cpu_pair || costs.source_pair > kSourceOfFast * costs.gpu_pair) return false;
  const bool has_length = opening.ends || costs.expected || costs.usual > costs.seen;
  if (!has_length) return false;
  const auto left = static_cast<double>(opening.waiting + (opening.ends ? 0 : pairs_left(costs)));
  return left * costs.cpu_pair > std::max(costs.opening - opening.lasts, 0.0) + left * costs.gpu_pair;
}

double guess_gpu_pair(double cpu_pair, int threads) {
  return cpu_pair * std::min(1.0, std::max(threads, 1) / kProcessorsOfGpu);
}

int pairs_for_cpu(const SharedCosts& costs) {
  if (costs.cpu_pair <= 0 || costs.gpu_pair <= 0 || costs.idle < kLeastIdle) return 0;
  if (costs.gpu_pair < kLeastHelp * costs.cpu_pair) return 0;
  const double takes = costs.least * costs.cpu_pair;
  if (takes / costs.gpu_pair + costs.least > static_cast<double>(costs.room)) return 0;
  if (!costs.left) return takes <= kMostLate * costs.elapsed ? costs.least : 0;
  const double rest = (static_cast<double>(*costs.left) - costs.least) * costs.gpu_pair;
  return takes <= rest ? costs.least : 0;
}

}  // namespace vmafx
