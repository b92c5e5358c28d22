/* A session of several encodes, or of one, and what it must have: the scores that each encode has alone on the CPU. */
#ifndef VMAFX_TESTS_SUPPORT_ENCODES_H
#define VMAFX_TESTS_SUPPORT_ENCODES_H

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/check_main.h"
#include "tests/support/device.h"
#include "tests/support/stream.h"

namespace vmafx::test {

/* Tells which pictures of the reference an encode has pairs with. */
using Schedule = std::function<bool(int encode, int frame)>;

inline bool every(int, int) { return true; }

/* One ends early, one begins late, one has gaps, another once begins in the middle of a gap. */
inline bool uneven(int encode, int frame) {
  switch (encode % 5) {
    case 1: return frame < 4;
    case 2: return frame > 1;
    case 3: return frame != 2 && frame != 3;
    case 4: return frame % 3 != 1;
    default: return true;
  }
}

struct Encodes {
  int count = 3;
  int frames = 8;
  Schedule has_pair = every;
  VmafxFormat format{96, 84, VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};
  VmafxFormat second = format;                            // encode 1's
  std::function<void(int frame)> before{};                // called before its pictures are submitted
  std::function<void(const std::string& line)> on_log{};  // called with each line of the log, from any thread
};

inline const VmafxFormat& format_of(const Encodes& encodes, int encode) {
  return encode == 1 ? encodes.second : encodes.format;
}

inline VmafxPicture picture(const VmafxFormat& format, int frame, int encode) {
  const bool is_dist = encode >= 0;
  VmafxPicture made = TestPicture::make(format, make_samples(format, frame + (is_dist ? 5 * encode : 0), is_dist));
  made.has_time = 1;
  made.time = frame / 25.;
  return made;
}

struct Result {
  int error = 0;
  std::vector<std::vector<FrameScores>> frames;  // by encode
  std::vector<double> models;                    // pooled, by encode
  std::string log;
};

/* The encodes first .. end-1 in one session. EILSEQ: frames come in a wrong order; EBUSY: a picture is not given
 * back. */
inline Result run(Params params, const Encodes& encodes, int first, int end) {
  Result result;
  const auto on_log = [&](const char* message) {
    result.log += std::string(message) + "\n";
    if (encodes.on_log) encodes.on_log(message);
  };
  params.log = [](void* to, VmafxLogLevel, const char* message) { (*static_cast<decltype(on_log)*>(to))(message); };
  params.log_cookie = const_cast<void*>(static_cast<const void*>(&on_log));
  params.encodes = end - first;
  result.frames.resize(static_cast<size_t>(end - first));
  result.models.resize(static_cast<size_t>(end - first));
  VmafxContext* ctx = nullptr;
  const auto keep = [&](int ret) {
    if (ret < 0 && ret != -EAGAIN && !result.error) result.error = ret;
    return ret == 0;
  };
  const auto receive = [&] {
    VmafxFrameResult received;
    while (keep(vmafx_receive(ctx, &received))) {
      auto& frames = result.frames[static_cast<size_t>(received.encode)];
      if (received.frame != static_cast<int64_t>(frames.size())) result.error = -EILSEQ;
      FrameScores scores;
      for (size_t i = 0; i < received.n_scores; i++) scores[received.scores[i].key] = received.scores[i].value;
      frames.push_back(std::move(scores));
    }
  };
  if (!keep(open_context(&ctx, params))) return result;
  std::vector<VmafxFormat> formats;
  for (int encode = first; encode < end; encode++) formats.push_back(format_of(encodes, encode));
  keep(vmafx_configure_encodes(ctx, &encodes.format, formats.data(), end - first));
  for (int frame = 0; frame < encodes.frames && !result.error; frame++) {
    if (encodes.before) encodes.before(frame);
    std::vector<VmafxPicture> pictures(static_cast<size_t>(end - first));
    std::vector<const VmafxPicture*> dist(pictures.size());
    for (int encode = first; encode < end; encode++) {
      const size_t i = static_cast<size_t>(encode - first);
      if (!encodes.has_pair(encode, frame)) continue;
      pictures[i] = picture(formats[i], frame, encode);
      dist[i] = &pictures[i];
    }
    if (std::ranges::none_of(dist, [](const VmafxPicture* given) { return given; })) continue;
    const VmafxPicture ref = picture(encodes.format, frame, -1);
    keep(vmafx_submit_encodes(ctx, &ref, dist.data(), end - first));
    receive();
  }
  if (!result.error) keep(vmafx_finish(ctx));
  if (vmafx_finished(ctx)) receive();
  for (int i = 0; vmafx_finished(ctx) && vmafx_model_count(ctx) && i < end - first; i++)
    keep(vmafx_encode_model_score(ctx, i, 0, nullptr, &result.models[static_cast<size_t>(i)]));
  vmafx_close(&ctx);
  if (TestPicture::alive) result.error = -EBUSY;
  return result;
}

/* The results of each encode alone on the CPU. */
inline std::vector<Result> each_alone(Params params, const Encodes& encodes) {
  params.backend = "cpu";
  params.verify = 0;
  params.log_path = nullptr;
  Encodes undisturbed = encodes;
  undisturbed.before = {};
  undisturbed.on_log = {};
  std::vector<Result> alone;
  for (int encode = 0; encode < encodes.count; encode++) alone.push_back(run(params, undisturbed, encode, encode + 1));
  return alone;
}

/* Together they have what each has alone. Returns the former. */
inline Result assert_as_alone(const Params& params, const Encodes& encodes, const std::vector<Result>& alone) {
  use_emulator();
  const Result together = run(params, encodes, 0, encodes.count);
  ck_assert_msg(together.error == 0, "%s", together.log.c_str());
  for (int encode = 0; encode < encodes.count; encode++) {
    const auto &got = together.frames[static_cast<size_t>(encode)],
               &want = alone[static_cast<size_t>(encode)].frames[0];
    ck_assert_int_eq(got.size(), want.size());
    for (size_t i = 0; i < want.size(); i++)
      for (const auto& [key, score] : want[i]) {
        const auto found = got[i].find(key);
        ck_assert_msg(
            found != got[i].end() && (found->second == score || (found->second != found->second && score != score)),
            "%s of frame %zu of encode %d of %d (%s, %d threads) is %.17g together, %.17g alone", key.c_str(), i,
            encode, encodes.count, together.log.find("GPU") == std::string::npos ? "cpu" : "hip", params.n_threads,
            found == got[i].end() ? -1. : found->second, score);
      }
    ck_assert(together.models[static_cast<size_t>(encode)] == alone[static_cast<size_t>(encode)].models[0]);
  }
  return together;
}

inline Result assert_as_alone(const Params& params, const Encodes& encodes) {
  return assert_as_alone(params, encodes, each_alone(params, encodes));
}

}  // namespace vmafx::test

#endif
