/* A stream of pictures: a context of vmafx, which is opened when the first pair says what its format is. */
#ifndef COMPAT_LIBVMAF_STREAM_H
#define COMPAT_LIBVMAF_STREAM_H

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compat/libvmaf/abi.h"
#include "compat/libvmaf/pictures.h"
#include "compat/libvmaf/scores.h"
#include "compat/libvmaf/settings.h"
#include "vmafx/vmafx.h"

namespace compat {

struct CloseContext {
  void operator()(VmafxContext* context) const { vmafx_close(&context); }
};

/* Takes the references to a pair's pictures that the program hands over. */
class Pair {
 public:
  Pair(VmafPicture* ref, VmafPicture* dist) : ref_(take(ref)), dist_(take(dist)) {}
  ~Pair();
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  int check() const;  // EINVAL: they are none, or not of one format
  const VmafPicture& ref() const { return ref_.picture; }
  VmafxColor ref_color() const { return color_of(ref_); }
  VmafxColor dist_color() const { return color_of(dist_); }
  int submit(VmafxContext* context);  // the context owns the pictures from then on
  Pair again() const;                 // further references to the same pictures, of a pair that check() has passed

 private:
  Pair(const Taken& ref, const Taken& dist) : ref_(ref), dist_(dist) {}
  static VmafxColor color_of(const Taken& taken);

  Taken ref_, dist_;
};

class Stream {
 public:
  /* `features`: values of the option `feature`, one in each element. */
  Stream(const VmafConfiguration& configuration, const Settings& settings)
      : asked_(configuration), settings_(settings) {}

  bool began() const { return !indices_.empty(); }
  unsigned width() const { return format_.pic_params.w; }
  unsigned height() const { return format_.pic_params.h; }
  double frames_per_second() const;
  const std::vector<VmafxScore>& aggregates() const { return aggregates_; }

  /* The next pair. Without features there is nothing to compute. */
  int read(Pair& pair, unsigned index, const std::string& features, Scores* scores);

  /* No more pairs come: all scores are there afterwards. */
  int flush(Scores* scores);

  /* Takes what is ready; waits for the scores of `index` as long as they need no later picture. */
  int collect(Scores* scores, std::optional<unsigned> index = std::nullopt);

  /* EINVAL, and the log says why: no context can be opened with these features. */
  static int check(const std::string& features);

  /* Whether two lists of features, each of which check() has passed, would write one key with different options: in
   * these words; "" if not. */
  static std::string contradiction(const std::string& features, const std::string& others);

 private:
  int begin(const Pair& pair, const std::string& features);
  int check_next(const VmafPicture& ref, unsigned index) const;
  int take(const VmafxFrameResult& result, Scores* scores);

  const VmafConfiguration asked_;
  const Settings settings_;
  VmafPictureConfiguration format_{};                    // pic_params; of the first pair
  bool on_gpu_ = false;                                  // the pictures are in a GPU's memory
  std::unique_ptr<VmafxContext, CloseContext> context_;  // null where there are no features
  std::vector<unsigned> indices_;  // indices of the pairs that were read, by the numbers that vmafx counts
  size_t taken_ = 0;               // results
  std::vector<VmafxScore> aggregates_;
  std::chrono::steady_clock::time_point began_{}, ended_{};
};

}  // namespace compat

#endif
