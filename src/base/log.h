/* The session's log: printf into the application's callback, one call at a time, from any thread. */
#ifndef VMAFX_BASE_LOG_H
#define VMAFX_BASE_LOG_H

#include <functional>
#include <string>

#include "base/mutex.h"
#include "vmafx/vmafx.h"

namespace vmafx {

class Log {
 public:
  using Sink = std::function<void(VmafxLogLevel, const char*)>;

  Log() = default;  // silent
  explicit Log(Sink sink) : sink_(std::move(sink)) {}

  void error(const std::string& message) { write(VMAFX_LOG_ERROR, message); }
  void warning(const std::string& message) { write(VMAFX_LOG_WARNING, message); }
  void info(const std::string& message) { write(VMAFX_LOG_INFO, message); }
  void verbose(const std::string& message) { write(VMAFX_LOG_VERBOSE, message); }
  void debug(const std::string& message) { write(VMAFX_LOG_DEBUG, message); }

  void write(VmafxLogLevel level, const std::string& message) {
    if (!sink_) return;
    const MutexLock one_call_at_a_time(mutex_);
    sink_(level, message.c_str());
  }

 private:
  Sink sink_;
  Mutex mutex_;
};

}  // namespace vmafx

#endif
