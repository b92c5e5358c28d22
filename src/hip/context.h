/* The device in use: whose calls these are, whether it still answers, and how long to wait for it.
 *
 * Every call to the runtime goes through Context::call(), which refuses once the device is lost. Lost is for good:
 * it is set by an error after which the device cannot be trusted (a fault in a kernel, a reset), by a wait that
 * outlived the deadline, and by whoever finds that a call does not come back (is_stuck()). After that no call is made
 * any more, not even to free: a dead device can block any of them. Its handles are leaked on purpose, which is noted
 * once. */
#ifndef VMAFX_HIP_CONTEXT_H
#define VMAFX_HIP_CONTEXT_H

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <source_location>
#include <string>

#include "base/mutex.h"
#include "base/status.h"
#include "hip/device_list.h"
#include "hip/runtime.h"

namespace vmafx::hip {

/* How many times as long as a wait for the device a call of the runtime may take, which is to return at once. */
inline constexpr int kCallDeadlines = 6;

struct ContextOptions {
  std::chrono::milliseconds deadline{10000};       // for any one wait
  std::function<void(const std::string&)> note{};  // debug notes, from any thread; may be empty
  std::function<void(const std::string&)> tell{};  // messages for the user before a slow step; may be empty
  std::chrono::milliseconds place_wait{0};         // for a place on the device (base/device_place.h)
  std::function<bool()> left{};                    // nobody wants the device any more; may be empty

  Status wanted() const;  // ECANCELED if so
};

class Context;
using ContextPtr = std::shared_ptr<Context>;  // shared by all that was made on it

class Context {
 public:
  /* The device's primary context. */
  static StatusOr<ContextPtr> open(const Device& device, ContextOptions options = {});

  /* A context of the application (CUcontext, hipCtx_t), which stays its owner: nothing of it is changed or released
   * here. Adopting one twice gives two independent objects. EINVAL for null. */
  static StatusOr<ContextPtr> adopt(const Runtime& runtime, NativeContext native, ContextOptions options = {});

  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /* To be asked between calls that take long: ECANCELED if nobody wants the device any more. */
  Status wanted() const;

  const Device& device() const { return device_; }
  bool owned() const { return owned_; }

  /* CUcontext, for an application that shares it; null on HIP, which binds devices instead. Not to be released. */
  NativeContext native() const { return binding_.context; }
  std::chrono::milliseconds deadline() const { return options_.deadline; }

  bool lost() const { return lost_.load(std::memory_order_acquire); }
  void lose(const std::string& reason);
  Status lost_status() const;  // once lost: ENODEV, and the reason

  /* Whether some thread is in a call that should have come back long ago. The device is then lost, and that call,
   * should it ever come back, fails. */
  bool is_stuck();

  /* While it lives, the calling thread's calls go to this device; what was bound before comes back. May be nested. */
  class Scope {
   public:
    explicit Scope(Context& context);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    Error error() const { return error_; }

   private:
    Context& context_;
    Context* outer_;
    Binding previous_;
    Error error_ = kSuccess;
    bool entered_ = false;
  };

  /* function(functions of the runtime), an Error, as a Status that names the call and where it stands. ENODEV
   * without a call when the device is lost; ENOMEM when it has no memory left. */
  template <class Function>
  Status call(const char* name, Function&& function, std::source_location where = std::source_location::current()) {
    if (lost()) return lost_status();
    Error code;
    {
      const Running running(*this, name);
      const Scope scope(*this);
      code = scope.error();
      if (code) name = "SetDevice";
      else code = function(device_.runtime->functions());
    }
    return lost() ? lost_status() : check(code, name, where);
  }

  /* Calls a function that frees a handle, for destructors: a failure is only noted; when the device is lost the handle
   * is leaked. Tried even when the device cannot be bound, since the handle knows where it belongs. */
  template <class Function>
  void dispose(const char* name, Function&& function, std::source_location where = std::source_location::current()) {
    if (lost()) return note_leak();
    const Running running(*this, name);
    const Scope scope(*this);
    if (scope.error()) note(check(scope.error(), "SetDevice", where).message());
    if (lost()) return note_leak();
    if (Status status = check(function(device_.runtime->functions()), name, where); !status.ok())
      note(status.message());
  }

  void note(const std::string& message) const;
  void tell(const std::string& message) const;

 private:
  Context(Device device, ContextOptions options) : device_(std::move(device)), options_(std::move(options)) {}

  /* A call that is under way, in the list of them. */
  struct Running {
    Running(Context& of, const char* call);
    ~Running();
    Context& context;
    const char* name;
    const std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    Running* next;
  };

  Status check(Error code, const char* name, const std::source_location& where);
  void note_leak();

  Device device_;
  ContextOptions options_;
  Binding binding_;
  bool owned_ = false;
  std::atomic<bool> lost_ = false;
  std::atomic<bool> leak_noted_ = false;
  mutable Mutex mutex_;
  std::string reason_ VMAFX_GUARDED_BY(mutex_);
  Running* running_ VMAFX_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace vmafx::hip

#endif
