/* The thread on which pictures are looked at: it finds what the look finds of the same pairs in the caller's thread,
 * however fast they come, and ends with pairs that wait. */
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/look_thread.h"
#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

constexpr int kPairs = 205, kLooks = 3;  // more pairs than the thread has memory for

VideoFormat format_of() {
  VideoFormat format;
  format.w = 1920;
  format.h = 1080;
  return format;
}

/* Waves that move; a cell of 1920x1080 has 30 columns and 2 rows of each parity that are read. */
void sign(PictureSignature* signature, int frame, int noise) {
  for (int j = 0; j < kSignatureRows; j++)
    for (int i = 0; i < kSignatureColumns; i++) {
      const double wave = 50 * std::sin((i + 1.7 * frame) / 5.) + 40 * std::sin((j - 0.9 * frame) / 4. + i / 9.);
      const auto sum = static_cast<uint32_t>(60 * (120 + wave + (i * 7 + j * 13 + frame) % 5 * noise / 4.));
      signature->luma[0][j][i] = signature->luma[1][j][i] = sum;
    }
}

/* The encodes lack 0, 1, 2 frames from pair 100 on. */
void make_pair(int encode, int frame, SignatureSums* sums) {
  if (has_detail(frame)) std::memset(sums, 0, sizeof *sums);
  sign(&sums->ref, frame, 0);
  sign(&sums->dist, frame < 100 ? frame : frame + encode, 1);
}

using Looks = std::vector<std::unique_ptr<look::Look>>;
Looks make_looks() {
  Looks looks;
  for (int i = 0; i < kLooks; i++) looks.push_back(std::make_unique<look::Look>(format_of()));
  return looks;
}

bool same(const look::Finding& a, const look::Finding& b) {
  return a.kind == b.kind && a.certainty == b.certainty && a.from == b.from && a.end == b.end &&
         a.evidence == b.evidence;
}

}  // namespace

START_TEST(finds_what_the_callers_thread_finds) {
  const Looks here = make_looks(), there = make_looks();
  LookThread thread;
  ck_assert(thread.start().ok());
  const auto sums = std::make_unique<SignatureSums>();
  for (int frame = 0; frame < kPairs; frame++)
    for (int i = 0; i < kLooks; i++) {
      make_pair(i, frame, sums.get());
      here[i]->add(frame, *sums);
      thread.next() = *sums;
      thread.add(*there[i], frame);
      if (frame == 70) ck_assert(thread.drain().ok());
    }
  ck_assert(thread.drain().ok());
  for (int i = 0; i < kLooks; i++) {
    const std::vector<look::Finding> want = here[i]->finish(), found = there[i]->finish();
    ck_assert_uint_eq(want.size(), found.size());
    ck_assert_uint_eq(want.empty(), i == 0);
    for (size_t k = 0; k < want.size(); k++) ck_assert(same(want[k], found[k]));
  }
}
END_TEST

/* Words of detail in frames that have none are those of an earlier pair: nobody reads them. */
START_TEST(memory_has_an_earlier_pair) {
  const Looks looks = make_looks();
  const auto sums = std::make_unique<SignatureSums>();
  std::memset(sums.get(), 0xff, sizeof *sums);
  for (int frame = 0; frame < kPairs; frame++)
    for (int i = 0; i < 2; i++) {
      if (i == 0 && !has_detail(frame)) std::memset(sums.get(), 0xff, sizeof *sums);
      make_pair(1, frame, sums.get());
      looks[i]->add(frame, *sums);
    }
  const std::vector<look::Finding> a = looks[0]->finish(), b = looks[1]->finish();
  ck_assert_uint_eq(a.size(), b.size());
  for (size_t k = 0; k < a.size(); k++) ck_assert(same(a[k], b[k]));
}
END_TEST

START_TEST(ends_with_pairs_that_wait) {
  for (const int pairs : {0, 1, 15, 16, 40}) {
    const Looks looks = make_looks();
    LookThread thread;
    ck_assert(thread.start().ok());
    for (int frame = 0; frame < pairs; frame++) {
      make_pair(0, frame, &thread.next());
      thread.add(*looks[0], frame);
    }
  }
  const LookThread never_started;
}
END_TEST

int main() {
  return run_suite("look_thread", {{"same", finds_what_the_callers_thread_finds},
                                   {"memory", memory_has_an_earlier_pair},
                                   {"end", ends_with_pairs_that_wait}});
}
