/* Status: how a failure travels upward. The library never throws across a floor, never prints, never aborts.
 *
 * A Status is success, or an errno value (EINVAL, ENOMEM, …; positive) with one sentence for the user that names
 * what is wrong and what to do. The C API hands the value on as a negative errno and the sentence to the log. */
#ifndef VMAFX_BASE_STATUS_H
#define VMAFX_BASE_STATUS_H

#include <optional>
#include <string>
#include <utility>

namespace vmafx {

class [[nodiscard]] Status {
 public:
  Status() = default;  // success
  Status(int errno_value, std::string message) : code_(errno_value), message_(std::move(message)) {}

  bool ok() const { return code_ == 0; }
  int code() const { return code_; }  // 0 or a positive errno value
  const std::string& message() const { return message_; }

 private:
  int code_ = 0;
  std::string message_;
};

/* A failed Status with a printf-formatted sentence. */
[[gnu::format(printf, 2, 3)]] Status error(int errno_value, const char* format, ...);

/* A printf-formatted std::string. */
[[gnu::format(printf, 1, 2)]] std::string format_text(const char* format, ...);

/* The exception being handled as a Status, to be called in `catch (...)`: ENOMEM for a failed allocation, EIO for
 * others. */
Status caught() noexcept;

/* Returns the Status of `body`, or an exception of it as a Status. */
template <class Body>
Status guarded(Body body) noexcept {
  try {
    return body();
  } catch (...) {
    return caught();
  }
}

/* A value, or the Status that says why there is none. */
template <class T>
class [[nodiscard]] StatusOr {
 public:
  StatusOr(Status failure) : status_(std::move(failure)) {}
  StatusOr(T value) : value_(std::move(value)) {}

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  T& value() { return *value_; }
  const T& value() const { return *value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace vmafx

/* Return from the calling function if `expr` (a Status) failed. */
#define VMAFX_TRY(expr)                                                           \
  do {                                                                            \
    if (::vmafx::Status try_status = (expr); !try_status.ok()) return try_status; \
  } while (0)

/* `VMAFX_ASSIGN(auto x, expr)`: x = the value of `expr` (a StatusOr), or return its Status. */
#define VMAFX_ASSIGN(lhs, expr) VMAFX_ASSIGN_NAMED(VMAFX_CONCAT(status_or_, __LINE__), lhs, expr)
#define VMAFX_ASSIGN_NAMED(name, lhs, expr) \
  auto name = (expr);                       \
  if (!name.ok()) return name.status();     \
  lhs = std::move(name.value())
#define VMAFX_CONCAT(a, b) VMAFX_CONCAT_AGAIN(a, b)
#define VMAFX_CONCAT_AGAIN(a, b) a##b

#endif
