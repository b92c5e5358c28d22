/* Local findings: what begins or ends in mid-stream is found with its pairs, and nothing is said of the rest. */
#include <functional>
#include <memory>

#include "engine/look/local.h"
#include "engine/look/look.h"
#include "tests/engine/look/painter.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::look;
using namespace vmafx::test;

namespace {

constexpr int kW = 192, kH = 144;
constexpr int64_t kPairs = 10 * kDetailPeriod, kScene = 100;

/* The encode's picture of what the reference's camera sees. */
using Shown = std::function<Painted(const Canvas&, const Camera&)>;

Painted mirrored(const Canvas& canvas, const Camera& camera) {
  Painted p = seen(canvas, camera, kW, kH);
  for (int y = 0; y < kH; y++) std::reverse(p.samples.begin() + y * kW, p.samples.begin() + (y + 1) * kW);
  return p;
}

Painted cropped(const Canvas& canvas, const Camera& camera) {
  return seen(canvas, {camera.left + 4, camera.top + 3, (kW - 8.0) / kW, (kH - 6.0) / kH}, kW, kH);
}

Painted expanded(const Canvas& canvas, const Camera& camera) {
  Painted p = seen(canvas, camera, kW, kH);
  for (Samples& s : p.samples) {
    s[0] = (s[0] - 16) * 255 / 219;
    for (int k = 1; k < 3; k++) s[k] = 128 + (s[k] - 128) * 255 / 224;
  }
  return p;
}

Painted gray(const Canvas& canvas, const Camera& camera) {
  Painted p = seen(canvas, camera, kW, kH);
  for (Samples& s : p.samples) s[1] = 128;
  return p;
}

/* Scenes that move; pairs from .. end-1 are `shown`. */
std::vector<Finding> findings_of(const Shown& shown, int64_t from, int64_t end) {
  VideoFormat format;
  format.w = kW;
  format.h = kH;
  format.bpc = 8;
  format.chroma = Chroma::k444;
  Look look(format);
  const auto sums = std::make_unique<SignatureSums>();
  std::unique_ptr<Canvas> canvas;
  Random random(3);
  for (int64_t frame = 0; frame < kPairs; frame++) {
    if (frame % kScene == 0) canvas = std::make_unique<Canvas>(static_cast<uint64_t>(frame));
    const Camera camera{.left = 60 + 0.7 * static_cast<double>(frame % kScene), .top = 60};
    const Painted ref = seen(*canvas, camera, kW, kH);
    Painted dist = frame >= from && frame < end ? shown(*canvas, camera) : ref;
    add_noise(dist, 4, random);
    sums->ref = signature_of(ref, 8, has_detail(frame));
    sums->dist = signature_of(dist, 8, has_detail(frame));
    look.add(frame, *sums);
  }
  return look.finish();
}

constexpr Kind kKinds[] = {Kind::kCropped, Kind::kRange};

/* As many chapters of 48 pairs; those of `denied` deny; a run that `holds` is sure. */
std::vector<Finding> found_in(size_t chapters, const std::function<bool(size_t)>& denied,
                              const std::function<bool(size_t, size_t)>& holds, std::vector<Finding> whole = {}) {
  std::vector<Pairs> pairs;
  for (size_t i = 0; i < chapters; i++) {
    const auto from = static_cast<int64_t>(i) * kDetailPeriod;
    pairs.push_back({from, from + kDetailPeriod});
  }
  const auto judge = [&](size_t first, size_t end) {
    std::vector<Finding> found;
    if (holds(first, end)) found.push_back({.kind = Kind::kCropped, .certainty = Certainty::kSure});
    return found;
  };
  find_locally({pairs, [&](size_t i, Kind) { return denied(i); }, judge}, kKinds, &whole);
  return whole;
}

}  // namespace

START_TEST(findings_have_their_pairs) {
  const struct {
    Kind kind;
    Shown shown;
    int64_t near;  // chroma is seen in one of 48 pairs
  } damages[] = {{Kind::kMirrored, mirrored, 1},
                 {Kind::kCropped, cropped, 1},
                 {Kind::kRange, expanded, 1},
                 {Kind::kGray, gray, kDetailPeriod}};
  const struct {
    int64_t from, end;
  } places[] = {{kPairs / 4 + 5, kPairs},
                {kPairs / 2, kPairs},
                {kPairs * 3 / 4 - 30, kPairs},
                {kPairs / 4, kPairs * 3 / 4 + 7},
                {0, kPairs / 2 + 3}};
  int turn = 0;
  for (const auto& damage : damages) {
    for (const auto& place : places) {
      if (turn++ % every_if_not_all(3)) continue;
      const auto findings = findings_of(damage.shown, place.from, place.end);
      const Finding* const f = find(findings, damage.kind);
      const auto kind = static_cast<int>(damage.kind);
      ck_assert_msg(f && f->certainty >= Certainty::kLikely, "kind %d from %ld", kind, static_cast<long>(place.from));
      ck_assert_msg(std::abs(f->from - place.from) <= damage.near && std::abs(f->end - place.end) <= damage.near,
                    "kind %d: %ld to %ld, not %ld to %ld", kind, static_cast<long>(f->from), static_cast<long>(f->end),
                    static_cast<long>(place.from), static_cast<long>(place.end));
    }
  }
}
END_TEST

START_TEST(nothing_is_said_of_a_good_stream) { ck_assert_int_eq(doubts(findings_of(mirrored, 0, 0)), 0); }
END_TEST

/* A part is between chapters that show the contrary, and may begin within a chapter. */
START_TEST(denials_divide_a_stream) {
  const auto late = [](size_t i) { return i < 10; };
  const auto whole = found_in(20, late, [](size_t first, size_t) { return first >= 10; });
  ck_assert_int_eq(whole.size(), 1);
  ck_assert_int_eq(whole[0].from, 480);
  ck_assert_int_eq(whole[0].end, 960);
  const auto trimmed = found_in(20, late, [](size_t first, size_t) { return first >= 11; });
  ck_assert_int_eq(trimmed.size(), 1);
  ck_assert_int_eq(trimmed[0].from, 528);
  ck_assert(found_in(20, [](size_t) { return false; }, [](size_t, size_t) { return true; }).empty());
}
END_TEST

/* At an end of a stream, which may be a part of another one, short runs are kept apart. */
START_TEST(short_runs_at_ends_are_brief) {
  const auto always = [](size_t, size_t) { return true; };
  const auto last = found_in(20, [](size_t i) { return i < 19; }, always);
  ck_assert_int_eq(last.size(), 1);
  ck_assert(last[0].brief && last[0].certainty == Certainty::kSure);
  ck_assert(last[0].from == 912 && last[0].end == 960);
  const auto first = found_in(20, [](size_t i) { return i > 0; }, always);
  ck_assert(first.size() == 1 && first[0].brief && first[0].from == 0 && first[0].end == 48);
  ck_assert(found_in(20, [](size_t i) { return i != 9; }, always).empty());
  /* They leave what the whole stream shows as it is. */
  const Finding whole{.kind = Kind::kCropped, .certainty = Certainty::kLikely, .from = 0, .end = 960};
  const auto both = found_in(20, [](size_t i) { return i < 19; }, always, {whole});
  ck_assert(both.size() == 2 && !both[0].brief && both[1].brief);
}
END_TEST

/* The longer a stream is, the longer are its runs, so that long streams have no more of them. */
START_TEST(runs_have_a_part_of_the_stream) {
  const auto run = [](size_t i) { return i != 4 && i != 5; };
  const auto always = [](size_t, size_t) { return true; };
  const auto found = found_in(30, run, always);
  ck_assert_int_eq(found.size(), 1);
  ck_assert(found[0].certainty == Certainty::kLikely);  // 96 pairs
  ck_assert(found_in(80, run, always).empty());
  ck_assert(found_in(20, [](size_t i) { return i != 4; }, always).empty());
}
END_TEST

/* Local findings are not said of the whole stream, too. */
START_TEST(local_findings_take_the_place_of_others) {
  const auto late = [](size_t i) { return i < 10; };
  const auto holds = [](size_t first, size_t) { return first >= 10; };
  const Finding likely{.kind = Kind::kCropped, .certainty = Certainty::kLikely, .from = 0, .end = 960};
  const Finding range{.kind = Kind::kRange, .certainty = Certainty::kLikely, .from = 0, .end = 960};
  const auto found = found_in(20, late, holds, {likely, range});
  ck_assert_int_eq(found.size(), 1);
  ck_assert_int_eq(found[0].from, 480);
  const auto none = found_in(20, late, [](size_t, size_t) { return false; }, {likely, range});
  ck_assert_int_eq(none.size(), 2);
}
END_TEST

/* Chapters are joined when there are too many. The first pair after that may be of the last one, whose levels stay. */
START_TEST(chapters_that_go_on_keep_their_levels) {
  constexpr int64_t kChapters = static_cast<int64_t>(Chapters<int>::kMost);
  VideoFormat format;
  format.w = kW;
  format.h = kH;
  format.bpc = 8;
  format.chroma = Chroma::k444;
  Look look(format);
  const auto sums = std::make_unique<SignatureSums>();
  const Canvas canvas(3);
  const Camera camera{.left = 60, .top = 60};
  Painted flat = seen(canvas, camera, kW, kH);
  for (Samples& s : flat.samples) s = {100, 128, 128};
  const auto add = [&](int64_t frame, const Painted& ref, const Painted& dist) {
    sums->ref = signature_of(ref, 8, has_detail(frame));
    sums->dist = signature_of(dist, 8, has_detail(frame));
    look.add(frame, *sums);
  };
  for (int64_t k = 1; k < kChapters; k++) add(k * kDetailPeriod, flat, flat);
  for (int64_t frame = kChapters * kDetailPeriod; frame < (kChapters + 1) * kDetailPeriod; frame++)
    add(frame, seen(canvas, camera, kW, kH), expanded(canvas, camera));
  for (int64_t k = 0; k < 4; k++) add((kChapters + 1) * kDetailPeriod + k, flat, flat);
  ck_assert(find(look.finish(), Kind::kRange));
}
END_TEST

int main() {
  return run_suite("local", {{"brief", short_runs_at_ends_are_brief},
                             {"pairs", findings_have_their_pairs},
                             {"joined", chapters_that_go_on_keep_their_levels},
                             {"good", nothing_is_said_of_a_good_stream},
                             {"denials", denials_divide_a_stream},
                             {"parts", runs_have_a_part_of_the_stream},
                             {"places", local_findings_take_the_place_of_others}});
}
