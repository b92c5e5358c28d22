/* The parts that the sources of the C API share: options, how structs are checked, and how errors are told. */
#ifndef VMAFX_ENGINE_API_H
#define VMAFX_ENGINE_API_H

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/log.h"
#include "base/status.h"
#include "engine/session_options.h"
#include "vmafx/vmafx.h"

struct VmafxOptions {
  vmafx::SessionOptions values;
  VmafxLogCallback log = nullptr;
  void* log_cookie = nullptr;
  vmafx::Status last;  // failure
};

namespace vmafx {

/* -EAGAIN is an answer of vmafx_receive(), and whoever gets it tries again: no failure may look like it. */
inline int code_of(const Status& status) { return -(status.code() == EAGAIN ? EIO : status.code()); }

/* Refuses an array of texts that is not there, or has a text that is not there. */
inline Status check_texts(const char* const* given, size_t n, const char* name) {
  if (n && (!given || std::ranges::count(given, given + n, nullptr)))
    return error(EINVAL, "%zu %s are given, but not a pointer to each", n, name);
  return {};
}

template <class Struct>
Status check_array(const Struct* given, size_t n, const char* name);

/* Refuses a struct, or one inside it, with a word that only a later version of the library knows. */
template <class Struct>
Status check_reserved(const Struct& given, const char* name) {
  for (const void* const word : given.reserved)
    if (word)
      return error(EINVAL, "the reserved words of a %s are not zero: fill it with zeros before its fields", name);
  if constexpr (requires { given.color; }) VMAFX_TRY(check_reserved(given.color, "VmafxColor"));
  if constexpr (requires { given.object; })
    for (const VmafxObject& object : given.object) VMAFX_TRY(check_reserved(object, "VmafxObject"));
  if constexpr (requires { given.semaphore; })
    if (given.semaphore) VMAFX_TRY(check_reserved(*given.semaphore, "VmafxSemaphore"));
  if constexpr (requires { given.doubts; }) VMAFX_TRY(check_array(given.doubts, given.n_doubts, "VmafxDoubt"));
  return {};
}

/* Refuses an array of structs that is not there, or has such a struct. */
template <class Struct>
Status check_array(const Struct* given, size_t n, const char* name) {
  if (n && !given) return error(EINVAL, "%zu structs %s are given, but no pointer to them", n, name);
  for (const Struct& each : std::span(given, n)) {
    VMAFX_TRY(check_reserved(each, name));
    if constexpr (requires { each.key; }) VMAFX_TRY(check_texts(&each.key, 1, "keys"));
    if constexpr (requires { each.evidence; }) VMAFX_TRY(check_array(each.evidence, each.n_evidence, "VmafxEvidence"));
    if constexpr (requires { each.remedies; }) VMAFX_TRY(check_texts(each.remedies, each.n_remedies, "remedies"));
  }
  return {};
}

/* The sink of a struct that has the callback as `log` and `log_cookie`. */
template <class Params>
Log::Sink sink_of(const Params& params) {
  if (!params.log) return {};
  return [log = params.log, cookie = params.log_cookie](VmafxLogLevel level, const char* message) {
    log(cookie, level, message);
  };
}

/* Runs `body` and tells such a struct's log its failure. The value of the C function. */
template <class Params, class Body>
int told(const Params& params, Body body) {
  const Status status = guarded(body);
  if (!status.ok() && params.log) params.log(params.log_cookie, VMAFX_LOG_ERROR, status.message().c_str());
  return code_of(status);
}

}  // namespace vmafx

#endif
