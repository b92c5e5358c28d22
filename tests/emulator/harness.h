/* The frame of the emulator's tests: the runtime as a program sees it, and a process of its own for each case, since
 * that is what the emulator ends. */
#ifndef VMAFX_TESTS_EMULATOR_HARNESS_H
#define VMAFX_TESTS_EMULATOR_HARNESS_H

#include <check.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "emulator/runtime/abi.h"
#include "tests/support/check_main.h"
#include "tests/support/paths.h"

namespace vmafx::test {

using namespace emulator;

/* -- The runtime, as a program sees it ----------------------------------------------------------------------------- */

/* The runtime under test, and the image with the kernels of faulty.hip; "": the library's own. */
struct Tested {
  const char* library = EMULATOR_LIBRARY;
  std::string image;
};
inline Tested tested;

class Hip {
 public:
  Hip() : library_(dlopen(tested.library, RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) give_up(dlerror());
  }

  template <class... Args>
  int call(const char* name, Args... args) const {
    const auto function = reinterpret_cast<int (*)(Args...)>(dlsym(library_, name));
    if (!function) give_up(name);
    return function(args...);
  }
  /* A call that must succeed. */
  template <class... Args>
  void must(const char* name, Args... args) const {
    if (const int code = call(name, args...))
      give_up((std::string(name) + " returned " + std::to_string(code)).c_str());
  }

  void* allocate(size_t bytes) const { return made("hipMalloc", bytes); }
  void* pinned(size_t bytes) const { return made("hipHostMalloc", bytes, 0u); }
  void* stream() const { return made("hipStreamCreateWithFlags", kStreamNonBlocking); }
  void* event() const { return made("hipEventCreateWithFlags", kEventDisableTiming); }
  const void* image() const {
    if (!tested.image.empty()) return tested.image.data();
    return reinterpret_cast<const void* (*)()>(dlsym(library_, "vmafx_emulator_image"))();
  }

  [[noreturn]] static void give_up(const char* what) {
    std::fprintf(stderr, "test: %s\n", what);
    std::exit(3);
  }
  static void expect(bool condition, const char* what) {
    if (!condition) give_up(what);
  }

 private:
  template <class... Args>
  void* made(const char* name, Args... args) const {
    void* thing = nullptr;
    must(name, &thing, args...);
    return thing;
  }

  void* library_;
};

/* A runtime with a stream and the kernels; gives everything back. */
class Session : public Hip {
 public:
  Session() : stream_(stream()) { must("hipModuleLoadData", &module_, image()); }
  ~Session() {
    must("hipStreamDestroy", stream_);
    for (void* memory : device_) must("hipFree", memory);
    for (void* memory : pinned_) must("hipHostFree", memory);
    must("hipModuleUnload", module_);
  }

  void* main_stream() const { return stream_; }
  void* device(size_t bytes) { return device_.emplace_back(allocate(bytes)); }
  template <class T>
  T* host(size_t n) {
    return static_cast<T*>(pinned_.emplace_back(pinned(n * sizeof(T))));
  }
  /* Device memory with these values, when the stream has come so far. */
  template <class T>
  T* uploaded(const std::vector<T>& values) {
    void* to = device(values.size() * sizeof(T));
    must("hipMemcpyHtoDAsync", to, static_cast<const void*>(values.data()), values.size() * sizeof(T), stream_);
    return static_cast<T*>(to);
  }
  template <class T>
  T* zeros(size_t n) {
    void* to = device(n * sizeof(T));
    must("hipMemsetD8Async", to, static_cast<unsigned char>(0), n * sizeof(T), stream_);
    return static_cast<T*>(to);
  }
  template <class T>
  std::vector<T> downloaded(const void* from, size_t n) {
    std::vector<T> values(n);
    must("hipMemcpyDtoHAsync", static_cast<void*>(values.data()), from, n * sizeof(T), stream_);
    return values;
  }

  template <class... Args>
  int try_launch(const char* kernel, unsigned gx, unsigned gy, unsigned bx, unsigned by, Args... args) const {
    void* function = nullptr;
    must("hipModuleGetFunction", &function, module_, kernel);
    void* addresses[] = {&args...};
    return call("hipModuleLaunchKernel", function, gx, gy, 1u, bx, by, 1u, 0u, stream_, &addresses[0],
                static_cast<void**>(nullptr));
  }
  template <class... Args>
  void launch(const char* kernel, unsigned blocks, unsigned threads, Args... args) const {
    expect(try_launch(kernel, blocks, 1u, threads, 1u, args...) == kSuccess, "launch failed");
  }
  void wait() const { must("hipStreamSynchronize", stream_); }

 private:
  void* stream_;
  void* module_ = nullptr;
  std::vector<void*> device_, pinned_;
};

/* -- A case in its own process ------------------------------------------------------------------------------------- */

struct Outcome {
  int status;          // result of waitpid()
  std::string errors;  // its stderr

  bool is_good() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
};

using Variables = std::initializer_list<std::pair<const char*, const char*>>;

inline Outcome run(const Variables& variables, const std::function<void()>& body) {
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    for (const auto& [name, value] : variables) setenv((std::string("VMAFX_HIP_EMULATOR_") + name).c_str(), value, 1);
    body();
    std::exit(0);
  }
  close(ends[1]);
  Outcome outcome{};
  char buffer[512];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    outcome.errors.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  waitpid(child, &outcome.status, 0);
  return outcome;
}

inline void expect_good(const Variables& variables, const std::function<void()>& body) {
  const Outcome outcome = run(variables, body);
  ck_assert_msg(outcome.is_good(), "status %d: %s", outcome.status, outcome.errors.c_str());
}

/* The emulator must end the program with a message that has all these parts. */
inline void expect_stop(const Variables& variables, std::initializer_list<const char*> parts,
                        const std::function<void()>& body) {
  const Outcome outcome = run(variables, body);
  ck_assert_msg(WIFSIGNALED(outcome.status) && WTERMSIG(outcome.status) == SIGABRT, "not stopped, status %d: %s",
                outcome.status, outcome.errors.c_str());
  assert_contains(outcome.errors, "vmafx HIP emulator: ");
  for (const char* part : parts) assert_contains(outcome.errors, part);
}

inline constexpr const char* kLanes[] = {"32", "64"};

inline const std::vector<int32_t>& numbers() {
  static const std::vector<int32_t> all = [] {
    std::vector<int32_t> n(256);
    for (int i = 0; i < 256; i++) n[i] = i * i - 1000;
    return n;
  }();
  return all;
}

/* The parameters of the kernels test_copy and test_blur. */
struct CopyArgs {
  const void* in;
  void* out;
  int offset;
};
struct Picture {
  const uint8_t* data;
  int stride, w, h;
};

}  // namespace vmafx::test

#endif
