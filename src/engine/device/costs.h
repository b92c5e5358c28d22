/* Costs: what a stream costs on the CPU and on the GPU, and what follows: whether a GPU that opens beside the stream
 * pays, and whether the CPU should go on beside it. Functions of their arguments alone; engine/device/opening_choice.h
 * has the state, engine/device/known_costs.h what earlier sessions measured. */
#ifndef VMAFX_ENGINE_COSTS_H
#define VMAFX_ENGINE_COSTS_H

#include <cstdint>
#include <optional>

namespace vmafx {

/* Seconds of wall time that opening a GPU takes, and giving it back, where nothing was measured (docs/gpu-results.md).
 */
inline constexpr double kUsualOpening = 0.5, kUsualClosing = 0.05;

/* Times are in seconds of wall time. A pair is a picture of the reference with those of all its encodes. */
struct StreamCosts {
  double cpu_pair = 0;     // while the CPU scores alone
  double gpu_pair = 0;     // while the GPU scores, and no other process uses it
  double source_pair = 0;  // the time that the application takes to bring a pair
  double relief = 0;       // how much less it takes while the CPU does not score
  double opening = kUsualOpening;
  double closing = kUsualClosing;
  int64_t seen = 0;                   // pairs that came so far
  std::optional<int64_t> expected{};  // pairs of the whole stream
  int64_t usual = 0;                  // pairs of streams like this one; 0: not known
  int users = 0;                      // other processes that use the GPU
  int openers = 0;                    // other processes that open it, and began before this one
  bool few_threads = false;           // the stream may use less than half of the processors: others use the rest
};

/* The pairs to come. A stream whose length is not known is taken to be as long as usual ones; one that is longer, to go
 * on for as long as it has gone on. */
int64_t pairs_left(const StreamCosts& costs);

/* The time for a pair on a GPU which is open, beside other processes. */
double time_on_gpu(const StreamCosts& costs);

/* How much sooner the stream ends if the GPU begins to open now. Drivers open the GPU for one process after the other.
 * Negative: later. */
double gain_of_opening(const StreamCosts& costs);

/* True if the gain is worth a start of the driver: a fiftieth of what is left. */
bool pays_to_open(const StreamCosts& costs);

/* The time for a pair on the GPU before anybody measured it: a GPU is worth about 64 processors. */
double guess_gpu_pair(double cpu_pair, int threads);

/* How far a GPU is that opens. */
struct Opening {
  double lasts = 0;     // seconds since it began
  int64_t waiting = 0;  // pairs that came and are not scored
  bool ends = false;    // no other pairs come
};

/* Whether the CPU leaves the pairs that wait to the GPU. What it would score until then is little, makes the opening
 * last longer, and is late where the GPU is done with the rest (docs/gpu-results.md). All times must be measured ones;
 * never for twice as long as the opening is known to last, and never in a process of few threads: those hold an opening
 * up by little, and others may. */
bool leaves_to_gpu(const StreamCosts& costs, const Opening& opening);

/* The CPU's side of a stream that a GPU scores. */
struct SharedCosts {
  double cpu_pair = 0, gpu_pair = 0;  // each alone
  double elapsed = 0;                 // since the GPU took over
  std::optional<int64_t> left{};      // pairs to come, if known
  double idle = 0;                    // the share of the processors that nobody uses
  int least = 1;                      // pairs that the CPU should have at once, or it waits for itself
  int64_t room = 0;                   // pairs that can be finished before the oldest one is
};

/* How many pairs in a row the CPU takes while the GPU scores others; 0: none, since it would be late with them, or gain
 * too little. */
int pairs_for_cpu(const SharedCosts& costs);

}  // namespace vmafx

#endif
