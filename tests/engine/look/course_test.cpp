/* Course: what steps of made-up evidence prove, and what encoders that are short of bits do not. */
#include "engine/look/course.h"

#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::look;
using namespace vmafx::test;

namespace {

constexpr int kFrames = 120;

/* Votes and changes of all frames of a stretch, at their own shift and at another one: 0, or -1 for those at 0. */
struct Told {
  float own = 0.35F, other = 1;          // votes
  float follows = 0, other_follows = 0;  // logarithms of likelihoods of what changes
  float mix = 0;                         // where between the shift and the next one
};

Step step_of(int64_t frame, int shift, const Told& told) {
  Step step;
  FrameEvidence& evidence = step.evidence;
  evidence.frame = frame;
  step.shift = shift;
  evidence.votes.fill(8);
  evidence.changes.fill(10);
  evidence.noise = 1;
  const int own = shift + kMostShift, other = shift ? kMostShift : kMostShift - 1;
  evidence.votes[own] = told.own;
  evidence.votes[other] = told.other;
  evidence.plain = evidence.votes;
  evidence.follows[own] = told.follows;
  evidence.follows[other] = told.other_follows;
  evidence.mix[own] = told.mix;
  return step;
}

/* The findings of frames that are one late. */
std::vector<Finding> late(const Told& told) {
  Course course;
  for (int64_t frame = 0; frame < kFrames; frame++) course.add(step_of(frame, -1, told));
  std::vector<Finding> findings;
  course.finish(&findings);
  return findings;
}

/* The findings of a stream of which six frames stand still, with such an error, where it usually is 10. */
std::vector<Finding> frozen(float error, float votes, int64_t since = 59) {
  Course course;
  for (int64_t frame = 0; frame < kFrames; frame++) {
    Step step = step_of(frame, 0, {.own = 0.05F, .other = 4});
    step.evidence.noise = 10;
    const int64_t behind = frame - since;
    if (behind >= 1 && behind <= 6) {
      step.evidence.plain[kMostShift] = votes;
      step.evidence.plain[kMostShift - behind] = 0.1F * votes;
      step.evidence.error[kMostShift] = error;
    }
    course.add(step);
  }
  std::vector<Finding> findings;
  course.finish(&findings);
  return findings;
}

}  // namespace

/* A codec that lags shows the frame before, but its changes are those of its own frame. */
START_TEST(changes_contradict_votes) {
  const auto certain = [](const std::vector<Finding>& findings) {
    ck_assert_uint_eq(findings.size(), 1);
    ck_assert(findings[0].kind == Kind::kOffset);
    return findings[0].certainty;
  };
  ck_assert(certain(late({})) == Certainty::kLikely);
  ck_assert(late({.other_follows = 3}).empty());
}
END_TEST

/* An encoder that is short of bits draws a change late: where few frames follow, and no other one changes, nothing
 * tells that from a picture that was doubled. */
START_TEST(one_frame_proves_no_brief_place) {
  const auto found = [](int64_t frames, int64_t that_tell, float votes = 5) {
    Course course;
    for (int64_t frame = 0; frame < kFrames; frame++) {
      const int64_t behind = frame - (kFrames - frames);
      const Told still{.own = 0.1F, .other = 0.1F}, told{.own = 0.06F * votes, .other = votes, .follows = 6};
      course.add(behind < 0 ? step_of(frame, 0, {.own = 0.05F, .other = 6})
                            : step_of(frame, -1, behind < that_tell ? told : still));
    }
    std::vector<Finding> findings;
    course.finish(&findings);
    return !findings.empty();
  };
  ck_assert(!found(3, 1));
  ck_assert(found(3, 2));
  ck_assert(found(30, 1));
  ck_assert(!found(3, 1, 10));
  ck_assert(found(3, 1, 22));
}
END_TEST

/* A codec that lags in most frames of a stream where next to nothing moves is one frame late in the mean. */
START_TEST(changes_of_few_frames_are_a_lag) {
  const auto found = [](int64_t each) {
    Course course;
    for (int64_t frame = 0; frame < kFrames; frame++)
      course.add(step_of(frame, -1, {.own = 0.5F, .other = 1, .follows = frame % each ? 0.F : 8.F}));
    std::vector<Finding> findings;
    course.finish(&findings);
    return !findings.empty();
  };
  ck_assert(found(1));
  ck_assert(!found(4));
}
END_TEST

/* The room that ratios have for what lags is no certainty, unless changes agree. */
START_TEST(room_of_a_lag_is_not_sure) {
  const auto certainty_with = [](float follows) {
    Course course;
    for (int64_t frame = 0; frame < kFrames; frame++)
      course.add(frame < kFrames / 2 ? step_of(frame, 0, {.own = 0.05F, .other = 6})
                                     : step_of(frame, 1, {.own = 1.4F, .other = 3, .follows = follows}));
    std::vector<Finding> findings;
    course.finish(&findings);
    ck_assert_uint_eq(findings.size(), 1);
    ck_assert(findings[0].kind == Kind::kDropped);
    return findings[0].certainty;
  };
  ck_assert(certainty_with(0) == Certainty::kLikely);
  ck_assert(certainty_with(12) == Certainty::kSure);
}
END_TEST

/* Frames that fit no shift may hide where an offset began. */
START_TEST(an_offset_is_sure_from_the_first_frames_on) {
  for (const int64_t unknown : {1, 9}) {
    Course course;
    for (int64_t frame = 0; frame < kFrames; frame++)
      course.add(step_of(frame, frame < unknown ? -kMostShift : -1, {.own = 0.05F, .other = 6, .follows = 12}));
    std::vector<Finding> findings;
    course.finish(&findings);
    ck_assert_uint_eq(findings.size(), 1);
    ck_assert(findings[0].kind == Kind::kOffset);
    ck_assert_int_eq(findings[0].from, unknown == 1 ? 0 : unknown);
    ck_assert((findings[0].certainty == Certainty::kSure) == (unknown == 1));
  }
}
END_TEST

/* Frames between two shifts change as both. */
START_TEST(frames_between_shifts_agree_with_both) {
  ck_assert(!late({.own = 0.9F, .other = 1, .follows = 8, .mix = 0.3F}).empty());
  Course course;
  for (int64_t frame = 0; frame < kFrames; frame++)
    course.add(step_of(frame, -1, {.own = 0.9F, .other = 1, .follows = frame % 6 ? 0.F : 12.F, .mix = 0.3F}));
  std::vector<Finding> findings;
  course.finish(&findings);
  ck_assert(findings.empty());
}
END_TEST

/* Frames that an encoder leaves out are neither clear nor far from its usual error. */
START_TEST(frames_left_out_are_no_freeze) {
  ck_assert_uint_eq(frozen(25, 4).size(), 1);
  ck_assert_uint_eq(frozen(45, 1.3F).size(), 1);
  ck_assert(frozen(25, 1.3F).empty());
  ck_assert(frozen(25, 4, 9).empty());  // bits are short at the beginning
  ck_assert_uint_eq(frozen(45, 4, 9).size(), 1);
}
END_TEST

int main() {
  return run_suite("course", {{"contradict", changes_contradict_votes},
                              {"one_frame", one_frame_proves_no_brief_place},
                              {"few_frames", changes_of_few_frames_are_a_lag},
                              {"room", room_of_a_lag_is_not_sure},
                              {"first_frames", an_offset_is_sure_from_the_first_frames_on},
                              {"between", frames_between_shifts_agree_with_both},
                              {"left_out", frames_left_out_are_no_freeze}});
}
