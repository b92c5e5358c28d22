/* A test program that runs itself again under the emulator, once per case: the emulator is set up once per process, and
 * ends one that misuses it or leaves things behind. */
#ifndef VMAFX_TESTS_SUPPORT_EMULATOR_H
#define VMAFX_TESTS_SUPPORT_EMULATOR_H

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/check_main.h"
#include "tests/support/paths.h"

namespace vmafx::test {

struct Rerun {
  bool succeeded = false;  // exit status 0; the only other one allowed is 1
  std::string text;        // all it printed

  /* The end of it, for messages. */
  std::string last_words() const { return text.substr(text.size() - std::min<size_t>(text.size(), 500)); }
};

/* Runs `VARIABLES this-program ARGUMENTS`; a program that hangs is ended with a failure. */
inline Rerun run_again(const std::string& variables, const std::string& arguments) {
  char self[4096] = "";
  ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
  const std::string command = "VMAFX_HIP_RUNTIME=" HIP_EMULATOR " VMAFX_HIP_EMULATOR_THREADS=1 " + variables +
                              " timeout --foreground --signal=ABRT 120 '" + self + "' " + arguments + " 2>&1";
  FILE* output = popen(command.c_str(), "r");
  ck_assert_ptr_nonnull(output);
  Rerun rerun;
  char text[4096];
  while (std::fgets(text, sizeof text, output)) rerun.text += text;
  const int status = pclose(output);
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) <= 1, "%s: %s", command.c_str(), rerun.last_words().c_str());
  rerun.succeeded = WEXITSTATUS(status) == 0;
  return rerun;
}

/* A variable of the emulator for run_again(). */
inline std::string emulator(const char* name, const std::string& value) {
  return std::string("VMAFX_HIP_EMULATOR_") + name + "=" + value;
}

/* The names of the calls of the runtime that such a run makes, in order. */
inline std::vector<std::string> list_calls(const std::string& arguments) {
  char path[] = "/tmp/vmafx_calls_XXXXXX";
  close(mkstemp(path));
  ck_assert(run_again(emulator("CALLS", path), arguments).succeeded);
  std::ifstream file(path);
  size_t count = 0;
  file >> count;
  std::vector<std::string> calls(count);
  for (std::string& name : calls) file >> count >> name;
  ck_assert(static_cast<bool>(file));
  unlink(path);
  return calls;
}

inline int count_calls(const std::string& arguments) { return static_cast<int>(list_calls(arguments).size()); }

}  // namespace vmafx::test

#endif
