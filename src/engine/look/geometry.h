/* Geometry: which part of the reference the encode shows, and which way round. Symmetries are told by the means of
 * cells; crops, borders, scales and shifts by profiles of columns and rows, in one of kDetailPeriod frames. Frames at
 * which a neighbour in time fits better than the frame's own reference say nothing of geometry, as pans look like
 * shifts. What holds for a part of the stream alone is found there (local.h). */
#ifndef VMAFX_ENGINE_LOOK_GEOMETRY_H
#define VMAFX_ENGINE_LOOK_GEOMETRY_H

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "engine/look/cell_means.h"
#include "engine/look/chapters.h"
#include "engine/look/finding.h"
#include "engine/look/profile_fit.h"

namespace vmafx::look {

class Geometry {
 public:
  explicit Geometry(const VideoFormat& format);
  void add(int64_t frame, const SignatureSums& sums, const PairMeans& means);
  std::vector<Finding> finish();

  /* Whether cells of luma show, in these pairs, that both pictures are of the same, in some symmetry; true of pictures
   * that tell nothing. */
  bool belong(const Pairs& pairs) const { return are_same(sums_of(pairs)); }

  /* Whether the encode follows next to nothing of what moves, in these pairs. */
  bool stands_still(const Pairs& pairs) const { return is_still(sums_of(pairs)); }

  /* The length of chapters: the places of local findings are as exact. */
  int64_t chapter_length() const { return chapters_.length(); }

  static constexpr int kSymmetries = 8;
  enum Axis { kX, kY, kAxes };
  /* Displacements of the edges in samples: of x the first and the last one, then of y. */
  using Edges = std::array<double, 4>;

 private:
  /* Means of the reference in a frame, kept while it is the neighbour of one that waits. */
  struct Kept {
    int64_t frame;
    LumaMeans ref;
  };
  /* A frame with profiles waits until its neighbours are there. */
  struct Waiting {
    int64_t frame;
    LumaMeans dist{};
    BandProfiles ref[kAxes]{}, encode[kAxes]{};
  };
  /* What a frame with profiles says. */
  struct Detail {
    int64_t frame;
    Registration axis[kAxes]{};
    double place = 1;     // place_ratio()
    bool tells = true;    // no: it may be time that looks like geometry
    bool drifts = false;  // the reference itself goes along that displacement, slowly
  };
  /* Black bars of both pictures on one axis, in samples: the narrowest ones of all frames that have content. */
  struct Bars {
    int frames = 0;
    double ref[2] = {1e9, 1e9}, dist[2] = {1e9, 1e9};  // at the first and the last edge
    double most[2] = {0, 0};                           // likewise of the encode the widest ones
    double lost = 0;  // levels above black of the reference below the encode's bars, summed
    bool last() const { return most[0] - dist[0] < 4 && most[1] - dist[1] < 4; }
    bool in_ref() const { return frames && ref[0] + ref[1] > 0; }
    bool in_dist() const { return frames && dist[0] + dist[1] > 0; }
    void add(const Bars& later);
  };
  /* Sums over frames. */
  struct Sums {
    Bars bars[kAxes];
    int64_t moving = 0, still = 0;  // frames with detail where the reference moves, and where the encode does not
    double rows[2] = {0, 0};        // sums of differences of rows: reference, encode
    /* Sums over frames of what a symmetry leaves of the encode's variance, and votes. */
    double left[kSymmetries] = {}, variance = 0;
    int64_t votes[kSymmetries] = {}, voters = 0, identity_fits = 0;
    void add(const Sums& later);
  };
  /* What all frames say of one axis. */
  struct Joint {
    double first = 0, last = 0;     // samples
    double error = 0;               // of these, one standard deviation
    double ratio = 1;               // what no displacement leaves over what the best one leaves, geometric mean
    double fitted = 0;              // share of the variance that the displacement explains
    double explained = 0;           // share of the detail
    double place = 1;               // place_ratio(), geometric mean
    int64_t frames = 0, agree = 0;  // that tell, and of these those that agree
    int64_t drift = 0;              // of those that agree
    int64_t begin = 0, end = 0;     // frames
    bool grows = false;             // the first frame, which lags behind none, is not displaced
  };

  void see_pace(int64_t frame, const PairMeans& means, Sums& sums);
  static void add_symmetries(const LumaMeans& ref, const LumaMeans& dist, Sums& sums);
  void register_waiting();
  Edges edges_of(const Registration* axes) const;
  bool drifts(const Waiting& waiting, const Detail& detail) const;
  bool time_explains(const Waiting& waiting, const Detail& detail) const;
  std::optional<Edges> motion_around(int64_t frame) const;
  double place_ratio(const Waiting& waiting, const Detail& detail) const;
  double black() const;
  void see_bars(const Waiting& waiting);
  void keep(Detail&& detail);
  bool find_symmetry(std::vector<Finding>& findings) const;
  static bool are_same(const Sums& sums);
  static bool is_still(const Sums& sums);
  Sums sums_of(const Pairs& pairs) const;
  Geometry part_of(size_t first, size_t end) const;
  std::vector<Finding> judge() const;
  bool denies(size_t chapter, Kind kind) const;
  bool is_in_place(const Pairs& pairs) const;
  int size(int axis) const { return axis == kX ? means_.format().w : means_.format().h; }
  struct Told;
  std::vector<Told> told_of(int axis) const;
  Joint joined(int axis) const;
  static bool is_settled(const Joint& axis);
  std::optional<Certainty> certainty_of(const Joint& axis, const Joint& other) const;
  void find_bars(std::vector<Finding>& findings) const;
  struct Number;
  void add_padding(int axis, bool told, std::vector<Number>& numbers) const;
  void add_displacement(int axis, const Joint& joint, Certainty certainty, std::vector<Number>& numbers) const;
  Finding finding_of(Kind kind, const std::vector<Number>& numbers) const;
  void find_parts(std::vector<Finding>& findings) const;
  Finding finding(Kind kind, Certainty certainty) const;

  CellMeans means_;
  bool fit_for_;
  int64_t start_ = -1;              // of the stream
  int64_t first_ = -1, last_ = -1;  // what is judged
  int64_t added_ = 0;
  Chapters<Sums> chapters_;
  Sums sums_;  // of what is judged

  std::deque<Kept> kept_;
  std::optional<Waiting> waiting_;
  BandProfiles ref_before_[kAxes];  // of the frame with detail before
  std::optional<Displacement> guess_[kAxes];
  std::vector<Detail> details_;
  int64_t details_seen_ = 0, stride_ = 1;  // one in `stride_` of the frames with profiles is registered
  int64_t next_far_ = 0, far_pause_ = 1;   // frames with profiles until the next search far away
  /* The means of pairs kNeighbours before one with detail, and just before it. */
  struct Pace {
    int64_t frame = -1;
    PairMeans means{};
  };
  Pace earlier_, before_;
};

}  // namespace vmafx::look

#endif
