/* RunFacts: how a session computed its scores. The session collects them; they become lines of the log and the key
 * `vmafx` of reports. */
#ifndef VMAFX_ENGINE_RUN_FACTS_H
#define VMAFX_ENGINE_RUN_FACTS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "engine/frames/pipeline.h"
#include "report/score_facts.h"

namespace vmafx {

/* The pictures of one input, or of all encodes, by the way they took. */
struct FramesMoved : FrameCounts {
  int64_t downloaded = 0;  // from the GPU's memory
};

struct RunFacts {
  struct Model {
    std::string key;      // of its score in reports
    std::string version;  // "vmaf_v0.6.1", or the name of its file
    std::string sha256;   // of its file
  };
  struct Metric {
    std::string name;  // "vif", "adm", or with options in the key "vif_egl_1"
    bool on_device;
  };
  std::vector<Model> models{};
  std::vector<Metric> metrics{};
  std::string device{};    // the GPU; "" if there is none
  std::string fallback{};  // why backend=auto runs on the CPU
  int threads = 0;
  int n_subsample = 1;
  FramesMoved ref{}, dist{};
  bool in_gpu_memory = false;         // some input's pictures, or copies of them, lie in a GPU's memory
  std::optional<int64_t> takeover{};  // the first frame that the GPU scored; the CPU scored those before
  std::optional<Handover> handover{};
  int verify = 0;
  Verification verification{};
  std::optional<Json> conversion{};  // the color space that pictures are taken to, and how; nullopt: they are not
  std::vector<ScoreFacts> scores{};
  std::optional<Json> options{};  // those that change scores; nullopt: neither they nor hashes of models are told
};

/* Says where each metric runs, when the stream begins and when a GPU takes over: as information if the session has a
 * GPU, else as a detail. */
void log_beginning(const RunFacts& run, Log& log);

/* Says what verification found, and how many pictures moved between memories. */
void log_end(const RunFacts& run, Log& log);

/* The value of a report's key `vmafx`. `version`: this library's. */
Json run_json(const std::string& version, const RunFacts& run);

}  // namespace vmafx

#endif
