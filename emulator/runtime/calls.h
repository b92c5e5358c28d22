/* The frame of every call of the API: the lock, the count, the planned failures, and the device's own progress
 * meanwhile. */
#ifndef VMAFX_EMULATOR_RUNTIME_CALLS_H
#define VMAFX_EMULATOR_RUNTIME_CALLS_H

#include <map>
#include <string>

#include "emulator/runtime/abi.h"
#include "emulator/runtime/report.h"

namespace vmafx::emulator {

/* Lives as long as a call of the API does; one call runs at a time. */
class Call {
 public:
  explicit Call(const char* name);
  ~Call();
  Call(const Call&) = delete;

  /* The error to return instead of doing the work: the planned failure, or the device is lost. A call that gives
   * something back does that all the same, and then returns this. */
  int error() const { return error_; }

  /* "hipMalloc (call 12)". */
  const std::string& name() const { return name_; }
  /* Reports misuse of this call. */
  int misuse(int code, const std::string& what) const { return complain(code, name_ + ": " + what); }

 private:
  std::string name_;
  int error_ = 0;
};

/* From now on every call returns this error, as after a fault on a device. */
void lose_device(int error);
/* 0: it is not lost. */
int lost_error();
/* Whether work that is queued now never ends. */
bool is_hung();

/* The device that this thread of the host has chosen. */
int& current_device();

/* Things that the program holds by handles, which are never used twice. */
template <class T>
class Handles {
 public:
  explicit Handles(const char* kind) : kind_(kind) {}

  template <class Handle>
  void add(Handle* handle, T thing) {
    const uintptr_t value = next_ += 16;
    things_.emplace(value, std::move(thing));
    *handle = reinterpret_cast<Handle>(value);
  }
  /* nullptr, after complaining: it is none, or one that was given back. */
  T* find(const Call& call, const void* handle) {
    const auto found = things_.find(reinterpret_cast<uintptr_t>(handle));
    if (found != things_.end()) return &found->second;
    call.misuse(kInvalidHandle, text("%p is no %s, or one that was destroyed", handle, kind_));
    return nullptr;
  }
  void remove(const void* handle) { things_.erase(reinterpret_cast<uintptr_t>(handle)); }

  size_t size() const { return things_.size(); }
  auto begin() { return things_.begin(); }
  auto end() { return things_.end(); }
  const char* kind() const { return kind_; }

 private:
  static inline uintptr_t next_ = 0x7e57'0000'0000'0000;  // no address of any memory
  const char* kind_;
  std::map<uintptr_t, T> things_;
};

}  // namespace vmafx::emulator

#endif
