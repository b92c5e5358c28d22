/* What there is to say of a run besides its scores: the session collects it, here it becomes lines of the log, the key
 * `vmafx` of reports and, with pairing.h, those of an encode. */
#ifndef VMAFX_REPORT_RUN_FACTS_H
#define VMAFX_REPORT_RUN_FACTS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "base/status.h"
#include "report/pairing.h"
#include "report/score_facts.h"

namespace vmafx {

/* When the GPU failed in mid-stream: its frames from here on are not its own. */
struct Handover {
  int64_t frame;
  Status reason;
  int encode = 0;
};

/* What the CPU twins said of the GPU's sums. */
struct Verification {
  int64_t frames = 0;
  double largest_difference = 0;  // of two raw sums, relative to the larger
};

/* How the pictures of one input came to where the metrics run. */
struct FrameCounts {
  int64_t imported = 0;  // read in the GPU's memory where they lay
  int64_t uploaded = 0;
  int64_t downloaded = 0;
};

struct RunFacts {
  struct Model {
    std::string key;      // of its score in reports
    std::string version;  // "vmaf_v0.6.1", or the name of its file
  };
  struct Metric {
    std::string name;  // "vif", "adm", or with options in the key "vif_egl_1"
    bool on_device;
  };
  std::vector<Model> models{};
  std::vector<Metric> metrics{};
  std::string device{};    // the GPU; "" if there is none
  std::string fallback{};  // why `auto` runs on the CPU
  int threads = 0;
  int n_subsample = 1;
  FrameCounts ref{}, dist{};
  bool in_gpu_memory = false;         // the pictures of some input, or copies of them
  std::optional<int64_t> takeover{};  // the first frame that was the GPU's; those before are the CPU's
  std::optional<Handover> handover{};
  int verify = 0;
  Verification verification{};
  std::vector<ScoreFacts> scores{};
  std::optional<Pairing> pairing{};
};

/* Which features run where, at the beginning and where the GPU takes over: of interest to the user only where there was a choice. */
void log_beginning(const RunFacts& run, Log& log);
void log_end(const RunFacts& run, Log& log);

/* {"vmafx": {…}, "pairing": {…}, "doubts": […], "warnings": […]}; all but the first are of an encode. */
Json report_extras(const std::string& version, const RunFacts& run);

}  // namespace vmafx

#endif
