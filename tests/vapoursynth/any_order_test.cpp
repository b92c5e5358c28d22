/* Scores in any order: whatever was asked for before, and by however many threads, they are those of the whole clip. */
#include "vapoursynth/any_order.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/support/check_main.h"
#include "tests/support/stream.h"
#include "vapoursynth/names.h"
#ifdef ON_EMULATOR
#include "tests/support/device.h"
#endif

using namespace vmafx::test;
using vapoursynth::AnyOrder;
using vapoursynth::Pair;
using vapoursynth::Picture;
using vapoursynth::Settings;

namespace {

/* Metrics that read no other pair; those that read the one before and after; up to 3 and 4 before; 6 before. */
constexpr const char* kFeatures[] = {
    "name=psnr|name=ssimulacra2", "name=motion|name=vif", "name=xpsnr|name=speed_temporal",
    "name=motion:motion_five_frame_window=true:motion_moving_average=true", "name=cvvdp:fps=24"};

#ifdef ON_EMULATOR
constexpr int kFrames = 12;
constexpr const char* kBackend = "hip";
#else
constexpr int kFrames = 17;
constexpr const char* kBackend = "cpu";
#endif

StreamOptions stream() {
  StreamOptions options;
  options.ref.height = options.dist.height = 96;  // speed_temporal needs 80
  options.frames = kFrames;
  return options;
}

std::unique_ptr<AnyOrder> opened(const std::string& feature, int64_t frames = kFrames) {
#ifdef ON_EMULATOR
  use_emulator();
#endif
  Settings settings;
  settings.options = {{"model", ""}, {"feature", feature}, {"check", "off"}, {"backend", kBackend}};
  settings.ref = stream().ref;
  settings.dist = stream().dist;
  std::string message;
  auto scores = AnyOrder::open(std::move(settings), frames, &message);
  ck_assert_msg(scores != nullptr, "%s", message.c_str());
  return scores;
}

FrameScores scored(AnyOrder& scores, int64_t frame) {
  std::vector<Pair> pairs;
  for (int64_t n = scores.first_for(frame); n <= scores.last_for(frame); n++)
    pairs.push_back({Picture(make_picture(stream(), static_cast<int>(n), false)),
                     Picture(make_picture(stream(), static_cast<int>(n), true))});
  std::string message;
  const auto* const found = scores.score(frame, std::move(pairs), &message);
  ck_assert_msg(found != nullptr, "frame %d: %s", static_cast<int>(frame), message.c_str());
  FrameScores values;
  for (const auto& [key, value] : *found) values[*key] = value;
  return values;
}

std::vector<FrameScores> of_whole_clip(const std::string& feature) {
  const Outcome outcome = run_stream(cpu_params("", feature.c_str()), stream());
  ck_assert_msg(outcome.error == 0, "%s", outcome.log.c_str());
  return outcome.frames;
}

std::vector<int> frames_in_order() {
  std::vector<int> order(kFrames);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

START_TEST(scores_are_those_of_the_whole_clip_in_any_order) {
  const char* const feature = kFeatures[_i];
  const std::vector<FrameScores> whole = of_whole_clip(feature);
  std::vector<std::vector<int>> orders(3, frames_in_order());
  std::ranges::reverse(orders[1]);
  std::ranges::shuffle(orders[2], std::mt19937(static_cast<unsigned>(_i)));
#ifdef ON_EMULATOR
  if (!test_all()) orders.erase(orders.begin(), orders.begin() + 2);
#endif
  for (const std::vector<int>& order : orders) {
    const auto scores = opened(feature);
    for (const int frame : order)
      ck_assert_msg(scored(*scores, frame) == whole[static_cast<size_t>(frame)], "%s: frame %d differs", feature,
                    frame);
  }
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

START_TEST(threads_get_the_same_scores) {
  const char* const feature = kFeatures[_i];
  const std::vector<FrameScores> whole = of_whole_clip(feature);
  const auto scores = opened(feature);
  std::atomic<int> next = 0;
  std::vector<FrameScores> got(kFrames);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&] {
      for (int frame; (frame = next++) < kFrames;) got[static_cast<size_t>(frame)] = scored(*scores, frame);
    });
  for (std::thread& thread : threads) thread.join();
  for (int frame = 0; frame < kFrames; frame++)
    ck_assert_msg(got[static_cast<size_t>(frame)] == whole[static_cast<size_t>(frame)], "%s: frame %d differs", feature,
                  frame);
}
END_TEST

/* A clip that is played submits each pair once; a frame elsewhere takes those before it. */
START_TEST(playing_scores_each_pair_once) {
  const auto scores = opened(kFeatures[1]);
  for (int frame = 0; frame < 4; frame++) scored(*scores, frame);
  ck_assert_int_eq(scores->first_for(9), 8);
  ck_assert_int_eq(scores->last_for(9), 10);
  ck_assert_int_eq(scores->last_for(kFrames - 1), kFrames - 1);
  ck_assert(scores->known(3) && !scores->known(9));
  ck_assert_int_eq(scores->pairs_submitted(), 5);
  scored(*scores, 9);
  ck_assert_int_eq(scores->pairs_submitted(), 8);
}
END_TEST

/* A plane is missing; the next request opens another context. */
START_TEST(failures_are_told_to_who_asked) {
  const auto scores = opened(kFeatures[0]);
  std::vector<Pair> pairs;
  pairs.push_back({Picture(VmafxPicture{}), Picture(VmafxPicture{})});
  std::string message;
  ck_assert(!scores->score(3, std::move(pairs), &message));
  assert_contains(message, "plane");
  ck_assert(scored(*scores, 3) == of_whole_clip(kFeatures[0])[3]);
}
END_TEST

START_TEST(clips_that_cannot_be_scored_are_refused) {
  const auto refusal = [](const char* model, const char* feature, int width) {
    Settings settings;
    settings.options = {{"model", model}, {"feature", feature}, {"check", "off"}};
    settings.ref = settings.dist = stream().ref;
    settings.dist.width = width;
    std::string message;
    ck_assert(!AnyOrder::open(std::move(settings), 1, &message));
    return message;
  };
  assert_contains(refusal("vmaf_v7", "", 96), "vmaf_v7");
  assert_contains(refusal("", "name=psnr", 94), "94");
  assert_contains(refusal("", "name=cvvdp", 96), "fps");
}
END_TEST

START_TEST(one_frame_is_a_clip) {
  const auto scores = opened(kFeatures[4], 1);
  StreamOptions still = stream();
  still.frames = 1;
  ck_assert(scored(*scores, 0) == run_stream(cpu_params("", kFeatures[4]), still).frames[0]);
}
END_TEST

START_TEST(keys_become_properties) {
  assert_text_eq(vapoursynth::property_of("vmaf_v0.6.1-neg"), "vmaf_v0_6_1_neg");
  assert_text_eq(vapoursynth::property_of("4k"), "_4k");
  ck_assert_int_eq(vapoursynth::other_properties_of("ssimulacra2").size(), 2);
  ck_assert_int_eq(vapoursynth::other_properties_of("psnr_y").size(), 0);
}
END_TEST

int main() {
  constexpr int kSets = std::size(kFeatures);
  std::vector<NamedTest> tests = {{"playing", playing_scores_each_pair_once},
                                  {"failures", failures_are_told_to_who_asked},
                                  {"refusals", clips_that_cannot_be_scored_are_refused},
                                  {"one_frame", one_frame_is_a_clip},
                                  {"keys", keys_become_properties}};
  for (int i = 0; i < kSets; i++) {
    tests.push_back({"any_order", scores_are_those_of_the_whole_clip_in_any_order, i});
    tests.push_back({"threads", threads_get_the_same_scores, i});
  }
  return run_suite("any_order", tests);
}
