/* Features: Vship's parameters as the option `feature`, and scores under Vship's names. */
#ifndef COMPAT_VSHIP_FEATURES_H
#define COMPAT_VSHIP_FEATURES_H

#include <string>

namespace vship {

inline constexpr char kNoResizing[] =
    "resizeToDisplay: the library does not resize pictures; scale both inputs to the size of the display before";

/* The norms with the exponents 3 and `q`, 1 to 16; intensity 0: that of the transfer function. */
std::string butteraugli_features(int q, double intensity);

/* Takes the scores of butteraugli_features(). */
struct ButteraugliScores {
  double norm3 = 0, norm_inf = 0;

  void take(const std::string& key, double value);
  double norm_q() const { return has_q_ ? q_ : norm3; }

 private:
  bool has_q_ = false;  // no: q is 3
  double q_ = 0;
};

/* A display by its name, "" for the one that suits the video, and the file that describes it, "" for none. */
std::string cvvdp_features(const std::string& display, const std::string& file);

}  // namespace vship

#endif
