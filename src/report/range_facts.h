/* RangeFacts: the key `range` of a report, by which reports of neighbouring ranges can be merged. */
#ifndef VMAFX_REPORT_RANGE_FACTS_H
#define VMAFX_REPORT_RANGE_FACTS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "kernels/stream_sums.h"

namespace vmafx {

/* A pair at an end of a range or just outside of it: hashes of what metrics read of its pictures. */
struct BorderPair {
  int64_t number = 0;
  std::optional<double> time{};
  uint64_t ref = 0, dist = 0;
};

/* The sums that a value of the stream is made of, for a metric's ExtractorInfo::stream_value. */
struct ValueSums {
  std::string key{}, metric{};
  std::vector<StreamSums> planes{};
};

struct RangeFacts {
  std::string given{};  // as it was given
  bool by_time = false;
  std::string from{}, to{};                         // its ends as JSON writes them
  bool begins_stream = false, ends_stream = false;  // it holds the stream's first pair, and its last
  int64_t first = 0, frames = 0;                    // the number of the first pair in it, and how many there are
  std::optional<double> counted_from{};             // the time of the pair with number 0
  int before = 0, after = 0;                        // pairs around it that its scores may depend on
  std::vector<BorderPair> pairs{};
  std::vector<int64_t> keyframes{};  // where windows begin with key frames: the distorted ones in it
  std::vector<ValueSums> sums{};     // of the values of the stream
  Json look{};                       // where pictures were looked at: by what a merge joins what was found
  Json format = Json::object(), options = Json::object();
};

Json range_json(const RangeFacts& range);

}  // namespace vmafx

#endif
