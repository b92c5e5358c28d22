/* Timing: what is found of frames that are missing, repeated or out of order, and that nothing is found where nothing
 * is wrong. Signatures are made of a seeded field of luma that moves, and of noise. */
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "engine/look/timing.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::look;
using namespace vmafx::test;

namespace {

constexpr int kFrames = 200, kMiddle = 101;

using Cell = float[kSignatureRows][kSignatureColumns];

VideoFormat format_of() {
  VideoFormat format;
  format.w = 1920;
  format.h = 1080;
  return format;
}

/* Luma of cells that follow one another smoothly, as a large picture that repeats itself at its edges. */
class Field {
 public:
  explicit Field(unsigned seed) {
    std::mt19937 random(seed);
    std::vector<float> coarse((kSize / kStep) * (kSize / kStep));
    for (float& value : coarse) value = 40 + static_cast<float>(random() % 160);
    for (int y = 0; y < kSize; y++)
      for (int x = 0; x < kSize; x++) values_[static_cast<size_t>(y * kSize + x)] = between(coarse, x, y);
  }

  float at(int x, int y) const { return values_[static_cast<size_t>((y & (kSize - 1)) * kSize + (x & (kSize - 1)))]; }

 private:
  static constexpr int kSize = 256, kStep = 8;

  static float between(const std::vector<float>& coarse, int x, int y) {
    constexpr int n = kSize / kStep;
    const auto value = [&](int i, int j) { return coarse[static_cast<size_t>(j % n * n + i % n)]; };
    const int i = x / kStep, j = y / kStep;
    const float u = static_cast<float>(x % kStep) / kStep, v = static_cast<float>(y % kStep) / kStep;
    return (1 - v) * ((1 - u) * value(i, j) + u * value(i + 1, j)) +
           v * ((1 - u) * value(i, j + 1) + u * value(i + 1, j + 1));
  }

  std::vector<float> values_ = std::vector<float>(kSize * kSize);
};

const Field& field() {
  static const Field made(1);
  return made;
}

/* A frame of a source is a place in it. Places between two frames are mixtures. */
struct Source {
  int x = 0, y = 0, speed_x = 5, speed_y = 3;  // cells per frame, eighths
  int loop = 0;                                // frames after which it begins again; 0: never
  int hold = 1;                                // frames that show one picture
  float contrast = 1;
  int fade = 0;  // frames of a fade from black and back; 0: none

  float cell(int64_t frame, int i, int j) const {
    if (loop) frame %= loop;
    frame = frame / hold * hold;
    const float visible = fade ? std::abs(std::sin(3.1416F * static_cast<float>(frame) / static_cast<float>(fade))) : 1;
    const auto place = [&](int speed) { return static_cast<float>(frame * speed) / 8 + 64; };
    const float at_x = place(speed_x), at_y = place(speed_y);
    const int left = static_cast<int>(at_x), top = static_cast<int>(at_y);
    const float u = at_x - static_cast<float>(left), v = at_y - static_cast<float>(top);
    const auto value = [&](int dx, int dy) { return field().at(x + left + i + dx, y + top + j + dy); };
    const float luma =
        (1 - v) * ((1 - u) * value(0, 0) + u * value(1, 0)) + v * ((1 - u) * value(0, 1) + u * value(1, 1));
    return 120 + (luma - 120) * contrast * visible;
  }
};

/* What is done to the frames of an encode besides. */
struct Loss {
  float noise = 1;  // levels, of each cell
  float gain = 1;
  float lag = 0;    // part of the frame before that stays
  float still = 0;  // levels, of each cell, that all frames have in common
};

class Stream {
 public:
  Stream(const Source& source, const Loss& loss, unsigned seed) : source_(source), loss_(loss), random_(seed) {
    for (float& value : noise_) {
      float sum = -6;
      for (int k = 0; k < 12; k++) sum += static_cast<float>(random_() % 4096) / 4096;
      value = sum;
    }
  }

  /* The frame of the encode that should show `frame` shows the one at `shown`, which may lie between two. */
  void add(Timing* timing, int64_t frame, double shown, int64_t number) {
    const auto below = static_cast<int64_t>(std::floor(shown));
    const auto part = static_cast<float>(shown - static_cast<double>(below));
    size_t at = random_() % std::size(noise_);
    for (int j = 0; j < kSignatureRows; j++)
      for (int i = 0; i < kSignatureColumns; i++) {
        const float ref = source_.cell(frame, i, j), lower = below == frame ? ref : source_.cell(below, i, j);
        const float luma = part > 0 ? (1 - part) * lower + part * source_.cell(below + 1, i, j) : lower;
        const float kept = (1 - loss_.lag) * luma + (count_ ? loss_.lag * before_[j][i] : loss_.lag * luma);
        const float noise = loss_.noise * noise_[at++ % std::size(noise_)];
        before_[j][i] = kept + noise;
        set(&sums_.ref, i, j, ref);
        const float still = loss_.still * noise_[j * kSignatureColumns + i];
        set(&sums_.dist, i, j, loss_.gain * before_[j][i] + still);
      }
    count_++;
    timing->add(number, sums_);
  }

 private:
  /* A cell of 1920x1080 has 30 columns and 2 rows of each parity that are read. */
  static void set(PictureSignature* signature, int i, int j, float luma) {
    const auto sum = static_cast<uint32_t>(std::clamp(luma, 0.F, 255.F) * 60 + 0.5F);
    signature->luma[0][j][i] = signature->luma[1][j][i] = sum;
  }

  Source source_;
  Loss loss_;
  std::mt19937 random_;
  float noise_[8191];
  Cell before_ = {};
  int count_ = 0;
  SignatureSums sums_ = {};
};

/* The findings where frame i of the encode shows shown(i). */
std::vector<Finding> findings_of(const Source& source, const Loss& loss, unsigned seed, int frames,
                                 const std::function<double(int)>& shown, int64_t first = 0) {
  Timing timing(format_of());
  Stream stream(source, loss, seed);
  for (int i = 0; i < frames; i++) stream.add(&timing, i, std::max(shown(i), 0.), first + i);
  std::vector<Finding> findings;
  timing.finish(&findings);
  return findings;
}

double number(const Finding& finding, const std::string& name) {
  for (const auto& [key, value] : finding.evidence)
    if (key == name) return value;
  return -1000;
}

std::string text(const std::vector<Finding>& findings) {
  std::string all;
  for (const Finding& finding : findings)
    all += "kind " + std::to_string(static_cast<int>(finding.kind)) + " certainty " +
           std::to_string(static_cast<int>(finding.certainty)) + " " + std::to_string(finding.from) + ".." +
           std::to_string(finding.end) + " frames " + std::to_string(number(finding, "frames")) + " of " +
           std::to_string(number(finding, "of")) + "; ";
  return all;
}

/* There is one finding, which is sure. Its place may be `slack` frames off where a frame of an encode that lags, or the
 * end of a long still, may belong to either side. */
void expect_one(const std::vector<Finding>& findings, Kind kind, int64_t from, int64_t end, double frames,
                int64_t slack = 0) {
  ck_assert_msg(findings.size() == 1, "%s", text(findings).c_str());
  const Finding& finding = findings[0];
  ck_assert_msg(finding.kind == kind && finding.certainty == Certainty::kSure &&
                    std::abs(finding.from - from) <= slack && std::abs(finding.end - end) <= slack &&
                    std::abs(number(finding, "frames") - frames) <= (slack && kind == Kind::kFrozen),
                "%s", text(findings).c_str());
}

void expect_no_claim(const std::vector<Finding>& findings, const std::string& where) {
  for (const Finding& finding : findings)
    ck_assert_msg(finding.certainty == Certainty::kPossible, "%s: %s", where.c_str(), text(findings).c_str());
}

const Loss kLosses[] = {{0.5F}, {2}, {5, 0.86F}, {2, 1.16F, 0.25F}};

}  // namespace

START_TEST(dropped) {
  for (const Loss& loss : kLosses)
    for (int at : {12, kMiddle, kFrames - 14})
      for (int frames : {1, 3})
        expect_one(findings_of({}, loss, 2, kFrames, [&](int i) { return i < at ? i : i + frames; }), Kind::kDropped,
                   at, kFrames, frames, loss.lag > 0);
}
END_TEST

START_TEST(doubled) {
  for (const Loss& loss : kLosses)
    for (int at : {12, kMiddle, kFrames - 14})
      for (int frames : {1, 2}) {
        const auto shown = [&](int i) { return i < at ? i : std::max(i - frames, at - 1); };
        expect_one(findings_of({}, loss, 3, kFrames, shown), Kind::kDoubled, at, kFrames, frames);
      }
}
END_TEST

START_TEST(offset) {
  for (const Loss& loss : kLosses)
    for (int frames : {-8, -2, -1, 1, 5, 8}) {
      Timing timing(format_of());
      Stream stream({}, loss, 4);
      for (int i = 0; i < kFrames; i++) stream.add(&timing, i + 20, i + 20 + frames, i);
      std::vector<Finding> findings;
      timing.finish(&findings);
      expect_one(findings, Kind::kOffset, 0, kFrames, frames);
    }
}
END_TEST

/* The nearest neighbor of a frame that is farther away than shifts reach is not its own. */
START_TEST(far_offset) {
  for (int frames : {-30, -10, 9, 10, 30}) {
    Timing timing(format_of());
    Stream stream({}, {}, 4);
    for (int i = 0; i < kFrames; i++) stream.add(&timing, i + 40, i + 40 + frames, i);
    std::vector<Finding> findings;
    timing.finish(&findings);
    for (const Finding& finding : findings)
      ck_assert_msg(finding.kind == Kind::kOtherPictures || number(finding, "frames") == frames, "%s",
                    text(findings).c_str());
  }
}
END_TEST

/* How much changes from frame to frame differs, and is the same some seconds later. */
START_TEST(far_offset_of_what_varies) {
  std::mt19937 random(21);
  std::vector<int> places(2 * kFrames);
  for (size_t i = 1; i < places.size(); i++) places[i] = places[i - 1] + 1 + static_cast<int>(random() % 4);
  for (int frames : {-70, -20, 15, 40}) {
    Timing timing(format_of());
    Stream stream({}, {}, 4);
    for (int i = 0; i < kFrames; i++)
      stream.add(&timing, places[static_cast<size_t>(i + 80)], places[static_cast<size_t>(i + 80 + frames)], i);
    std::vector<Finding> findings;
    timing.finish(&findings);
    ck_assert_msg(findings.size() == 1 && findings[0].kind == Kind::kOffset && number(findings[0], "frames") == frames,
                  "%d: %s", frames, text(findings).c_str());
  }
}
END_TEST

/* Errors that all frames share hide which neighbor fits, and not what changes. */
START_TEST(errors_that_stay) {
  const Loss loss{2, 1, 0, 12};
  const Source slow{0, 0, 2, 1};
  const auto expect = [](const std::vector<Finding>& findings, Kind kind, int64_t from, double frames) {
    ck_assert_msg(findings.size() == 1 && findings[0].kind == kind && findings[0].certainty >= Certainty::kLikely &&
                      std::abs(findings[0].from - from) <= 4 && number(findings[0], "frames") == frames,
                  "%s", text(findings).c_str());
  };
  const auto dropped = [](int i) { return i < kMiddle ? i : i + 1; };
  const auto doubled = [](int i) { return i < kMiddle ? i : i - 1; };
  expect(findings_of(slow, loss, 15, kFrames, dropped), Kind::kDropped, kMiddle, 1);
  expect(findings_of(slow, loss, 16, kFrames, doubled), Kind::kDoubled, kMiddle, 1);
  expect(findings_of(slow, loss, 17, kFrames, [](int i) { return i + 2; }), Kind::kOffset, 0, 2);
  expect_no_claim(findings_of(slow, loss, 18, kFrames, [](int i) { return i; }), "good");
}
END_TEST

START_TEST(swapped_under_errors_that_stay) {
  const auto shown = [](int i) { return i == 50 ? 51 : i == 51 ? 50 : i; };
  const auto findings = findings_of({}, {2, 1, 0, 12}, 7, kFrames, shown);
  ck_assert_msg(findings.size() == 1 && findings[0].kind == Kind::kSwapped && findings[0].from == 50, "%s",
                text(findings).c_str());
}
END_TEST

START_TEST(dropped_and_doubled_later) {
  const auto findings = findings_of({}, {}, 5, kFrames, [](int i) { return i < 60 || i >= 120 ? i : i + 1; });
  ck_assert_msg(findings.size() == 2, "%s", text(findings).c_str());
  ck_assert(findings[0].kind == Kind::kDropped && findings[0].from == 60 && findings[0].end == 120);
  ck_assert(findings[1].kind == Kind::kDoubled && findings[1].from == 120 && findings[1].end == kFrames);
}
END_TEST

START_TEST(frozen) {
  for (const Loss& loss : kLosses)
    for (int frames : {1, 2, 6, 12, 20}) {
      if ((loss.lag > 0 || loss.noise > 2) && frames < 3) continue;  // one frame's error does not stand out
      const auto shown = [&](int i) { return i >= kMiddle && i < kMiddle + frames ? kMiddle - 1 : i; };
      expect_one(findings_of({}, loss, 6, kFrames, shown), Kind::kFrozen, kMiddle, kMiddle + frames, frames,
                 frames > 9);
    }
}
END_TEST

START_TEST(swapped) {
  const auto shown = [](int i) { return i == 50 ? 51 : i == 51 ? 50 : i; };
  for (float noise : {0.5F, 2.F}) expect_one(findings_of({}, {noise}, 7, kFrames, shown), Kind::kSwapped, 50, 52, 2);
}
END_TEST

START_TEST(swapped_often) {
  const auto findings = findings_of({}, {}, 7, kFrames, [](int i) {
    return i % 10 == 4 ? i + 1 : i % 10 == 5 ? i - 1 : i;
  });
  ck_assert_msg(findings.size() == kFrames / 10, "%s", text(findings).c_str());
  for (const Finding& finding : findings) ck_assert_msg(finding.kind == Kind::kSwapped, "%s", text(findings).c_str());
}
END_TEST

/* Swaps of pictures that move little are told by their pattern alone, which is no cadence. */
START_TEST(swapped_often_where_little_moves) {
  const auto shown = [](int i) { return i % 10 == 4 ? i + 1 : i % 10 == 5 ? i - 1 : i; };
  for (float contrast : {0.06F, 0.08F}) {
    Source slow{0, 0, 4, 2};
    slow.contrast = contrast;
    const auto findings = findings_of(slow, {0.3F}, 7, kFrames, shown);
    ck_assert_msg(!findings.empty(), "nothing");
    for (const Finding& finding : findings)
      ck_assert_msg(finding.kind == Kind::kSwapped, "%g: %s", contrast, text(findings).c_str());
  }
}
END_TEST

/* There is one finding, a cadence that is sure. */
void expect_cadence(const std::function<double(int)>& shown, const char* what, double frames, double of, int first) {
  for (const Loss& loss : kLosses) {
    if (loss.lag > 0) continue;  // with it, frames look like mixtures of others
    const auto findings = findings_of({}, loss, 8, kFrames, shown, first);
    const auto is_it = [&](const Finding& finding) {
      return finding.kind == Kind::kCadence && finding.certainty == Certainty::kSure &&
             number(finding, what) == frames && number(finding, "of") == of;
    };
    ck_assert_msg(findings.size() == 1 && is_it(findings[0]), "%s", text(findings).c_str());
  }
}

START_TEST(cadence) {
  expect_cadence([](int i) { return i % 5 == 4 ? i - 1 : i; }, "repeated", 1, 5, 0);
  expect_cadence([](int i) { return i % 5 == 4 ? i - 1 : i; }, "repeated", 1, 5, 7);
  expect_cadence([](int i) { return i % 2 ? i - 1 : i; }, "repeated", 1, 2, 0);
  expect_cadence([](int i) { return i % 3 ? i - i % 3 : i; }, "repeated", 2, 3, 0);
  expect_cadence([](int i) { return i + i / 24; }, "dropped", 1, 24, 0);
}
END_TEST

/* Five frames of the encode show the time of five, but were made of four frames. */
/* In a fade a picture is like one beside it with another gain. */
START_TEST(fades_are_not_blended) {
  Source source;
  source.fade = 40;
  const auto findings = findings_of(source, {.noise = 0}, 9, kFrames, [](int i) { return i; });
  ck_assert_msg(findings.empty(), "%s", text(findings).c_str());
}
END_TEST

START_TEST(blended) {
  const double places[] = {0, 1, 1.5, 2.5, 4};
  const auto findings = findings_of({}, {}, 9, kFrames, [&](int i) { return i / 5 * 5 + places[i % 5]; });
  ck_assert_msg(findings.size() == 1 && findings[0].kind == Kind::kBlended, "%s", text(findings).c_str());
  ck_assert_msg(findings[0].certainty == Certainty::kSure, "%s", text(findings).c_str());
}
END_TEST

/* Another part of the field. */
START_TEST(other_pictures) {
  Timing timing(format_of());
  Stream stream({}, {}, 1);
  for (int i = 0; i < kFrames; i++) stream.add(&timing, i, i + 150, i);
  std::vector<Finding> findings;
  timing.finish(&findings);
  ck_assert_msg(findings.size() == 1 && findings[0].kind == Kind::kOtherPictures, "%s", text(findings).c_str());
}
END_TEST

/* An encoder leaves nothing but its own errors of what is nearly flat. */
START_TEST(nearly_flat_pictures_are_no_others) {
  for (float contrast : {0.05F, 0.16F, 0.5F}) {
    Source source;
    source.contrast = contrast;
    Timing timing(format_of());
    Stream stream(source, {1}, 1);
    for (int i = 0; i < kFrames; i++) stream.add(&timing, i, i + 150, i);
    std::vector<Finding> findings;
    timing.finish(&findings);
    const bool others = findings.size() == 1 && findings[0].kind == Kind::kOtherPictures;
    ck_assert_msg(contrast < 0.2F ? findings.empty() : others, "%g: %s", contrast, text(findings).c_str());
  }
}
END_TEST

/* An encoder that is short of bits stands still, and shows what was there some time ago, with less contrast. */
START_TEST(encodes_that_stand_still_are_no_others) {
  for (bool moves : {false, true}) {
    Timing timing(format_of());
    Stream stream({}, {.noise = 0.1F, .gain = 0.75F}, 1);
    for (int i = 0; i < kFrames; i++) stream.add(&timing, i, moves ? i + 150 : 150 + i / 64, i);
    std::vector<Finding> findings;
    timing.finish(&findings);
    const bool others = std::ranges::any_of(findings, [](const Finding& f) { return f.kind == Kind::kOtherPictures; });
    ck_assert_msg(others == moves, "%s", text(findings).c_str());
  }
}
END_TEST

/* Good pairs: all that an encoder, a filter or the content does to a picture's changes. */
START_TEST(no_false_alarm) {
  std::mt19937 random(10);
  const int streams = 1000 / every_if_not_all(2) / every_under_sanitizers(5);
  for (int k = 0; k < streams; k++) {
    Source source;
    source.x = static_cast<int>(random() % 256);
    source.y = static_cast<int>(random() % 256);
    source.speed_x = static_cast<int>(random() % 17) - 8;
    source.speed_y = static_cast<int>(random() % 9) - 4;
    source.hold = 1 + static_cast<int>(random() % 5) / 3;
    source.loop = random() % 4 ? 0 : 2 + static_cast<int>(random() % 7);
    Loss loss;
    loss.noise = 0.25F * static_cast<float>(1 << random() % 6);
    loss.gain = 0.8F + 0.1F * static_cast<float>(random() % 5);
    loss.lag = random() % 3 ? 0 : 0.1F * static_cast<float>(random() % 4);
    const auto findings = findings_of(source, loss, random(), 48, [](int i) { return i; });
    expect_no_claim(findings, "stream " + std::to_string(k) + " hold " + std::to_string(source.hold) + " loop " +
                                  std::to_string(source.loop));
  }
}
END_TEST

START_TEST(still) {
  Source source;
  source.speed_x = source.speed_y = 0;
  for (float noise : {0.F, 0.5F, 4.F}) {
    const auto findings = findings_of(source, {noise}, 11, kFrames, [](int i) { return i < kMiddle ? i : i + 1; });
    expect_no_claim(findings, "still");
  }
}
END_TEST

/* A loop of up to 8 frames does not tell a dropped frame from many doubled ones. */
START_TEST(periodic) {
  for (int period = 2; period <= 8; period++) {
    Source source;
    source.loop = period;
    expect_no_claim(findings_of(source, {1}, 12, kFrames, [](int i) { return i; }), "loop");
    const auto findings = findings_of(source, {1}, 12, kFrames, [](int i) { return i < kMiddle ? i : i + 1; });
    expect_no_claim(findings, "loop with a dropped frame");
  }
}
END_TEST

/* Frames that are not scored leave gaps, after which pairs have no neighbors before. */
START_TEST(gaps) {
  Timing timing(format_of());
  Stream stream({}, {}, 13);
  std::vector<Finding> findings;
  for (int i = 0; i < kFrames; i++) stream.add(&timing, i, i < 100 ? i : i + 1, i < 50 ? i + 1000 : i + 1007);
  timing.finish(&findings);
  expect_one(findings, Kind::kDropped, 1107, kFrames + 1007, 1);
}
END_TEST

START_TEST(short_streams) {
  for (int frames = 0; frames <= 12; frames++)
    expect_no_claim(findings_of({}, {}, 14, frames, [](int i) { return i; }), "short");
}
END_TEST

int main() {
  return run_suite("timing", {{"dropped", dropped},
                              {"doubled", doubled},
                              {"offset", offset},
                              {"far_offset", far_offset},
                              {"far_offset_of_what_varies", far_offset_of_what_varies},
                              {"errors_that_stay", errors_that_stay},
                              {"swapped_under_errors_that_stay", swapped_under_errors_that_stay},
                              {"dropped_and_doubled_later", dropped_and_doubled_later},
                              {"frozen", frozen},
                              {"swapped", swapped},
                              {"swapped_often", swapped_often},
                              {"swapped_often_where_little_moves", swapped_often_where_little_moves},
                              {"cadence", cadence},
                              {"blended", blended},
                              {"fades_are_not_blended", fades_are_not_blended},
                              {"other_pictures", other_pictures},
                              {"nearly_flat_pictures_are_no_others", nearly_flat_pictures_are_no_others},
                              {"encodes_that_stand_still_are_no_others", encodes_that_stand_still_are_no_others},
                              {"no_false_alarm", no_false_alarm},
                              {"still", still},
                              {"periodic", periodic},
                              {"gaps", gaps},
                              {"short_streams", short_streams}});
}
