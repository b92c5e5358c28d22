/* The C API as a state machine: calls in any order, with any formats, pictures and texts. A failed call says why, each
 * picture is released once, frames come in order, and the scores are those that two threads of the CPU compute.
 *
 * For some inputs only (see Choice): one in four has a GPU, where it asks for one, and one in four of these for metrics
 * whose kernels take the emulator tens of milliseconds, too; of what the CPU scored, one in four is scored again; the
 * reports of one in four are read; one in four has a collection of models, where it asks for one.
 *
 * An input is a script. Options: mN fN the models and features of tables below, bN backend, iN N a number, and texts:
 * W window, R range, w warn_below, l fail_below, p pool, s score_fmt, n encode_names, L log_fmt, M openmetrics, k
 * check;
 * vNAME=VALUE is set in options of its own. Formats: FN … of all inputs, DN N … of one. Calls: O open, CN configure, AN
 * configure against the reference, S submit, T submit against, r receive, t receive and wait, X finish, Q close, GN N
 * scores, BN REAL the place of a pair, HN … pairing; of a reference: o open, a add, c close. */
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <unistd.h>

#include "base/json.h"
#include "fuzz/target.h"
#include "tests/support/params.h"
#include "tests/support/paths.h"
#include "vmafx/vmafx.h"

using namespace vmafx;
using namespace vmafx::fuzz;

namespace {

constexpr const char* kModels[] = {"", "vmaf_v0.6.1", "vmaf_b_v0.6.3:name=b",
                                   "vmaf_v0.6.1|vmaf_v0.6.1neg:name=neg:disable_clip=true"};
constexpr int kCollection = 2;  // its index in kModels
constexpr const char* kFeatures[] = {"psnr:enable_apsnr=true",
                                     "vif|float_vif",
                                     "adm|float_adm",
                                     "motion|float_motion:motion_force_zero=true",
                                     "float_ssim|float_ms_ssim|psnr_hvs",
                                     "ciede|cambi",
                                     "xpsnr|float_moment|float_ansnr",
                                     "ssimulacra2",
                                     "butteraugli",
                                     "speed_chroma|speed_temporal",
                                     "cvvdp",
                                     "psnr:reduced_hbd_peak=true|psnr:reduced_hbd_peak=true:enable_mse=true",
                                     "",
                                     "motion"};
constexpr const char* kOnEmulator[] = {kFeatures[0], kFeatures[3],  kFeatures[4], kFeatures[5],
                                       kFeatures[9], kFeatures[11], kFeatures[13]};
constexpr const char* kBackends[] = {"cpu", "hip", "auto"};
/* A script has an end. */
constexpr int kLargestSide = 176, kMostPairs = 16, kMostLines = 120;
constexpr int64_t kMostSamples = 2 * kLargestSide * kLargestSide;  // in all pairs' pictures together, in luma
constexpr int kMostOpens = 2;                                      // sessions of one encode on the CPU
constexpr int kOpensOnEmulator = 2, kSamplesOnEmulator = 4;        // as many as one there
constexpr int kEncodesPerOpen = 8;

/* -- Pictures ------------------------------------------------------------------------------------------------------ */

enum PictureFlags {
  kKeyframe = 1,
  kTimed = 2,
  kUpsideDown = 4,
  kNoChroma = 8,
  kNoSamples = 16,
  kReserved = 32,
  kPadded = 64
};

/* The samples of one, and not a byte more. */
class Samples {
 public:
  static inline std::atomic<int> alive = 0;

  static VmafxPicture make(const VmafxFormat& format, int pattern, int flags, double time) {
    auto* samples = new Samples;
    alive++;
    VmafxPicture picture{};
    picture.opaque = samples;
    picture.release = [](void* opaque) {
      auto* released = static_cast<Samples*>(opaque);
      REQUIRE(!std::exchange(released->released_, true), "a picture was released twice");
      delete released;
      alive--;
    };
    picture.keyframe = flags & kKeyframe;
    picture.has_time = flags & kTimed;
    picture.time = time;
    if (flags & kReserved) picture.reserved[0] = samples;
    const int planes = format.chroma == VMAFX_CHROMA_400 ? 1 : format.layout == VMAFX_LAYOUT_SEMIPLANAR ? 2 : 3;
    for (int p = 0; p < planes && !(flags & kNoSamples) && !(p && flags & kNoChroma); p++)
      samples->add_plane(format, p, pattern, flags, picture);
    return picture;
  }

 private:
  UNOBSERVED void add_plane(const VmafxFormat& f, int p, int pattern, int flags, VmafxPicture& picture) {
    const bool half_w = p && f.chroma != VMAFX_CHROMA_444, half_h = p && f.chroma == VMAFX_CHROMA_420;
    const int w = (half_w ? (f.width + 1) / 2 : f.width) * (p && f.layout == VMAFX_LAYOUT_SEMIPLANAR ? 2 : 1);
    const int h = half_h ? (f.height + 1) / 2 : f.height, bytes = f.bits > 8 ? 2 : 1;
    const ptrdiff_t row = ptrdiff_t{w} * bytes, stride = row + (flags & kPadded ? 6 : 0);
    plane_[p] = std::make_unique<uint8_t[]>(static_cast<size_t>(stride * (h - 1) + row));
    uint8_t* const samples = plane_[p].get();
    const int most = (1 << f.bits) - 1, shift = f.shift < 0 ? 0 : f.shift > 8 ? 8 : f.shift;
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        const int value = sample(pattern, p, x, y, most);
        if (bytes == 1) samples[y * stride + x] = static_cast<uint8_t>(value);
        else store(samples + y * stride + 2 * x, value << shift);
      }
    const bool flipped = flags & kUpsideDown;
    picture.data[p] = samples + (flipped ? stride * (h - 1) : 0);
    picture.stride[p] = flipped ? -stride : stride;
  }

  UNOBSERVED static int sample(int pattern, int p, int x, int y, int most) {
    switch (pattern % 8) {
      case 0: return 0;
      case 1: return most;
      case 2: return (x * 7 + y * 5 + p * 31 + pattern * 3) * most / 1000 % (most + 1);
      case 3: return (x / 4 + y / 4) % 2 * most;
      case 4: return most / 2;
      default:
        return static_cast<int>((static_cast<uint32_t>(x * 131 + y * 7919 + pattern * 17 + p) * 2654435761u >> 8) %
                                (static_cast<uint32_t>(most) + 1));
    }
  }

  UNOBSERVED static void store(uint8_t* to, int value) {
    const uint16_t word = static_cast<uint16_t>(value);
    std::memcpy(to, &word, sizeof word);
  }

  std::unique_ptr<uint8_t[]> plane_[3];
  bool released_ = false;
};

/* -- What a run of a script shows ---------------------------------------------------------------------------------- */

struct Seen {
  using Frame = std::map<std::string, double>;

  std::array<std::map<int64_t, Frame>, VMAFX_MOST_ENCODES> frames;
  bool finished = false;  // a stream was, and all of its results were received
  bool for_gpu = false;   // a GPU was asked for
};

bool same_frame(const Seen::Frame& a, const Seen::Frame& b) {
  return std::ranges::equal(
      a, b, [](const auto& x, const auto& y) { return x.first == y.first && same(x.second, y.second); });
}

/* How a script is run. */
struct Way {
  bool gpu = false;          // if the script asks for one; else the CPU takes its place
  bool all_kernels = false;  // else it does for what is not in kOnEmulator
  bool collections = false;  // else the collection's base model alone
  bool reads_reports = false;
  bool on_two_threads = false;  // two threads of the CPU, whatever the script says
};

class Run {
 public:
  explicit Run(const Way& way) : way_(way) {
    texts_['b'] = "cpu", texts_['m'] = "", texts_['f'] = kFeatures[0];
    params_.n_threads = 1;
    params_.device_wait = 0;
    formats_.fill({64, 48, VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST});
  }

  ~Run() {
    vmafx_close(&ctx_);
    vmafx_kept_reference_close(&reference_);
    REQUIRE(Samples::alive == 0, "pictures that were not released: %d", Samples::alive.load());
  }

  void take_line(Script& script) {
    if (script.what() == '\0' || !std::strchr("mbifWRwlpsnLMFDv", script.what())) call(script);
    else set(script);
  }

  /* Ends the last stream, and returns what it gave. */
  const Seen& end() {
    close();
    return seen_;
  }

 private:
  using Formats = std::array<VmafxFormat, 1 + VMAFX_MOST_ENCODES>;

  void set(Script& script) {
    switch (const char what = script.what(); what) {
      case 'm': texts_[what] = model(script.number(0, std::size(kModels) - 1)); break;
      case 'f': texts_[what] = kFeatures[script.number(0, std::size(kFeatures) - 1)]; break;
      case 'b': texts_[what] = kBackends[script.number(0, std::size(kBackends) - 1)]; break;
      case 'i': {
        const int field = script.number(0, 9);
        set_number(field, script.number(INT_MIN, INT_MAX));
        break;
      }
      case 'v': try_option(script.text()); break;
      case 'F': formats_.fill(format(script)); break;
      case 'D': {
        const int i = script.number(0, VMAFX_MOST_ENCODES);
        formats_[static_cast<size_t>(i)] = format(script);
        break;
      }
      default: texts_[what] = script.text();
    }
  }

  /* An option is set, or the message says why not. */
  static void try_option(const std::string& text) {
    const test::OptionsOwner options(vmafx_options_new());
    const size_t at = text.find('=');
    const std::string name = text.substr(0, at), value = at == text.npos ? "" : text.substr(at + 1);
    const int ret = vmafx_options_set(options.get(), name.c_str(), at == text.npos ? nullptr : value.c_str());
    REQUIRE(ret == 0 || ret == -ENOENT || ret == -EINVAL, "%s: %d", text.c_str(), ret);
    REQUIRE((ret == 0) == !*vmafx_options_last_error(options.get()), "%s: %d", text.c_str(), ret);
  }

  const char* model(int number) const { return kModels[number == kCollection && !way_.collections ? 1 : number]; }

  void set_number(int field, int value) {
    int* const fields[] = {&params_.encodes,      &params_.n_subsample, &params_.fallback,       &params_.verify,
                           &params_.report_times, &params_.summary,     &params_.ignore_unknown, &params_.verify_fail,
                           &params_.n_threads,    &params_.pooled_only};
    if (field == 8 && (value < -1 || value > 3)) return;  // threads take memory
    *fields[field] = value;
  }

  static VmafxFormat format(Script& script) {
    VmafxFormat format{};
    format.width = script.number(-1, kLargestSide);
    format.height = script.number(-1, kLargestSide);
    format.chroma = static_cast<VmafxChroma>(script.number(0, 3));
    format.bits = script.number(7, 17);
    format.layout = static_cast<VmafxLayout>(script.number(0, 1));
    format.shift = script.number(0, 8);
    format.color = {script.number(0, 20), script.number(0, 3), script.number(0, 20), script.number(0, 20),
                    script.number(0, 7)};
    format.fps = script.real();
    return format;
  }

  /* -- Calls -- */

  void call(Script& script) {
    switch (script.what()) {
      case 'O': return open();
      case 'Q': return close();
      case 'o': return open_reference(script);
      case 'a': return add(script);
      case 'c': return vmafx_kept_reference_close(&reference_);
      default: break;
    }
    if (ctx_) call_on_context(script);
  }

  void call_on_context(Script& script) {
    switch (script.what()) {
      case 'C': configure(script, false); break;
      case 'A': configure(script, true); break;
      case 'S': submit(script); break;
      case 'T': submit_against(script); break;
      case 'r': (void)receive(vmafx_receive); break;
      case 't': (void)receive(vmafx_receive_wait); break;
      case 'X': finish(); break;
      case 'G': ask(script.number(-1, VMAFX_MOST_ENCODES), script.number(-1, 4)); break;
      case 'B': {
        const int pair = script.number(-1, INT_MAX);
        (void)vmafx_range_place(ctx_, pair, script.number(0, 1), script.real());
        break;
      }
      case 'H': {
        VmafxPairing pairing{};
        pairing.encode = script.number(-1, VMAFX_MOST_ENCODES);
        pairing.paired = script.number(INT_MIN, INT_MAX);
        pairing.cut_short = script.number(0, 1);
        pairing.max_time_difference = script.real();
        require(vmafx_set_pairing(ctx_, &pairing));
        break;
      }
      default: break;
    }
  }

  /* With FUZZ_SHOW=1 the log tells what an input does. */
  static void log(void* run, VmafxLogLevel level, const char* message) {
    static const bool kShow = std::getenv("FUZZ_SHOW");
    if (kShow) std::fprintf(stderr, "%d: %s\n", level, message);
    REQUIRE(*message, "an empty message of level %d", level);
    static_cast<Run*>(run)->errors_ += level == VMAFX_LOG_ERROR;
  }

  /* Requires that a failed call says why, to the caller and in the log. */
  void require(int ret) {
    REQUIRE(ret <= 0 && ret != -EAGAIN, "returned %d", ret);
    REQUIRE(ret == 0 || *vmafx_last_error(ctx_), "%d without words", ret);
    REQUIRE(ret == 0 || errors_.load() > 0, "%d is not in the log", ret);
  }

  const char* given(char what) const {
    const auto found = texts_.find(what);
    return found == texts_.end() ? nullptr : found->second.c_str();
  }

  void open() {
    if (ctx_ || opens_ >= kMostOpens) return;
    test::Params params = params_;
    params.model = given('m'), params.feature = given('f'), params.window = given('W'), params.range = given('R');
    params.warn_below = given('w'), params.fail_below = given('l'), params.pool = given('p'),
    params.score_fmt = given('s');
    params.encode_names = given('n'), params.log_fmt = given('L'), params.check = given('k');
    for_gpu_ = is_for_gpu();
    params.backend = for_gpu_ || given('b') != std::string("hip") ? given('b') : "cpu";
    opens_ += (for_gpu_ ? kOpensOnEmulator : 1) + std::clamp(params.encodes, 1, VMAFX_MOST_ENCODES) / kEncodesPerOpen;
    if (way_.on_two_threads) params.backend = "cpu", params.n_threads = 2;
    std::string report_path, metrics_path;
    if (params.log_fmt) params.log_path = (report_path = report_.emplace().pipe()).c_str();
    if (given('M')) params.openmetrics = (metrics_path = metrics_.emplace().path()).c_str();
    params.log = log;
    params.log_cookie = this;
    errors_ = 0;
    is_json_ = params.log_fmt && params.log_fmt == std::string("json");
    encodes_ = params.encodes;
    const int ret = test::open_context(&ctx_, params);
    REQUIRE((ret == 0) == (ctx_ != nullptr), "returned %d", ret);
    REQUIRE(ret == 0 || errors_.load() > 0, "%d without words", ret);
    received_.fill(-1);
    configured_ = formats_;
    if (ctx_) seen_ = {.for_gpu = for_gpu_};
  }

  bool is_for_gpu() const {
    if (!way_.gpu || given('b') != std::string("hip")) return false;
    const bool cheap = !*given('m') && std::ranges::find(kOnEmulator, texts_.at('f')) != std::end(kOnEmulator);
    return cheap || way_.all_kernels;
  }

  void close() {
    const bool finished = vmafx_finished(ctx_);
    if (finished)
      while (receive(vmafx_receive)) continue;
    if (finished) log(this, VMAFX_LOG_DEBUG, "the stream ended well");
    seen_.finished |= finished;
    vmafx_close(&ctx_);
    REQUIRE(!ctx_, "closed");
  }

  struct Pair {
    int pattern, mask, flags;
    double time;
  };
  static Pair pair(Script& script) {
    const int pattern = script.number(0, 63), mask = script.number(0, (1 << VMAFX_MOST_ENCODES) - 1),
              flags = script.number(0, 127);
    return {pattern, mask, flags, script.real()};
  }

  /* Pictures of the encodes whose bits are set. */
  template <class Submit>
  void with_dist(const Pair& pair, int n, Submit submit) {
    std::vector<VmafxPicture> pictures(static_cast<size_t>(n));
    std::vector<const VmafxPicture*> given(static_cast<size_t>(n));
    for (size_t i = 0; i < pictures.size(); i++) {
      if (!(pair.mask >> i & 1)) continue;
      pictures[i] = Samples::make(configured_[1 + i], pair.pattern + 1 + static_cast<int>(i), pair.flags, pair.time);
      given[i] = &pictures[i];
    }
    submit(given.data());
  }

  std::span<const VmafxFormat> used_formats(int n) const { return {configured_.data(), 1 + static_cast<size_t>(n)}; }

  /* Formats that no configuration takes have no pictures; and a script has an end. */
  bool has_pictures(std::span<const VmafxFormat> formats) {
    if (++pairs_ > kMostPairs || !std::ranges::all_of(formats, [](const VmafxFormat& f) {
          return f.width > 0 && f.height > 0 && f.bits >= 8 && f.bits <= 16;
        }))
      return false;
    const int weight = for_gpu_ ? kSamplesOnEmulator : 1;
    for (const VmafxFormat& f : formats) samples_ += int64_t{f.width} * f.height * weight;
    return samples_ <= kMostSamples;
  }

  void submit(Script& script) {
    const Pair given = pair(script);
    const int n = std::clamp(encodes_, 1, VMAFX_MOST_ENCODES);
    if (!has_pictures(used_formats(n))) return;
    const VmafxPicture ref = Samples::make(configured_[0], given.pattern, given.flags & ~kReserved, given.time);
    with_dist(given, n, [&](const VmafxPicture* const* dist) { require(vmafx_submit_encodes(ctx_, &ref, dist, n)); });
  }

  void submit_against(Script& script) {
    const int frame = script.number(-1, kMostPairs);
    const Pair given = pair(script);
    const int n = std::clamp(encodes_, 1, VMAFX_MOST_ENCODES);
    if (!has_pictures(used_formats(n))) return;
    with_dist(given, n, [&](const VmafxPicture* const* dist) { require(vmafx_submit_against(ctx_, frame, dist, n)); });
  }

  void configure(Script& script, bool against) {
    const int n = script.number(0, VMAFX_MOST_ENCODES);
    if (against && !reference_) return;
    const int ret = against ? vmafx_configure_against(ctx_, reference_, &formats_[1], n)
                            : vmafx_configure_encodes(ctx_, &formats_[0], &formats_[1], n);
    require(ret);
    if (ret == 0) configured_ = formats_;
  }

  /* The next result: frames of an encode come in order, without gaps. */
  bool receive(int (*next)(VmafxContext*, VmafxFrameResult*)) {
    VmafxFrameResult result;
    const int ret = next(ctx_, &result);
    if (ret == -EAGAIN) return false;
    require(ret);
    if (ret != 0) return false;
    REQUIRE(result.encode >= 0 && result.encode < encodes_, "encode %d", result.encode);
    int64_t& last = received_[static_cast<size_t>(result.encode)];
    REQUIRE(last < 0 || result.frame == last + 1, "frame %d after %d", static_cast<int>(result.frame),
            static_cast<int>(last));
    last = result.frame;
    Seen::Frame& frame = seen_.frames[static_cast<size_t>(result.encode)][result.frame];
    for (size_t i = 0; i < result.n_scores; i++) {
      REQUIRE(*result.scores[i].key, "score %zu has no name", i);
      REQUIRE(frame.emplace(result.scores[i].key, result.scores[i].value).second, "two scores called %s",
              result.scores[i].key);
    }
    if (const VmafxPoolWindow* window = result.window)
      REQUIRE(window->first_frame <= window->last_frame && window->last_frame == result.frame, "window %d",
              static_cast<int>(window->number));
    return true;
  }

  void finish() {
    const int ret = vmafx_finish(ctx_);
    require(ret);
    if (ret != 0) return;
    REQUIRE(vmafx_finished(ctx_) == 1, "finished, and not");
    for (int i = 0; i < vmafx_model_count(ctx_); i++) ask(0, i);
    if (is_json_ && way_.reads_reports) REQUIRE(Json::parse(report_->text()), "no JSON: %s", report_->text().c_str());
  }

  void ask(int encode, int i) {
    const bool is_there = vmafx_finished(ctx_) && encode >= 0 && encode < encodes_ && i >= 0;
    for (const bool model : {true, false}) {
      const char* name = nullptr;
      double score = -1;
      const int ret = model ? vmafx_encode_model_score(ctx_, encode, i, &name, &score)
                            : vmafx_encode_feature_score(ctx_, encode, i, &name, &score);
      require(ret);
      REQUIRE(ret != 0 || (name && *name), "a score without a name");
      REQUIRE(ret != 0 || is_there, "score %d of encode %d", i, encode);
      REQUIRE(ret != 0 || !model || std::isfinite(score), "%s is %g", name, score);
      const bool counted = i < (model ? vmafx_model_count(ctx_) : vmafx_feature_count(ctx_));
      REQUIRE(ret == 0 || ret == -EDOM || !is_there || !counted, "score %d of encode %d: %d", i, encode, ret);
    }
    ask_finding(encode, i, is_there);
    char text[512];
    REQUIRE(vmafx_format_score(ctx_, i * 0.37, text, sizeof text) == 0, "a score is longer than 512 bytes");
    (void)vmafx_encode_name(ctx_, encode);
  }

  void ask_finding(int encode, int i, bool is_there) {
    VmafxFinding finding{};
    if (vmafx_finding(ctx_, encode, i, &finding) != 0) return;
    REQUIRE(is_there && *finding.name && *finding.text, "finding %d of encode %d", i, encode);
    REQUIRE(finding.from < finding.end, "%s has no pairs", finding.name);
    for (const VmafxEvidence& evidence : std::span(finding.evidence, finding.n_evidence))
      REQUIRE(*evidence.name && std::isfinite(evidence.value), "the evidence %s", evidence.name);
    for (const char* remedy : std::span(finding.remedies, finding.n_remedies)) REQUIRE(*remedy, "no remedy");
  }

  void open_reference(Script& script) {
    if (reference_) return;
    VmafxKeptReferenceParams params{};
    params.planes = static_cast<unsigned>(script.number(0, 8));
    params.copy = script.number(0, 1);
    params.budget = static_cast<uint64_t>(script.number(0, 1 << 16));
    params.device_budget = static_cast<uint64_t>(script.number(0, 1 << 20));
    params.log = log;
    params.log_cookie = this;
    const int ret = vmafx_kept_reference_open(&reference_, &formats_[0], &params);
    REQUIRE((ret == 0) == (reference_ != nullptr), "returned %d", ret);
    reference_format_ = formats_[0];
  }

  void add(Script& script) {
    const Pair given = pair(script);
    if (!reference_ || !has_pictures({&reference_format_, 1})) return;
    const int64_t before = vmafx_kept_reference_frames(reference_);
    const VmafxPicture picture = Samples::make(reference_format_, given.pattern, given.flags, given.time);
    const int ret = vmafx_kept_reference_add(reference_, &picture);
    REQUIRE(ret == 0 || *vmafx_kept_reference_last_error(reference_), "%d without words", ret);
    REQUIRE(vmafx_kept_reference_frames(reference_) == before + (ret == 0), "returned %d", ret);
  }

  const Way way_;
  test::Params params_{};
  std::map<char, std::string> texts_;
  Formats formats_, configured_;
  VmafxFormat reference_format_{};
  std::optional<MemoryFile> metrics_, report_;
  VmafxContext* ctx_ = nullptr;
  VmafxKeptReference* reference_ = nullptr;
  int encodes_ = 1, opens_ = 0, pairs_ = 0;
  int64_t samples_ = 0;
  bool for_gpu_ = false;  // the session that was opened last
  bool is_json_ = false;
  std::atomic<int> errors_ = 0;
  std::array<int64_t, VMAFX_MOST_ENCODES> received_{};
  Seen seen_;
};

Seen run(const uint8_t* data, size_t size, const Way& way) {
  Run run(way);
  int lines = 0;
  for (Script script(data, size); script.next() && ++lines <= kMostLines;) run.take_line(script);
  return run.end();
}

/* The emulator, or no GPU; and as many processes on it as there may be at once. */
const bool kPrepared = [] {
  setenv("VMAFX_HIP_RUNTIME", access(HIP_EMULATOR, R_OK) == 0 ? HIP_EMULATOR : "/nonexistent", 0);
  setenv("VMAFX_HIP_EMULATOR_THREADS", "1", 0);
  setenv("VMAFX_HIP_DEADLINE", "120000", 0);
  setenv("VMAFX_DEVICE_PLACES", "1000", 0);
  return true;
}();

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Choice choice(data, size);
  Way way;
  way.gpu = choice.one_in(4), way.all_kernels = choice.one_in(4), way.reads_reports = choice.one_in(4);
  way.collections = choice.one_in(4);
  const Seen seen = run(data, size, way);
  if (!seen.finished || !(seen.for_gpu || choice.one_in(4))) return 0;
  way.on_two_threads = true;
  const Seen plain = run(data, size, way);
  if (!plain.finished) return 0;
  for (size_t encode = 0; encode < seen.frames.size(); encode++)
    for (const auto& [number, frame] : seen.frames[encode]) {
      const auto other = plain.frames[encode].find(number);
      REQUIRE(other != plain.frames[encode].end() && same_frame(frame, other->second),
              "frame %d of encode %d has other scores on two threads of the CPU", static_cast<int>(number),
              static_cast<int>(encode));
    }
  return 0;
}
