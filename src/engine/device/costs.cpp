#include "engine/device/costs.h"

#include <algorithm>
#include <cmath>

namespace vmafx {
namespace {

/* The part of the remaining time that opening must gain. */
constexpr double kWorthwhile = 0.02;

constexpr double kProcessorsOfGpu = 64;

/* The CPU helps if it makes the stream faster by a sixteenth, has most processors idle, and is not late at the end by
 * more than a fiftieth of the time. */
constexpr double kLeastHelp = 1.0 / 16, kLeastIdle = 0.5, kMostLate = 0.02;

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
  const double opening = costs.opening * (1 + costs.openers);
  if (on_cpu <= opening) return -costs.closing;
  const double left_then = (on_cpu - opening) / costs.cpu_pair;
  return on_cpu - (opening + left_then * time_on_gpu(costs) + costs.closing);
}

bool pays_to_open(const StreamCosts& costs) {
  return gain_of_opening(costs) > kWorthwhile * static_cast<double>(pairs_left(costs)) * costs.cpu_pair;
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
