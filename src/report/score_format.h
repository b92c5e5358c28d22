/* How scores are printed in reports. */
#ifndef VMAFX_REPORT_SCORE_FORMAT_H
#define VMAFX_REPORT_SCORE_FORMAT_H

#include <string>

#include "base/status.h"

namespace vmafx {

/* `value` with a fixed number of decimals, like printf's %.*f but with a point in every locale. */
std::string fixed_text(double value, int decimals);

/* A score as logs say it: six decimals, or "nan", "inf", "-inf". */
std::string score_text(double score);

class ScoreFormat {
 public:
  ScoreFormat() = default;  // libvmaf's: "%.6f", or "%.16f" when the fraction is neither 0 nor at least about 1e-6

  static ScoreFormat exact();  // all digits of a double

  /* A printf format of one double, "%.17g": `%`, flags, width, precision (at most two digits each), one of aefgAEFG,
   * and nothing else. "" is the default. EINVAL otherwise, and when `json` and it can print what is no JSON number. */
  static StatusOr<ScoreFormat> parse(const std::string& text, bool json);

  /* "nan", "inf" or "-inf" if it is not finite. */
  std::string print(double score) const;

 private:
  std::string printf_format_;  // "": the default
};

}  // namespace vmafx

#endif
