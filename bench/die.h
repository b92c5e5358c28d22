/* The end of a program that cannot go on: an exception, which its main() prints. */
#ifndef VMAFX_BENCH_DIE_H
#define VMAFX_BENCH_DIE_H

#include <stdexcept>
#include <string>
#include <utility>

#include "base/status.h"

namespace bench {

[[noreturn]] inline void die(const std::string& message) { throw std::runtime_error(message); }

inline void check(const vmafx::Status& status) {
  if (!status.ok()) die(status.message());
}

template <class T>
T take(vmafx::StatusOr<T> made) {
  check(made.status());
  return std::move(made.value());
}

}  // namespace bench

#endif
