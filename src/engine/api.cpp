/* The C API: argument checks, the guard that turns anything C++ into a code, and the last message of each context. */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "engine/session.h"
#include "kernels/registry.h"
#include "model/model_builtin.h"
#include "vmafx/vmafx.h"

using vmafx::caught;
using vmafx::guarded;
using vmafx::OwnedPicture;
using vmafx::Session;
using vmafx::SessionParams;
using vmafx::Status;

static_assert(VMAFX_MOST_ENCODES == vmafx::kMostEncodes);

struct VmafxContext {
  std::unique_ptr<Session> session;
  Status last;  // failure
};

namespace {

/* -EAGAIN is an answer of vmafx_receive(), and whoever gets it tries again: no failure may look like it. */
int code_of(const Status& status) { return -(status.code() == EAGAIN ? EIO : status.code()); }

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

/* Words that mean something to a later version of the library cannot be obeyed by this one. */
template <class Struct>
Status check_reserved(const Struct& given, const char* name) {
  for (const void* word : given.reserved)
    if (word)
      return vmafx::error(EINVAL, "the reserved words of a %s are not zero: fill it with zeros before its fields",
                          name);
  return {};
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

/* `expected`: how many formats there must be. */
int configure(VmafxContext* ctx, const VmafxFormat* ref, const VmafxFormat* dist, int n, int expected = 1) {
  if (!ref || !dist) return -EINVAL;
  return call(ctx, [&](Session& session) -> Status {
    if (n != expected) return vmafx::error(EINVAL, "formats of distorted pictures given: %d; encodes: %d", n, expected);
    const std::span formats(dist, static_cast<size_t>(n));
    VMAFX_TRY(check_reserved(*ref, "VmafxFormat"));
    for (const VmafxFormat& format : formats) VMAFX_TRY(check_reserved(format, "VmafxFormat"));
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

const char* vmafx_version(void) { return vmafx::kVersion; }

void vmafx_default_params(VmafxParams* params) {
  if (!params) return;
  *params = {};
#define VMAFX_NONE(...)
#define VMAFX_NUMBER(option, field, value, ...) params->field = value;
  VMAFX_OPTIONS(VMAFX_NONE, VMAFX_NUMBER, VMAFX_NUMBER)
  VMAFX_OTHER_OPTIONS(VMAFX_NONE, VMAFX_NUMBER, VMAFX_NUMBER)
#undef VMAFX_NONE
#undef VMAFX_NUMBER
}

int vmafx_open(VmafxContext** out, const VmafxParams* params) {
  if (!out) return -EINVAL;
  *out = nullptr;
  if (!params) return -EINVAL;
  vmafx::Log::Sink sink;
  const Status status = guarded([&]() -> Status {
    VMAFX_TRY(check_reserved(*params, "VmafxParams"));
    if (params->log)
      sink = [log = params->log, cookie = params->log_cookie](VmafxLogLevel level, const char* message) {
        log(cookie, level, message);
      };
    auto ctx = std::make_unique<VmafxContext>();
    VMAFX_ASSIGN(ctx->session, Session::open(SessionParams(*params), sink));
    *out = ctx.release();
    return {};
  });
  if (!status.ok() && params->log) params->log(params->log_cookie, VMAFX_LOG_ERROR, status.message().c_str());
  return code_of(status);
}

void vmafx_close(VmafxContext** ctx) {
  if (!ctx || !*ctx) return;
  (void)call(*ctx, [](Session& session) { return session.abandon(); });
  delete *ctx;
  *ctx = nullptr;
}

const char* vmafx_last_error(const VmafxContext* ctx) { return ctx ? ctx->last.message().c_str() : ""; }

int vmafx_check_formats(const VmafxFormat* ref, const VmafxFormat* dist, void (*log)(void*, VmafxLogLevel, const char*),
                        void* log_cookie) {
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

unsigned vmafx_imports(const VmafxContext* ctx) { return ctx ? ctx->session->imports() : 0; }

int vmafx_submit(VmafxContext* ctx, const VmafxPicture* ref, const VmafxPicture* dist) {
  return vmafx_submit_encodes(ctx, ref, &dist, 1);
}

/* The pictures are ours from the first line on, whatever follows. */
int vmafx_submit_encodes(VmafxContext* ctx, const VmafxPicture* ref, const VmafxPicture* const* dist, int n) {
  OwnedPicture ref_picture = ref ? OwnedPicture(*ref) : OwnedPicture();
  OwnedPicture taken[VMAFX_MOST_ENCODES];
  for (int i = 0; dist && i < n; i++) {
    if (!dist[i]) continue;
    OwnedPicture picture(*dist[i]);
    if (i < VMAFX_MOST_ENCODES) std::swap(taken[i], picture);
  }
  if (!ref || !dist || n < 1) return -EINVAL;
  return call(ctx, [&](Session& session) -> Status {
    if (n != session.encodes())
      return vmafx::error(EINVAL, "distorted pictures submitted: %d; encodes: %d", n, session.encodes());
    if (std::all_of(dist, dist + n, [](const VmafxPicture* picture) { return !picture; }))
      return vmafx::error(EINVAL, "a picture of the reference was submitted without one of any encode");
    VMAFX_TRY(check_reserved(*ref_picture, "VmafxPicture"));
    Session::DistPictures pictures(static_cast<size_t>(n));
    for (int i = 0; i < n; i++) {
      if (!dist[i]) continue;
      VMAFX_TRY(check_reserved(*taken[i], "VmafxPicture"));
      pictures[static_cast<size_t>(i)].emplace(std::move(taken[i]));
    }
    return session.submit(std::move(ref_picture), std::move(pictures));
  });
}

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

const char* vmafx_extractor(int i) {
  const auto all = vmafx::extractor_names();
  return i >= 0 && static_cast<size_t>(i) < all.size() ? all[i].c_str() : nullptr;
}
