/* Another implementation: libvmaf's command line tool `vmaf`, timed on the same clip in a raw file. It runs on the CPU:
 * a tool that was built with CUDA is told to leave the GPU alone. */
#ifndef VMAFX_BENCH_PEER_H
#define VMAFX_BENCH_PEER_H

#include <string>

#include "bench/settings.h"
#include "bench/timing.h"

namespace bench {

struct PeerResult {
  double ms = 0;  // per frame
  FrameScores scores;
};

/* The tool's --cpumask that leaves it the instruction sets of our level of that name; 0: all. */
int peer_mask(const std::string& cpu);

class Peer {
 public:
  /* Writes the clip to a temporary folder, which goes when the Peer goes. */
  Peer(const Settings& settings, const Clip& ref, const Clip& dist);
  ~Peer();
  Peer(const Peer&) = delete;

  /* Start-up is taken out as the difference of a long and a short run, reading as the time of the same runs with the
   * extractor `null`; with threads not, by the clock: reading then overlaps with scoring. */
  PeerResult measure(const std::string& row, int threads, int mask) const;

 private:
  double fastest(const std::string& row, int threads, int mask, int frames) const;  // ms of one run
  FrameScores read_scores() const;
  std::string file(const char* name) const { return folder_ + "/" + name; }

  const Settings& settings_;
  std::string folder_;
  bool takes_gpumask_ = false;  // the tool could take a GPU, which its --cpumask does not prevent
};

struct Verdict {
  bool good;  // no score differs by more than 1e-5 of it, or of 1 where that is less
  std::string text;
};

/* "equal (N)", or what differs. The peer prints six decimals, so equal means equal in these. */
Verdict compare(const FrameScores& ours, const FrameScores& peers);

}  // namespace bench

#endif
