/* EncodeLook: looks at the pictures of an encode beside its scores (engine/look/). Signatures of luma come from the
 * pipeline. Chroma is summed up here where the pictures lie in host memory, so that no plane is converted for each
 * frame, or taken to a GPU, for the look alone; pictures in a GPU's memory have chroma if metrics read it there. */
#ifndef VMAFX_ENGINE_ENCODE_LOOK_H
#define VMAFX_ENGINE_ENCODE_LOOK_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <span>
#include <vector>

#include "base/json.h"
#include "engine/frames/input_format.h"
#include "engine/frames/pictures.h"
#include "engine/frames/pipeline.h"
#include "engine/look/look.h"
#include "engine/look/told_finding.h"
#include "engine/look_thread.h"
#include "kernels/signature/signature.h"

namespace vmafx {

class EncodeLook {
 public:
  /* `thread` has been started; `extractor`: the place of the signatures among a frame's sums. */
  EncodeLook(LookThread& thread, size_t extractor, const VideoFormat& format, const InputFormat& ref,
             const InputFormat& dist);

  /* Takes the pictures of the next pair of the range, before its sums. */
  void meet(int64_t number, HeldPicture& ref, HeldPicture& dist);

  /* Takes the sums of the next pair of the range, and has them looked at later, or by now where it tells early. */
  Status add(int64_t number, const FinishedFrame& finished);

  /* Has it tell of what it is sure while pairs come. Before the first pair. */
  void tell_early() { tells_early_ = true; }

  /* The findings that are sure of a pair by the pairs before it, as of a run that had ended after a whole group of
   * kDetailPeriod pairs, as far as they lasted until there: the last one of the first 16 groups, later one that at most
   * an eighth of the groups have followed, and at most 16. Later pairs may take them back. Nothing without
   * tell_early(). They are the same in each run, however its frames overtake one another. */
  std::span<const look::ToldFinding> sure_before(int64_t number) const;

  /* The findings that are sure since the last pair that was added, each kind once in a stream. */
  std::span<const look::ToldFinding> newly_sure() const { return newly_sure_; }

  /* Forgets what was sure before earlier pairs. */
  void forget_before(int64_t number);

  /* Ends the stream: the findings are complete afterwards. */
  Status finish();

  /* By kinds and places; they stay where they are. */
  std::span<const look::ToldFinding> findings() const { return findings_; }

  /* The key `look` of a range: its breaks, the fits of its first and last pairs, its brief findings, after finish(). */
  Json range_facts() const;

 private:
  /* A picture's chroma, in detail. */
  struct ChromaSums {
    decltype(PictureSignature::chroma) cells;
    decltype(PictureSignature::chroma_profiles) profiles;
  };

  struct Chroma {
    int64_t number;
    ChromaSums ref, dist;
  };

  /* What was sure from a pair on. */
  struct Sure {
    int64_t from;
    std::vector<look::ToldFinding> findings;
  };

  void add_sums(int64_t number, const FinishedFrame& finished);
  static void put(const ChromaSums& sums, PictureSignature& picture);
  void see_so_far(int64_t end);
  bool sum_chroma(HostReader& reader, HeldPicture& held, ChromaSums& sums) const;

  LookThread& thread_;
  const size_t extractor_;
  HostReader ref_reader_, dist_reader_;  // read chroma alone
  std::deque<Chroma> chroma_;            // of frames with detail whose sums are yet to come
  look::Look look_;                      // the thread's, until it is drained
  std::vector<look::ToldFinding> findings_;
  bool tells_early_ = false;
  int64_t groups_ = 0, next_seen_ = 1;  // whole groups of kDetailPeriod pairs so far, and with the next look back
  std::deque<Sure> sure_;               // by pairs
  std::vector<look::ToldFinding> newly_sure_;
  std::set<look::Kind> told_;
};

}  // namespace vmafx

#endif
