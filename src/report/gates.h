/* Gates: the least that pooled scores may be (warn_below, fail_below). */
#ifndef VMAFX_REPORT_GATES_H
#define VMAFX_REPORT_GATES_H

#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "report/pool_windows.h"

namespace vmafx {

class Gates {
 public:
  /* `|`-separated: NUMBER is for every model, KEY=NUMBER for the score that reports call KEY. "" has none. `option` is
   * what messages call them. EINVAL: no number. */
  static StatusOr<Gates> parse(const char* option, const std::string& text);

  bool any() const { return !asked_.empty(); }

  /* Looks the keys up in those of the score table; `models` are the columns of the models. EINVAL: there is no such
   * score, or a NUMBER and no model. */
  Status resolve(std::span<const std::string> keys, std::span<const int> models);

  /* "vmaf is 71.203312, below 80; …", or "" where no score is too low. Scores that are not there are not. */
  std::string complaint(const PooledFrames& pooled) const;

 private:
  struct Asked {
    std::string key;  // "": every model
    double least;
  };
  struct Gate {
    int column;
    std::string key;
    double least;
  };

  const char* option_ = "";
  std::vector<Asked> asked_;
  std::vector<Gate> gates_;
};

}  // namespace vmafx

#endif
