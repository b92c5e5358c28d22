/* The C API: argument checks, the guard that turns anything C++ into a code, and the last message of each context. */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "engine/api.h"
#include "engine/device/examination.h"
#include "engine/session.h"
#include "engine/version.h"
#include "kernels/registry/registry.h"
#include "model/model_builtin.h"
#include "vmafx/vmafx.h"

using vmafx::caught;
using vmafx::check_reserved;
using vmafx::code_of;
using vmafx::guarded;
using vmafx::KeptReference;
using vmafx::OwnedPicture;
using vmafx::Session;
using vmafx::sink_of;
using vmafx::Status;
using vmafx::StatusOr;
using vmafx::told;

static_assert(VMAFX_MOST_ENCODES == vmafx::kMostEncodes);

struct VmafxContext {
  std::unique_ptr<Session> session;
  Status last;  // failure
};

struct VmafxKeptReference {
  std::shared_ptr<KeptReference> frames;
  vmafx::Log log;
  Status last;  // failure
};

namespace {

/* Value: a text or a number. */
template <class Value>
int set_option(VmafxOptions* options, const char* name, Value value) {
  if (!options || !name) return -EINVAL;
  return told(*options, [&] {
    Status status = options->values.set(name, value);
    if (!status.ok()) options->last = status;
    return status;
  });
}

/* Runs `body` on the context's session; keeps and logs the message of a failure. */
template <class Body>
int call(VmafxContext* ctx, Body body) noexcept {
  if (!ctx) return -EINVAL;
  Status status;
  try {
    status = body(*ctx->session);
  } catch (...) {
    status = caught();
    ctx->session->fail(caught());
  }
  if (status.ok()) return 0;
  ctx->last = std::move(status);
  ctx->session->log().error(ctx->last.message());
  return code_of(ctx->last);
}

template <class Find>
int give_score(VmafxContext* ctx, Find find, const char** name, double* score) {
  return call(ctx, [&](Session& session) -> Status {
    VMAFX_ASSIGN(const vmafx::NamedScore found, find(session));
    if (name) *name = found.name;
    if (score) *score = found.score;
    return {};
  });
}

/* The pictures of the encodes that a call hands over: the library's from the first line on, whatever follows. */
class DistPictures {
 public:
  DistPictures(const VmafxPicture* const* dist, int n) : dist_(dist), n_(n) {}
  DistPictures(const DistPictures&) = delete;
  ~DistPictures() {
    for (int i = 0; dist_ && i < n_; i++)
      if (!handed_over_ && dist_[i]) OwnedPicture released(*dist_[i]);
  }

  bool missing() const { return !dist_ || n_ < 1; }

  /* Hands the pictures over to a session, once. */
  StatusOr<Session::DistPictures> take(const Session& session) {
    if (n_ != session.encodes())
      return vmafx::error(EINVAL, "got %d distorted pictures for %d encodes", n_, session.encodes());
    if (std::all_of(dist_, dist_ + n_, [](const VmafxPicture* picture) { return !picture; }))
      return vmafx::error(EINVAL, "a picture of the reference was submitted without one of any encode");
    for (int i = 0; i < n_; i++)
      if (dist_[i]) VMAFX_TRY(check_reserved(*dist_[i], "VmafxPicture"));
    Session::DistPictures pictures(static_cast<size_t>(n_));
    for (int i = 0; i < n_; i++)
      if (dist_[i]) pictures[static_cast<size_t>(i)].emplace(*dist_[i]);
    handed_over_ = true;
    return pictures;
  }

 private:
  const VmafxPicture* const* dist_;
  int n_;
  bool handed_over_ = false;
};

/* Checks the formats of the encodes, `expected` of them, and hands them to `body`. */
template <class Body>
int configure(VmafxContext* ctx, const VmafxFormat* dist, int n, int expected, Body body) {
  if (!dist) return -EINVAL;
  return call(ctx, [&](Session& session) -> Status {
    if (n != expected) return vmafx::error(EINVAL, "formats of distorted pictures given: %d; encodes: %d", n, expected);
    const std::span formats(dist, static_cast<size_t>(n));
    for (const VmafxFormat& format : formats) VMAFX_TRY(check_reserved(format, "VmafxFormat"));
    return body(session, formats);
  });
}

int configure(VmafxContext* ctx, const VmafxFormat* ref, const VmafxFormat* dist, int n, int expected = 1) {
  if (!ref) return -EINVAL;
  return configure(ctx, dist, n, expected, [&](Session& session, std::span<const VmafxFormat> formats) -> Status {
    VMAFX_TRY(check_reserved(*ref, "VmafxFormat"));
    return session.configure(*ref, formats);
  });
}

int receive(VmafxContext* ctx, VmafxFrameResult* result, bool wait) {
  if (!result) return -EINVAL;
  bool ready = false;
  const int ret = call(ctx, [&](Session& session) { return session.receive(wait, result, &ready); });
  return ret ? ret : ready ? 0 : -EAGAIN;
}

}  // namespace

const char* vmafx_version(void) { return vmafx::library_version(); }

const VmafxOption* vmafx_option(int i) { return vmafx::find_option(i); }

VmafxOptions* vmafx_options_new(void) {
  VmafxOptions* options = nullptr;
  (void)guarded([&]() -> Status {
    options = new VmafxOptions;
    return {};
  });
  return options;
}

void vmafx_options_free(VmafxOptions** options) {
  if (!options) return;
  delete *options;
  *options = nullptr;
}

int vmafx_options_set(VmafxOptions* options, const char* name, const char* value) {
  return set_option(options, name, value);
}

int vmafx_options_set_int(VmafxOptions* options, const char* name, int value) {
  return set_option(options, name, value);
}

const char* vmafx_options_last_error(const VmafxOptions* options) {
  return options ? options->last.message().c_str() : "";
}

void vmafx_options_set_log(VmafxOptions* options, VmafxLogCallback log, void* log_cookie) {
  if (!options) return;
  options->log = log;
  options->log_cookie = log_cookie;
}

void vmafx_options_set_device_context(VmafxOptions* options, VmafxPlatform platform, void* device_context) {
  if (options) options->values.given = {platform, device_context};
}

int vmafx_open(VmafxContext** out, const VmafxOptions* options) {
  if (!out) return -EINVAL;
  *out = nullptr;
  if (!options) {
    const std::unique_ptr<VmafxOptions> defaults(vmafx_options_new());
    return defaults ? vmafx_open(out, defaults.get()) : -ENOMEM;
  }
  return told(*options, [&]() -> Status {
    auto ctx = std::make_unique<VmafxContext>();
    VMAFX_ASSIGN(ctx->session, Session::open(options->values, sink_of(*options)));
    *out = ctx.release();
    return {};
  });
}

void vmafx_close(VmafxContext** ctx) {
  if (!ctx || !*ctx) return;
  (void)call(*ctx, [](Session& session) { return session.abandon(); });
  delete *ctx;
  *ctx = nullptr;
}

const char* vmafx_last_error(const VmafxContext* ctx) { return ctx ? ctx->last.message().c_str() : ""; }

int vmafx_check_formats(const VmafxFormat* ref, const VmafxFormat* dist, VmafxLogCallback log, void* log_cookie) {
  if (!ref || !dist) return -EINVAL;
  std::vector<std::string> sentences;
  Status status = guarded([&]() -> Status {
    for (const VmafxFormat* format : {ref, dist}) VMAFX_TRY(check_reserved(*format, "VmafxFormat"));
    VMAFX_ASSIGN(const vmafx::InputFormat of_ref, vmafx::InputFormat::make(*ref, "reference"));
    VMAFX_ASSIGN(const vmafx::InputFormat of_dist, vmafx::InputFormat::make(*dist, "distorted"));
    sentences = differences(of_ref, of_dist);
    return sentences.empty() ? Status() : Status(EINVAL, "");
  });
  if (!status.ok() && sentences.empty() && log) log(log_cookie, VMAFX_LOG_ERROR, status.message().c_str());
  for (const std::string& sentence : sentences)
    if (log) log(log_cookie, VMAFX_LOG_ERROR, sentence.c_str());
  return code_of(status);
}

int vmafx_configure(VmafxContext* ctx, const VmafxFormat* ref, const VmafxFormat* dist) {
  return configure(ctx, ref, dist, 1);
}

int vmafx_configure_encodes(VmafxContext* ctx, const VmafxFormat* ref, const VmafxFormat* dist, int n) {
  if (!ctx) return -EINVAL;
  return configure(ctx, ref, dist, n, ctx->session->encodes());
}

unsigned vmafx_planes_read(const VmafxContext* ctx) { return ctx ? ctx->session->planes_read() : 0; }

int vmafx_pairs_around(const VmafxContext* ctx, int* before, int* after) {
  if (!ctx || !before || !after) return -EINVAL;
  const auto reach = ctx->session->pairs_around();
  if (!reach) return -EINVAL;
  *before = reach->before;
  *after = std::max(reach->after, reach->first - 1);
  return 0;
}

unsigned vmafx_imports(const VmafxContext* ctx) { return ctx ? ctx->session->imports() : 0; }

int vmafx_submit(VmafxContext* ctx, const VmafxPicture* ref, const VmafxPicture* dist) {
  return vmafx_submit_encodes(ctx, ref, &dist, 1);
}

int vmafx_submit_encodes(VmafxContext* ctx, const VmafxPicture* ref, const VmafxPicture* const* dist, int n) {
  OwnedPicture ref_picture = ref ? OwnedPicture(*ref) : OwnedPicture();
  DistPictures dist_pictures(dist, n);
  if (!ref || dist_pictures.missing()) return -EINVAL;
  return call(ctx, [&](Session& session) -> Status {
    VMAFX_ASSIGN(auto pictures, dist_pictures.take(session));
    VMAFX_TRY(check_reserved(*ref_picture, "VmafxPicture"));
    return session.submit(std::move(ref_picture), std::move(pictures));
  });
}

int vmafx_kept_reference_open(VmafxKeptReference** out, const VmafxFormat* format,
                              const VmafxKeptReferenceParams* params) {
  if (!out) return -EINVAL;
  *out = nullptr;
  if (!format) return -EINVAL;
  const VmafxKeptReferenceParams given = params ? *params : VmafxKeptReferenceParams{};
  return told(given, [&]() -> Status {
    VMAFX_TRY(check_reserved(given, "VmafxKeptReferenceParams"));
    VMAFX_TRY(check_reserved(*format, "VmafxFormat"));
    VMAFX_ASSIGN(auto frames, KeptReference::open(*format, given));
    *out = new VmafxKeptReference{std::move(frames), vmafx::Log(sink_of(given)), {}};
    return {};
  });
}

int vmafx_kept_reference_add(VmafxKeptReference* ref, const VmafxPicture* picture) {
  OwnedPicture taken = picture ? OwnedPicture(*picture) : OwnedPicture();
  if (!ref || !picture) return -EINVAL;
  Status status = guarded([&]() -> Status {
    VMAFX_TRY(check_reserved(*taken, "VmafxPicture"));
    return ref->frames->add(std::move(taken));
  });
  if (status.ok()) return 0;
  ref->last = std::move(status);
  ref->log.error(ref->last.message());
  return code_of(ref->last);
}

int64_t vmafx_kept_reference_frames(const VmafxKeptReference* ref) { return ref ? ref->frames->frames() : 0; }

uint64_t vmafx_kept_reference_bytes(const VmafxKeptReference* ref) { return ref ? ref->frames->bytes() : 0; }

uint64_t vmafx_kept_reference_device_bytes(const VmafxKeptReference* ref) {
  const vmafx::DeviceBudget* budget = ref ? ref->frames->device_budget() : nullptr;
  return budget ? budget->taken() : 0;
}

const char* vmafx_kept_reference_last_error(const VmafxKeptReference* ref) {
  return ref ? ref->last.message().c_str() : "";
}

void vmafx_kept_reference_close(VmafxKeptReference** ref) {
  if (!ref) return;
  delete *ref;
  *ref = nullptr;
}

int vmafx_configure_against(VmafxContext* ctx, const VmafxKeptReference* ref, const VmafxFormat* dist, int n) {
  if (!ctx || !ref) return -EINVAL;
  return configure(ctx, dist, n, ctx->session->encodes(), [&](Session& session, std::span<const VmafxFormat> formats) {
    return session.configure_against(ref->frames, formats);
  });
}

int vmafx_submit_against(VmafxContext* ctx, int64_t frame, const VmafxPicture* const* dist, int n) {
  DistPictures dist_pictures(dist, n);
  if (dist_pictures.missing()) return -EINVAL;
  return call(ctx, [&](Session& session) -> Status {
    VMAFX_ASSIGN(auto pictures, dist_pictures.take(session));
    return session.submit_against(frame, std::move(pictures));
  });
}

int vmafx_range_place(const VmafxContext* ctx, int64_t pair, int has_time, double time) {
  if (!ctx) return -EINVAL;
  const auto place = ctx->session->place(pair, has_time ? std::optional(time) : std::nullopt);
  if (!place.ok()) return code_of(place.status());
  return static_cast<int>(place.value()) - static_cast<int>(vmafx::Place::kWithin);
}

int vmafx_range_done(const VmafxContext* ctx) { return ctx && ctx->session->range_done(); }

int vmafx_receive(VmafxContext* ctx, VmafxFrameResult* result) { return receive(ctx, result, false); }

int vmafx_receive_wait(VmafxContext* ctx, VmafxFrameResult* result) { return receive(ctx, result, true); }

int vmafx_set_pairing(VmafxContext* ctx, const VmafxPairing* pairing) {
  if (!pairing) return -EINVAL;
  return call(ctx, [&](Session& session) -> Status {
    VMAFX_TRY(check_reserved(*pairing, "VmafxPairing"));
    return session.set_pairing(*pairing);
  });
}

int vmafx_finish(VmafxContext* ctx) {
  return call(ctx, [](Session& session) { return session.finish(); });
}

int vmafx_finished(const VmafxContext* ctx) { return ctx && ctx->session->finished(); }

int vmafx_model_count(const VmafxContext* ctx) { return ctx ? ctx->session->model_count() : 0; }

const char* vmafx_model_sha256(const VmafxContext* ctx, int i, const char** name) {
  return ctx ? ctx->session->model_sha256(i, name) : nullptr;
}

int vmafx_model_score(VmafxContext* ctx, int i, const char** name, double* score) {
  return vmafx_encode_model_score(ctx, 0, i, name, score);
}

int vmafx_encode_model_score(VmafxContext* ctx, int encode, int i, const char** name, double* score) {
  return give_score(ctx, [=](const Session& session) { return session.model_score(encode, i); }, name, score);
}

int vmafx_feature_count(const VmafxContext* ctx) { return ctx ? ctx->session->feature_count() : 0; }

int vmafx_feature_score(VmafxContext* ctx, int i, const char** name, double* score) {
  return vmafx_encode_feature_score(ctx, 0, i, name, score);
}

int vmafx_encode_feature_score(VmafxContext* ctx, int encode, int i, const char** name, double* score) {
  return give_score(ctx, [=](const Session& session) { return session.feature_score(encode, i); }, name, score);
}

const char* vmafx_encode_name(const VmafxContext* ctx, int encode) {
  return ctx ? ctx->session->encode_called(encode) : nullptr;
}

int vmafx_aggregate(const VmafxContext* ctx, int i, const char** name, double* value) {
  if (!ctx || !name || !value) return -EINVAL;
  const auto aggregates = ctx->session->aggregates();
  if (i < 0 || static_cast<size_t>(i) >= aggregates.size()) return -EINVAL;
  *name = aggregates[static_cast<size_t>(i)].first.c_str();
  *value = aggregates[static_cast<size_t>(i)].second;
  return 0;
}

int vmafx_finding(const VmafxContext* ctx, int encode, int i, VmafxFinding* finding) {
  if (!ctx || !finding) return -EINVAL;
  return code_of(guarded([&]() -> Status {
    VMAFX_ASSIGN(*finding, std::as_const(*ctx->session).finding(encode, i));
    return {};
  }));
}

int vmafx_format_score(const VmafxContext* ctx, double score, char* text, size_t size) {
  if (!ctx || !text) return -EINVAL;
  std::string printed;
  const Status status = guarded([&]() -> Status {
    printed = ctx->session->score_format().print(score);
    return {};
  });
  if (!status.ok()) return code_of(status);
  if (printed.size() >= size) return -ERANGE;
  std::memcpy(text, printed.c_str(), printed.size() + 1);
  return 0;
}

const char* vmafx_builtin_model(int i) {
  const auto names = vmafx::builtin_model_names();
  return i >= 0 && static_cast<size_t>(i) < names.size() ? names[i] : nullptr;
}

int vmafx_examine(VmafxLogCallback tell, void* cookie) {
  if (!tell) return -EINVAL;
  const Status status = guarded([&] {
    return vmafx::examine(vmafx::library_version(),
                          [&](const std::string& fact) { tell(cookie, VMAFX_LOG_INFO, fact.c_str()); });
  });
  if (!status.ok()) tell(cookie, VMAFX_LOG_ERROR, status.message().c_str());
  return code_of(status);
}

const char* vmafx_extractor(int i) {
  const auto all = vmafx::extractor_names();
  return i >= 0 && static_cast<size_t>(i) < all.size() ? all[i].c_str() : nullptr;
}
