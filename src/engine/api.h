/* What the sources of the C API share: how its structs are checked and its errors told. */
#ifndef VMAFX_ENGINE_API_H
#define VMAFX_ENGINE_API_H

#include <cerrno>

#include "base/log.h"
#include "base/status.h"

namespace vmafx {

/* -EAGAIN is an answer of vmafx_receive(), and whoever gets it tries again: no failure may look like it. */
inline int code_of(const Status& status) { return -(status.code() == EAGAIN ? EIO : status.code()); }

/* Words that mean something to a later version of the library cannot be obeyed by this one. */
template <class Struct>
Status check_reserved(const Struct& given, const char* name) {
  for (const auto word : given.reserved)
    if (word)
      return error(EINVAL, "the reserved words of a %s are not zero: fill it with zeros before its fields", name);
  return {};
}

/* Of a struct that has the callback as `log` and `log_cookie`. */
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
