/* References that stay: sessions that score against one have the scores that they have with pictures of their own, to
 * the last bit, on the CPU and on the GPU, here the emulator, one after the other and at once. */
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/check_main.h"
#include "tests/support/device.h"
#include "tests/support/emulator.h"
#include "tests/support/stream.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

constexpr VmafxFormat planar(int width, int height, VmafxChroma chroma, int bits) {
  return {width, height, chroma, bits, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};
}

/* nv12, p010 and the like, of a planar format. */
constexpr VmafxFormat semi_planar(VmafxFormat format) {
  format.layout = VMAFX_LAYOUT_SEMIPLANAR;
  format.shift = format.bits > 8 ? 16 - format.bits : 0;
  return format;
}

constexpr VmafxFormat kSmall = planar(96, 84, VMAFX_CHROMA_420, 8);

std::vector<int> first_frames(int count) {
  std::vector<int> frames(static_cast<size_t>(count));
  std::iota(frames.begin(), frames.end(), 0);
  return frames;
}

/* Encodes of a clip; those of odd numbers lack a pair here and there. */
struct Clip {
  VmafxFormat ref = kSmall, dist = ref;
  std::vector<int> frames = first_frames(7);  // of the reference, as they are submitted
  int encodes = 1;

  bool has_pair(int encode, size_t i) const { return encode % 2 == 0 || i % 3 != 1; }
};

VmafxPicture ref_picture(const VmafxFormat& format, int frame) {
  return TestPicture::make(format, make_samples(format, frame, false));
}

/* The pictures of the encodes that belong to one of the reference. */
class DistPictures {
 public:
  DistPictures(const Clip& clip, size_t i) : pictures_(static_cast<size_t>(clip.encodes)), given_(pictures_.size()) {
    for (int encode = 0; encode < clip.encodes; encode++) {
      if (!clip.has_pair(encode, i)) continue;
      const size_t at = static_cast<size_t>(encode);
      pictures_[at] = TestPicture::make(clip.dist, make_samples(clip.dist, clip.frames[i] + 5 * encode, true));
      given_[at] = &pictures_[at];
    }
  }
  const VmafxPicture* const* data() const { return given_.data(); }

 private:
  std::vector<VmafxPicture> pictures_;
  std::vector<const VmafxPicture*> given_;
};

/* -- References ---------------------------------------------------------------------------------------------------- */

class TestReference {
 public:
  explicit TestReference(const VmafxFormat& format, VmafxKeptReferenceParams params = {}) : format_(format) {
    params.log = append_log;
    params.log_cookie = &log_;
    ck_assert_msg(vmafx_kept_reference_open(&reference_, &format, &params) == 0, "%s", log_.c_str());
  }
  ~TestReference() { close(); }
  TestReference(const TestReference&) = delete;
  TestReference& operator=(const TestReference&) = delete;

  int add() {
    const VmafxPicture picture = ref_picture(format_, static_cast<int>(vmafx_kept_reference_frames(get())));
    return vmafx_kept_reference_add(get(), &picture);
  }
  TestReference& fill(int frames = 7) {
    while (vmafx_kept_reference_frames(get()) < frames) ck_assert_int_eq(add(), 0);
    return *this;
  }
  void close() { vmafx_kept_reference_close(&reference_); }
  VmafxKeptReference* get() const { return reference_; }
  const std::string& log() const { return log_; }

 private:
  const VmafxFormat format_;
  std::string log_;
  VmafxKeptReference* reference_ = nullptr;
};

/* -- Sessions ------------------------------------------------------------------------------------------------------ */

/* A session, and what came of it. */
class TestSession {
 public:
  TestSession(Params params, const Clip& clip, const VmafxKeptReference* against) : clip_(clip), against_(against) {
    log_.take(params);
    params.encodes = clip.encodes;
    frames.resize(static_cast<size_t>(clip.encodes));
    models.resize(frames.size());
    const std::vector<VmafxFormat> dist(frames.size(), clip.dist);
    if (!keep(open_context(&ctx_, params))) return;
    keep(against ? vmafx_configure_against(ctx_, against, dist.data(), clip.encodes)
                 : vmafx_configure_encodes(ctx_, &clip.ref, dist.data(), clip.encodes));
  }
  ~TestSession() { close(); }
  TestSession(const TestSession&) = delete;
  TestSession& operator=(const TestSession&) = delete;

  void submit(size_t i) {
    const DistPictures dist(clip_, i);
    if (against_) {
      keep(vmafx_submit_against(ctx_, clip_.frames[i], dist.data(), clip_.encodes));
    } else {
      const VmafxPicture ref = ref_picture(clip_.ref, clip_.frames[i]);
      keep(vmafx_submit_encodes(ctx_, &ref, dist.data(), clip_.encodes));
    }
    receive();
  }

  void finish() {
    keep(vmafx_finish(ctx_));
    receive();
    for (size_t i = 0; i < models.size() && vmafx_model_count(ctx_); i++)
      keep(vmafx_encode_model_score(ctx_, static_cast<int>(i), 0, nullptr, &models[i]));
  }

  void run() {
    for (size_t i = 0; i < clip_.frames.size() && !error; i++) submit(i);
    if (!error) finish();
  }

  void close() { vmafx_close(&ctx_); }
  VmafxContext* get() const { return ctx_; }
  std::string log() const { return log_.text(); }

  int error = 0;                                 // the first failure
  std::vector<std::vector<FrameScores>> frames;  // of each encode
  std::vector<double> models;                    // likewise, pooled

 private:
  bool keep(int ret) {
    if (ret < 0 && !error) error = ret;
    return ret == 0;
  }

  void receive() {
    VmafxFrameResult result;
    while (vmafx_receive(ctx_, &result) == 0) {
      FrameScores scores;
      for (size_t i = 0; i < result.n_scores; i++) scores[result.scores[i].key] = result.scores[i].value;
      frames[static_cast<size_t>(result.encode)].push_back(std::move(scores));
    }
  }

  const Clip& clip_;
  const VmafxKeptReference* against_;
  SessionLog log_;
  VmafxContext* ctx_ = nullptr;
};

void assert_equal(const TestSession& got, const TestSession& want, const std::string& what) {
  ck_assert_msg(want.error == 0, "%s, alone: %s", what.c_str(), want.log().c_str());
  ck_assert_msg(got.error == 0, "%s: %s", what.c_str(), got.log().c_str());
  for (size_t encode = 0; encode < want.frames.size(); encode++) {
    ck_assert_uint_gt(want.frames[encode].size(), 0);
    ck_assert_uint_eq(got.frames[encode].size(), want.frames[encode].size());
    for (size_t i = 0; i < want.frames[encode].size(); i++)
      ck_assert_msg(got.frames[encode][i] == want.frames[encode][i], "%s: frame %zu of encode %zu differs",
                    what.c_str(), i, encode);
    ck_assert_msg(got.models[encode] == want.models[encode], "%s: encode %zu has %.17g, alone %.17g", what.c_str(),
                  encode, got.models[encode], want.models[encode]);
  }
}

Params on_cpu(Params params) {
  params.backend = "cpu";
  params.verify = 0;
  return params;
}

/* With pictures of its own, on the CPU; it has run and is closed. */
class SessionAlone : public TestSession {
 public:
  SessionAlone(const Params& params, const Clip& clip) : TestSession(on_cpu(params), clip, nullptr) {
    run();
    close();
  }
};

void assert_as_alone(const Params& params, const Clip& clip, const VmafxKeptReference* reference,
                     const std::string& what) {
  TestSession against(params, clip, reference);
  against.run();
  const SessionAlone alone(params, clip);
  assert_equal(against, alone, what);
}

constexpr const char* kBackends[] = {"cpu", "hip"};
constexpr char kModel[] = "version=vmaf_v0.6.1";
/* With chroma, and with earlier pictures of the reference and of both. */
constexpr char kFeatures[] =
    "name=psnr|name=ciede|name=float_motion|name=motion:motion_five_frame_window=true|name=speed_temporal|name=float_"
    "vif";

}  // namespace

START_TEST(formats_have_the_scores_of_plain_sessions) {
  const VmafxFormat odd = planar(97, 85, VMAFX_CHROMA_420, 10);
  const VmafxFormat formats[] = {kSmall,
                                 semi_planar(kSmall),
                                 odd,
                                 semi_planar(odd),
                                 semi_planar(planar(96, 81, VMAFX_CHROMA_422, 10)),
                                 planar(99, 84, VMAFX_CHROMA_444, 12)};
  for (const VmafxFormat& format : formats)
    for (const size_t copy : {0, 1}) {
      TestReference reference(format, {.copy = static_cast<int>(copy)});
      reference.fill();
      for (const char* backend : kBackends) {
        if (!takes_combination(copy, static_cast<size_t>(&format - formats) + (backend == kBackends[0]))) continue;
        Clip clip{.ref = format};
        clip.dist.layout = VMAFX_LAYOUT_PLANAR;
        clip.dist.shift = 0;
        assert_as_alone(params_for(backend, kModel, kFeatures), clip, reference.get(),
                        format_text("%dx%d, %d bits, layout %d, copy %zu, %s", format.width, format.height, format.bits,
                                    format.layout, copy, backend));
      }
    }
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

START_TEST(luma_alone_has_them) {
  const VmafxFormat gray = planar(96, 84, VMAFX_CHROMA_400, 8);
  for (const VmafxFormat& format : {gray, kSmall, semi_planar(kSmall)})
    for (const char* backend : kBackends) {
      TestReference reference(format, {.planes = 1});
      reference.fill();
      assert_as_alone(params_for(backend, kModel), {.ref = format}, reference.get(), backend);
      const Clip clip{.ref = format};
      TestSession refused(params_for(backend, "", "name=ciede"), clip, reference.get());
      ck_assert_int_eq(refused.error, -EINVAL);
      if (format.chroma != VMAFX_CHROMA_400)
        assert_contains(refused.log(), "a metric reads plane 1, which the reference does not keep (planes=1)");
    }
}
END_TEST

START_TEST(planes_without_samples_are_kept) {
  for (const VmafxFormat& format :
       {planar(33, 1, VMAFX_CHROMA_420, 8), semi_planar(planar(1, 9, VMAFX_CHROMA_420, 10))})
    for (const unsigned planes : {0u, 2u, 4u}) {
      TestReference reference(format, {.planes = planes, .copy = 1});
      reference.fill();
      if (!planes) assert_as_alone(params_for("cpu", "", "name=psnr"), {.ref = format}, reference.get(), "no chroma");
    }
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

/* Frames are left out, come again, and come in another order, as the session's own pictures may. */
START_TEST(any_frames_in_any_order) {
  TestReference reference(kSmall);
  reference.fill(9);
  for (const char* backend : kBackends)
    for (const std::vector<int>& frames : {std::vector{3, 4, 5, 8}, std::vector{8, 7, 2, 2, 2, 3, 0}})
      assert_as_alone(params_for(backend, kModel, kFeatures), {.frames = frames}, reference.get(), backend);
}
END_TEST

START_TEST(several_encodes_and_subsampling) {
  TestReference reference(kSmall);
  reference.fill();
  for (const char* backend : kBackends)
    for (const int threads : {1, 9}) {
      Params params = params_for(backend, kModel, kFeatures);
      params.n_threads = threads;
      params.n_subsample = threads == 1 ? 3 : 1;
      assert_as_alone(params, {.encodes = 3}, reference.get(), backend);
      assert_as_alone(params, {.encodes = 1}, reference.get(), backend);
    }
}
END_TEST

START_TEST(the_gpu_is_verified) {
  TestReference reference(semi_planar(kSmall));
  Params params = params_for("hip", kModel, kFeatures);
  params.verify = params.verify_fail = 1;
  assert_as_alone(params, {}, reference.fill().get(), "verify");
}
END_TEST

/* Frames come while sessions in other threads score those that are there. */
START_TEST(several_sessions_at_once) {
  const Clip clip{.frames = first_frames(12)};
  const Params params[] = {params_for("cpu", kModel), params_for("cpu", "", kFeatures), params_for("hip", kModel),
                           params_for("cpu", kModel, "name=psnr")};
  TestReference reference(kSmall);
  std::vector<std::unique_ptr<TestSession>> sessions(std::size(params));
  std::vector<std::thread> threads;
  for (size_t n = 0; n < std::size(params); n++)
    threads.emplace_back([&, n] {
      sessions[n] = std::make_unique<TestSession>(params[n], clip, reference.get());
      for (size_t i = 0; i < clip.frames.size() && !sessions[n]->error; i++) {
        while (vmafx_kept_reference_frames(reference.get()) <= clip.frames[i])
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        sessions[n]->submit(i);
      }
      sessions[n]->finish();
    });
  reference.fill(12);
  for (std::thread& thread : threads) thread.join();
  for (size_t n = 0; n < std::size(params); n++) {
    const SessionAlone alone(params[n], clip);
    assert_equal(*sessions[n], alone, format_text("session %zu", n));
  }
}
END_TEST

/* -- What it keeps ------------------------------------------------------------------------------------------------- */

START_TEST(pictures_are_released) {
  for (const VmafxFormat& format : {kSmall, semi_planar(kSmall)})
    for (const int copy : {0, 1}) {
      TestReference reference(format, {.copy = copy});
      const bool kept = !copy && format.layout == VMAFX_LAYOUT_PLANAR;
      for (int frame = 0; frame < 5; frame++) {
        ck_assert_int_eq(reference.add(), 0);
        ck_assert_int_eq(TestPicture::alive, kept ? frame + 1 : 0);
      }
      for (int session = 0; session < 2; session++) {
        const Clip clip{.ref = format, .frames = first_frames(5)};
        TestSession(params_for("cpu", kModel), clip, reference.get()).run();
        ck_assert_int_eq(TestPicture::alive, kept ? 5 : 0);
      }
      reference.close();
      ck_assert_int_eq(TestPicture::alive, 0);
      ck_assert_ptr_null(reference.get());
    }
}
END_TEST

START_TEST(sessions_keep_what_is_closed) {
  const Clip clip;
  const SessionAlone alone(params_for("cpu", kModel), clip);
  for (const char* backend : kBackends) {
    TestReference reference(kSmall);
    reference.fill();
    TestSession first(params_for(backend, kModel), clip, reference.get());
    TestSession second(params_for("cpu", kModel), clip, reference.get());
    first.submit(0);
    reference.close();
    for (size_t i = 1; i < clip.frames.size(); i++) first.submit(i);
    first.finish();
    assert_equal(first, alone, "first");
    first.close();
    ck_assert_int_eq(TestPicture::alive, 7);
    second.run();
    assert_equal(second, alone, "second");
    second.close();
    ck_assert_int_eq(TestPicture::alive, 0);
  }
}
END_TEST

START_TEST(sessions_that_end_early_leave_it_as_it_is) {
  for (const char* backend : kBackends) {
    TestReference reference(kSmall);
    reference.fill();
    for (const size_t submitted : {0, 1, 6}) {
      const Clip clip;
      TestSession early(params_for(backend, kModel, kFeatures), clip, reference.get());
      for (size_t i = 0; i < submitted; i++) early.submit(i);
      early.close();
      ck_assert_int_eq(TestPicture::alive, 7);
    }
    assert_as_alone(params_for(backend, kModel, kFeatures), {}, reference.get(), backend);
  }
}
END_TEST

START_TEST(what_fits_the_budget_stays) {
  /* TestPicture's rows are 5 samples longer; copies are rounded to 64 bytes. */
  const uint64_t kept = (96 + 5) * 84 + 2 * (48 + 5) * 42, copied = 128 * 84 + 2 * 64 * 42;
  for (const int copy : {0, 1}) {
    const uint64_t frame = copy ? copied : kept;
    TestReference reference(kSmall, {.budget = 5 * frame + frame / 2, .copy = copy});
    reference.fill(5);
    ck_assert_uint_eq(vmafx_kept_reference_bytes(reference.get()), 5 * frame);
    assert_text_eq(vmafx_kept_reference_last_error(reference.get()), "");
    const int alive = TestPicture::alive;
    for (int again = 0; again < 2; again++) {
      ck_assert_int_eq(reference.add(), -ENOMEM);
      assert_contains(vmafx_kept_reference_last_error(reference.get()),
                      "and only 5 fit, which stay: allow more (budget)");
      assert_contains(reference.log(), vmafx_kept_reference_last_error(reference.get()));
      ck_assert_int_eq(TestPicture::alive, alive);
      ck_assert_int_eq(vmafx_kept_reference_frames(reference.get()), 5);
    }
    assert_as_alone(params_for("cpu", kModel), {.frames = first_frames(5)}, reference.get(), "budget");
  }
  TestReference none(kSmall, {.budget = kept - 1});
  ck_assert_int_eq(none.add(), -ENOMEM);
  ck_assert_int_eq(vmafx_kept_reference_frames(none.get()), 0);
  TestReference luma(kSmall, {.budget = 128 * 84, .planes = 1, .copy = 1});
  ck_assert_int_eq(luma.add(), 0);
  luma.close();
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

/* -- What stays on a GPU ------------------------------------------------------------------------------------------- */

constexpr uint64_t kPlenty = 1 << 30;
/* Bytes of copies of kSmall's planes; their rows are rounded to 128 bytes. */
constexpr uint64_t kLumaCopy = 128 * 84, kChromaCopies = 2 * 128 * 42;

/* How many pictures of the reference the session read on the GPU, and how many it uploaded. */
std::string read_and_uploaded(int read, int uploaded) {
  return format_text("frames: reference: %d imported, %d uploaded", read, uploaded);
}

void assert_reads(const Params& params, const Clip& clip, const TestReference& reference, int read) {
  TestSession session(params, clip, reference.get());
  session.run();
  assert_equal(session, SessionAlone(params, clip), "copies");
  assert_contains(session.log(), read_and_uploaded(read, static_cast<int>(clip.frames.size()) - read));
}

START_TEST(copies_on_the_gpu_are_read_by_later_sessions) {
  const VmafxFormat odd = planar(97, 85, VMAFX_CHROMA_422, 10);
  for (const VmafxFormat& format : {kSmall, semi_planar(odd)})
    for (const int encodes : {1, 3}) {
      if (!takes_combination(format.width == kSmall.width, encodes == 1)) continue;
      TestReference reference(format, {.device_budget = kPlenty});
      reference.fill();
      Clip clip{.ref = format, .encodes = encodes};
      Params params = params_for("hip", kModel, kFeatures);
      params.verify = params.verify_fail = 1;
      ck_assert_uint_eq(vmafx_kept_reference_device_bytes(reference.get()), 0);
      assert_reads(params, clip, reference, 0);
      const uint64_t bytes = vmafx_kept_reference_device_bytes(reference.get());
      if (format.width == kSmall.width) ck_assert_uint_eq(bytes, 7 * (kLumaCopy + kChromaCopies));
      clip.frames = {0, 4, 3, 4, 6, 5};
      assert_reads(params, clip, reference, 6);
      assert_as_alone(params_for("cpu", kModel, kFeatures), clip, reference.get(), "cpu");
      ck_assert_uint_eq(vmafx_kept_reference_device_bytes(reference.get()), bytes);
    }
}
END_TEST

/* Copies exist for the frames and planes that earlier sessions read. */
START_TEST(copies_come_as_they_are_needed) {
  TestReference reference(kSmall, {.device_budget = kPlenty});
  reference.fill();
  assert_reads(params_for("hip", kModel), {.frames = {0, 1, 2}}, reference, 0);
  ck_assert_uint_eq(vmafx_kept_reference_device_bytes(reference.get()), 3 * kLumaCopy);
  assert_reads(params_for("hip", kModel), {}, reference, 3);
  ck_assert_uint_eq(vmafx_kept_reference_device_bytes(reference.get()), 7 * kLumaCopy);
  assert_reads(params_for("hip", kModel, kFeatures), {}, reference, 0);
  ck_assert_uint_eq(vmafx_kept_reference_device_bytes(reference.get()), 7 * (kLumaCopy + kChromaCopies));
  assert_reads(params_for("hip", kModel, kFeatures), {}, reference, 7);
}
END_TEST

START_TEST(copies_keep_to_the_budget) {
  TestReference reference(kSmall, {.device_budget = 4 * kLumaCopy - 1});
  reference.fill();
  assert_reads(params_for("hip", kModel), {}, reference, 0);
  ck_assert_uint_eq(vmafx_kept_reference_device_bytes(reference.get()), 3 * kLumaCopy);
  for (int again = 0; again < 2; again++) assert_reads(params_for("hip", kModel), {}, reference, 3);
  ck_assert_uint_eq(vmafx_kept_reference_device_bytes(reference.get()), 3 * kLumaCopy);
}
END_TEST

START_TEST(sessions_at_once_share_copies) {
  TestReference reference(kSmall, {.device_budget = 7 * kLumaCopy});
  reference.fill();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&] { assert_as_alone(params_for("hip", kModel), {}, reference.get(), "at once"); });
  for (std::thread& thread : threads) thread.join();
  ck_assert_uint_le(vmafx_kept_reference_device_bytes(reference.get()), 7 * kLumaCopy);
  assert_as_alone(params_for("hip", kModel), {}, reference.get(), "later");
}
END_TEST

/* The sessions that read the copies may outlive the reference, and a reference the sessions that left them. */
START_TEST(copies_go_with_the_reference) {
  const Clip clip;
  TestReference reference(kSmall, {.device_budget = kPlenty});
  reference.fill();
  assert_reads(params_for("hip", kModel), clip, reference, 0);
  TestSession last(params_for("hip", kModel), clip, reference.get());
  reference.close();
  ck_assert_uint_eq(vmafx_kept_reference_device_bytes(reference.get()), 0);
  last.run();
  assert_equal(last, SessionAlone(params_for("cpu", kModel), clip), "last");
  assert_contains(last.log(), read_and_uploaded(7, 0));
}
END_TEST

/* The case that is run again: two sessions, the first of which leaves copies. */
int print_scores_of_two(const char* backend) {
  const Clip clip{.frames = first_frames(5)};
  const VmafxKeptReferenceParams params{.device_budget = kPlenty};
  VmafxKeptReference* reference = nullptr;
  int failed = vmafx_kept_reference_open(&reference, &kSmall, &params);
  for (const int frame : clip.frames) {
    const VmafxPicture picture = ref_picture(kSmall, frame);
    failed |= vmafx_kept_reference_add(reference, &picture);
  }
  for (int i = 0; i < 2 && !failed; i++) {
    TestSession session(params_for(backend, "", "name=psnr"), clip, reference);
    session.run();
    failed = session.error;
    if (failed) std::printf("error %d: %s", -failed, session.log().c_str());
    for (const FrameScores& frame : session.frames[0])
      for (const auto& [key, value] : frame) std::printf("%s %a\n", key.c_str(), value);
  }
  vmafx_kept_reference_close(&reference);
  return failed != 0;
}

/* A few of them: hip_session_test takes all, of one session. */
START_TEST(calls_may_fail) {
  const std::string want = run_again("", "cpu").text;
  const int calls = count_calls("hip");
  ck_assert_int_ge(calls, 150);
  constexpr const char* kHow[] = {"launch", "memory", "lost"};
  const int step = 5 * every_if_not_all(4) * every_under_sanitizers(2);
  int scored = 0;
  for (int k = 1; k <= calls; k += step) {
    const Rerun rerun = run_again(emulator("FAIL", std::to_string(k) + ":" + kHow[k % 3]), "hip");
    scored += rerun.succeeded;
    if (!rerun.succeeded) assert_contains(rerun.text, "backend=hip cannot run: ");
    else ck_assert_msg(rerun.text == want, "call %d: %s", k, rerun.last_words().c_str());
  }
  ck_assert_int_ge(scored, calls / 4 / step);
}
END_TEST

/* Kept sums can only be told from new ones by changing the samples behind them, which no application may do. */
START_TEST(sums_of_the_reference_alone_are_kept) {
  constexpr char kMotions[] =
      "name=motion|name=motion:motion_five_frame_window=true|name=motion:motion_fps_weight=2|name=float_motion|name="
      "psnr";
  TestReference reference(kSmall);
  std::vector<VmafxPicture> pictures;
  for (int frame = 0; frame < 7; frame++) {
    pictures.push_back(ref_picture(kSmall, frame));
    ck_assert_int_eq(vmafx_kept_reference_add(reference.get(), &pictures.back()), 0);
  }
  const Clip clip, every_third{.frames = {0, 3, 6}};
  const Params params = params_for("cpu", "", kMotions);
  TestSession first(params, clip, reference.get());
  first.run();
  for (const VmafxPicture& picture : pictures)
    std::memset(const_cast<uint8_t*>(picture.data[0]), 7, static_cast<size_t>(picture.stride[0]) * kSmall.height);
  TestSession second(params, clip, reference.get()), others(params, every_third, reference.get());
  second.run();
  others.run();
  int motions = 0;
  for (size_t i = 0; i < second.frames[0].size(); i++)
    for (const auto& [key, score] : second.frames[0][i]) {
      const bool is_motion = key.find("motion") != key.npos;
      ck_assert_msg((score == first.frames[0][i][key]) == (is_motion || key != "psnr_y"), "%s", key.c_str());
      motions += is_motion && score > 0;
    }
  ck_assert_int_gt(motions, 4 * 6);
  for (const FrameScores& frame : others.frames[0])
    for (const auto& [key, score] : frame)
      if (key.find("motion") != key.npos) ck_assert_msg(score == 0, "%s is %g", key.c_str(), score);
}
END_TEST

/* -- Pictures in a GPU's memory ------------------------------------------------------------------------------------ */

namespace {

struct Surface {
  VmafxFormat format;
  int frame;
  int failure;
};

VmafxPicture surface(const VmafxFormat& format, int frame, int failure = 0) {
  VmafxPicture picture{};
  picture.opaque = new Surface{format, frame, failure};
  picture.release = [](void* opaque) { delete static_cast<Surface*>(opaque); };
  picture.download = [](void* opaque, VmafxPicture* copy) {
    const Surface& from = *static_cast<Surface*>(opaque);
    if (from.failure) return from.failure;
    *copy = ref_picture(from.format, from.frame);
    return 0;
  };
  return picture;
}

}  // namespace

START_TEST(pictures_of_a_gpu_are_downloaded) {
  VmafxFormat format = semi_planar(planar(96, 84, VMAFX_CHROMA_420, 10));
  const Clip clip{.ref = format};
  format.memory = VMAFX_MEMORY_DEVICE;
  TestReference reference(format);
  for (int frame = 0; frame < 7; frame++) {
    const VmafxPicture picture = surface(format, frame);
    ck_assert_int_eq(vmafx_kept_reference_add(reference.get(), &picture), 0);
    ck_assert_int_eq(TestPicture::alive, 0);
  }
  for (const char* backend : kBackends) {
    TestSession session(params_for(backend, kModel, kFeatures), clip, reference.get());
    ck_assert_uint_eq(vmafx_imports(session.get()), 0);
    session.close();
    assert_as_alone(params_for(backend, kModel, kFeatures), clip, reference.get(), backend);
  }
  const VmafxPicture lost = surface(format, 7, -EIO);
  ck_assert_int_eq(vmafx_kept_reference_add(reference.get(), &lost), -EIO);
  VmafxPicture alone = surface(format, 7);
  alone.download = nullptr;
  ck_assert_int_eq(vmafx_kept_reference_add(reference.get(), &alone), -EINVAL);
  ck_assert_int_eq(vmafx_kept_reference_frames(reference.get()), 7);
}
END_TEST

/* -- What is wrong ------------------------------------------------------------------------------------------------- */

/* The stream goes on as if these calls had not been made. */
START_TEST(frames_that_it_does_not_have) {
  const Clip clip;
  const SessionAlone alone(params_for("cpu", kModel), clip);
  for (const char* backend : kBackends) {
    TestReference reference(kSmall, {.copy = 1});
    reference.fill();
    TestSession session(params_for(backend, kModel), clip, reference.get());
    for (const int64_t wrong : {int64_t{-1}, int64_t{7}, INT64_MAX, INT64_MIN}) {
      const VmafxPicture dist = ref_picture(kSmall, 0);
      const VmafxPicture* given = &dist;
      ck_assert_int_eq(vmafx_submit_against(session.get(), wrong, &given, 1), -EINVAL);
      ck_assert_int_eq(TestPicture::alive, 0);
      assert_text_eq(vmafx_last_error(session.get()),
                     format_text("there is no frame %lld of the reference, which has 7 frames, counted from 0",
                                 static_cast<long long>(wrong)));
    }
    session.run();
    assert_equal(session, alone, backend);
  }
}
END_TEST

START_TEST(encodes_of_another_format) {
  TestReference reference(kSmall);
  reference.fill();
  const struct {
    VmafxFormat format;
    const char* text;
  } others[] = {{planar(98, 84, VMAFX_CHROMA_420, 8), "input width must match"},
                {planar(96, 80, VMAFX_CHROMA_420, 8), "input height must match"},
                {planar(96, 84, VMAFX_CHROMA_420, 10), "input pix_fmt must match"},
                {planar(96, 84, VMAFX_CHROMA_444, 8), "input pix_fmt must match"}};
  for (const auto& other : others) {
    const Clip clip{.dist = other.format};
    TestSession session(params_for("cpu", kModel), clip, reference.get());
    ck_assert_int_eq(session.error, -EINVAL);
    assert_contains(session.log(), other.text);
    ck_assert_int_eq(vmafx_configure_against(session.get(), reference.get(), &kSmall, 1), 0);
  }
}
END_TEST

START_TEST(calls_that_do_not_belong_together) {
  TestReference reference(kSmall);
  reference.fill();
  const Clip clip;
  const auto submit_one = [](VmafxContext* ctx) {
    const VmafxPicture dist = ref_picture(kSmall, 0);
    const VmafxPicture* given = &dist;
    return vmafx_submit_against(ctx, 0, &given, 1);
  };
  {
    TestSession session(params_for("cpu", kModel), clip, reference.get());
    const VmafxPicture ref = ref_picture(kSmall, 0), dist = ref_picture(kSmall, 1);
    ck_assert_int_eq(vmafx_submit(session.get(), &ref, &dist), -EINVAL);
    assert_contains(session.log(), "no picture of it is submitted");
    ck_assert_int_eq(vmafx_configure(session.get(), &kSmall, &kSmall), -EINVAL);
    ck_assert_int_eq(vmafx_configure_against(session.get(), reference.get(), &kSmall, 1), -EINVAL);
    const VmafxPicture* none = nullptr;
    ck_assert_int_eq(vmafx_submit_against(session.get(), 0, &none, 1), -EINVAL);
    ck_assert_int_eq(vmafx_submit_against(session.get(), 0, nullptr, 1), -EINVAL);
    ck_assert_int_eq(vmafx_submit_against(session.get(), 0, &none, 0), -EINVAL);
    const VmafxPicture two[2] = {ref_picture(kSmall, 0), ref_picture(kSmall, 1)};
    const VmafxPicture* const both[2] = {&two[0], &two[1]};
    ck_assert_int_eq(vmafx_submit_against(session.get(), 0, both, 2), -EINVAL);
    session.run();
    ck_assert_int_eq(submit_one(session.get()), -EINVAL);
    assert_contains(session.log(), "after the end of the stream");
  }
  TestSession plain(params_for("cpu", kModel), clip, nullptr);
  ck_assert_int_eq(submit_one(plain.get()), -EINVAL);
  assert_contains(plain.log(), "not configured against a reference");
  Params params = params_for("cpu", kModel);
  VmafxContext* ctx = nullptr;
  params.encodes = 2;
  ck_assert_int_eq(open_context(&ctx, params), 0);
  ck_assert_int_eq(submit_one(ctx), -EINVAL);
  ck_assert_int_eq(vmafx_configure_against(ctx, reference.get(), &kSmall, 1), -EINVAL);
  ck_assert_int_eq(vmafx_configure_against(ctx, nullptr, &kSmall, 2), -EINVAL);
  ck_assert_int_eq(vmafx_configure_against(ctx, reference.get(), nullptr, 2), -EINVAL);
  vmafx_close(&ctx);
  reference.close();
  ck_assert_int_eq(TestPicture::alive, 0);
}
END_TEST

START_TEST(wrong_arguments_are_refused) {
  std::string log;
  VmafxKeptReference* reference = nullptr;
  const auto open = [&](VmafxFormat format, VmafxKeptReferenceParams params) {
    params.log = append_log;
    params.log_cookie = &log;
    reference = reinterpret_cast<VmafxKeptReference*>(&log);
    const int ret = vmafx_kept_reference_open(&reference, &format, &params);
    if (ret) ck_assert_ptr_null(reference);
    return ret;
  };
  ck_assert_int_eq(open(planar(0, 84, VMAFX_CHROMA_420, 8), {}), -EINVAL);
  assert_contains(log, "the reference input is 0x84");
  ck_assert_int_eq(open(kSmall, {.planes = 8}), -EINVAL);
  assert_contains(log, "planes=8 of a reference; use bits 0 to 2");
  ck_assert_int_eq(open(planar(96, 84, VMAFX_CHROMA_400, 8), {.planes = 6}), -EINVAL);
  ck_assert_int_eq(open(kSmall, {.reserved = {&log}}), -EINVAL);
  VmafxFormat reserved = kSmall;
  reserved.reserved[0] = &log;
  ck_assert_int_eq(open(reserved, {}), -EINVAL);
  ck_assert_int_eq(vmafx_kept_reference_open(nullptr, &kSmall, nullptr), -EINVAL);
  ck_assert_int_eq(vmafx_kept_reference_open(&reference, nullptr, nullptr), -EINVAL);
  ck_assert_int_eq(vmafx_kept_reference_frames(nullptr), 0);
  ck_assert_uint_eq(vmafx_kept_reference_bytes(nullptr), 0);
  ck_assert_uint_eq(vmafx_kept_reference_device_bytes(nullptr), 0);
  assert_text_eq(vmafx_kept_reference_last_error(nullptr), "");
  vmafx_kept_reference_close(nullptr);
  vmafx_kept_reference_close(&reference);

  ck_assert_int_eq(vmafx_kept_reference_open(&reference, &kSmall, nullptr), 0);
  ck_assert_int_eq(vmafx_kept_reference_add(reference, nullptr), -EINVAL);
  VmafxPicture picture = ref_picture(kSmall, 0);
  ck_assert_int_eq(vmafx_kept_reference_add(nullptr, &picture), -EINVAL);
  ck_assert_int_eq(TestPicture::alive, 0);
  picture = ref_picture(kSmall, 0);
  picture.data[1] = nullptr;
  ck_assert_int_eq(vmafx_kept_reference_add(reference, &picture), -EINVAL);
  assert_contains(vmafx_kept_reference_last_error(reference), "without the data of plane 1");
  picture = ref_picture(kSmall, 0);
  picture.reserved[0] = &log;
  ck_assert_int_eq(vmafx_kept_reference_add(reference, &picture), -EINVAL);
  ck_assert_int_eq(vmafx_kept_reference_frames(reference), 0);
  ck_assert_uint_eq(vmafx_kept_reference_bytes(reference), 0);
  ck_assert_int_eq(TestPicture::alive, 0);
  vmafx_kept_reference_close(&reference);
}
END_TEST

int main(int argc, char** argv) {
  use_emulator();
  if (argc > 1) return print_scores_of_two(argv[1]);
  const int failed = run_suite_on_emulator("copies on a bad GPU", {{"failures", calls_may_fail}});
  return failed | run_host_suite_on_device("reference", {{"formats", formats_have_the_scores_of_plain_sessions},
                                                         {"luma", luma_alone_has_them},
                                                         {"no-samples", planes_without_samples_are_kept},
                                                         {"order", any_frames_in_any_order},
                                                         {"encodes", several_encodes_and_subsampling},
                                                         {"verify", the_gpu_is_verified},
                                                         {"at_once", several_sessions_at_once},
                                                         {"released", pictures_are_released},
                                                         {"closed", sessions_keep_what_is_closed},
                                                         {"early", sessions_that_end_early_leave_it_as_it_is},
                                                         {"budget", what_fits_the_budget_stays},
                                                         {"sums", sums_of_the_reference_alone_are_kept},
                                                         {"copies", copies_on_the_gpu_are_read_by_later_sessions},
                                                         {"needed", copies_come_as_they_are_needed},
                                                         {"device_budget", copies_keep_to_the_budget},
                                                         {"share_copies", sessions_at_once_share_copies},
                                                         {"copies_go", copies_go_with_the_reference},
                                                         {"downloaded", pictures_of_a_gpu_are_downloaded},
                                                         {"no_frame", frames_that_it_does_not_have},
                                                         {"other_format", encodes_of_another_format},
                                                         {"calls", calls_that_do_not_belong_together},
                                                         {"arguments", wrong_arguments_are_refused}});
}
