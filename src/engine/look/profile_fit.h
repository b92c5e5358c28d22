/* Profile fit: registration in one dimension. A profile of the encode is one of the reference's that was moved, scaled,
 * and changed in brightness: dist(x) = gain ref(x + displacement(x)) + level, where the displacement is a line from the
 * picture's first edge to its last. */
#ifndef VMAFX_ENGINE_LOOK_PROFILE_FIT_H
#define VMAFX_ENGINE_LOOK_PROFILE_FIT_H

#include <array>
#include <optional>

#include "engine/look/cell_means.h"

namespace vmafx::look {

/* Displacements at the first and at the last edge, in parts of the picture's size: the content at an edge of the encode
 * lies so much further inside (first > 0, last < 0) or outside in the reference. */
struct Displacement {
  double first = 0, last = 0;
};

struct ProfileFit {
  Displacement at{};
  /* The information in it: the matrix of the normal equations over the residual's variance, first-first, first-last,
   * last-last. */
  double information[3] = {0, 0, 0};
  double residual = 0;  // mean square of what the fit leaves, outliers limited, in levels of 8 bits
  double variance = 0;  // of the encode's profile, likewise
  double band[kProfileBands] = {0, 0};  // residuals of the bands
  double fitted() const { return variance > 0 ? 1 - residual / variance : 0; }
};

/* How to look for a displacement. */
struct Search {
  std::optional<Displacement> guess{};  // looks there, too
  bool far = true;                      // looks anywhere within a quarter of the picture, if nothing near fits
  int begin = 0, end = 0;               // bins of the encode that are compared; the rest are bars
};

/* The fit without a displacement, and the best one that was found. */
struct Registration {
  ProfileFit identity, best;
  /* Mean square of what a moving mean takes from the profiles, the smaller of both pictures': what tells places
   * apart. */
  double detail = 0;
  /* How much better the best fit is than none in the band where that is least. */
  double ratio() const;
  /* Share of the detail that the best fit explains. */
  double explained() const { return detail > 0 ? 1 - best.residual / detail : 0; }
};
Registration register_profiles(const BandProfiles& ref, const BandProfiles& dist, const Search& search);

/* The fit of profiles of few bins, near no displacement. */
ProfileFit register_near(const BandProfiles& ref, const BandProfiles& dist);

}  // namespace vmafx::look

#endif
