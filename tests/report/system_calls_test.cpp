/* Each system call of a session that writes reports fails once, with several causes. The file with the report's name is
 * whole afterwards, or what was there before; the error names the file; nothing is left beside it, no descriptor stays
 * open, and the scores are there. */
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "tests/support/check_main.h"
#include "tests/support/stream.h"

using namespace vmafx::test;

// -- Calls that fail --------------------------------------------------------------------------------------------------

namespace {

std::atomic<bool> are_counted = false;
std::atomic<int> calls_left = 0;  // the call that takes it to 0 fails
std::atomic<int> cause = EIO;
std::atomic<const char*> failed_call = nullptr;

bool fails(const char* call) {
  if (!are_counted || --calls_left != 0) return false;
  failed_call = call;
  errno = cause;
  return true;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

/* Stands before the C library's function of that name, for all that is linked into this program. */
#define FAILING(result, name, parameters, arguments, failure)        \
  extern "C" [[gnu::visibility("default")]] result name parameters { \
    static const auto usual = next<result parameters>(#name);        \
    return fails(#name) ? failure : usual arguments;                 \
  }

FAILING(FILE*, fdopen, (int fd, const char* mode) noexcept, (fd, mode), nullptr)
FAILING(size_t, fwrite, (const void* data, size_t size, size_t n, FILE* file), (data, size, n, file), 0)
FAILING(int, fflush, (FILE * file), (file), EOF)
FAILING(int, fstat, (int fd, struct stat* info) noexcept, (fd, info), -1)
FAILING(int, stat, (const char* path, struct stat* info) noexcept, (path, info), -1)
FAILING(int, lstat, (const char* path, struct stat* info) noexcept, (path, info), -1)
FAILING(char*, realpath, (const char* path, char* to) noexcept, (path, to), nullptr)
FAILING(int, flock, (int fd, int operation) noexcept, (fd, operation), -1)
FAILING(int, fallocate, (int fd, int mode, off_t at, off_t bytes), (fd, mode, at, bytes), -1)
FAILING(int, ftruncate, (int fd, off_t size) noexcept, (fd, size), -1)
FAILING(ssize_t, write, (int fd, const void* data, size_t size), (fd, data, size), -1)
FAILING(int, rename, (const char* from, const char* to) noexcept, (from, to), -1)
FAILING(int, fchmod, (int fd, mode_t mode) noexcept, (fd, mode), -1)
FAILING(int, fchown, (int fd, uid_t user, gid_t group) noexcept, (fd, user, group), -1)
FAILING(int, fsync, (int fd), (fd), -1)
FAILING(ssize_t, sendfile, (int to, int from, off_t* at, size_t size) noexcept, (to, from, at, size), -1)
FAILING(int, unlink, (const char* path) noexcept, (path), -1)

extern "C" [[gnu::visibility("default")]] int open(const char* path, int flags, ...) {
  static const auto usual = next<int(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const auto mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return fails("open") ? -1 : usual(path, flags, mode);
}

/* The file is closed all the same, as the system does it. */
extern "C" [[gnu::visibility("default")]] int fclose(FILE* file) {
  static const auto usual = next<int(FILE*)>("fclose");
  const bool fail = fails("fclose");
  const int result = usual(file);
  if (fail) errno = cause;
  return fail ? EOF : result;
}

// -- A session in a folder --------------------------------------------------------------------------------------------

namespace {

/* The file that is in the way of a report. */
struct Setting {
  const char* report;
  bool is_there, has_two_names;
};
constexpr Setting kSettings[] = {{"report.csv", false, false},
                                 {"report.json", true, false},
                                 {"report.csv", true, true},
                                 {"report.ndjson", false, false},
                                 {"report.ndjson", true, false}};
constexpr int kCauses[] = {EIO, ENOSPC, EACCES};
constexpr int kFrames = 4;
constexpr const char* kMetrics = "vmafx.prom";
const std::string kBefore = "Frame,what was there before,\n";

using Files = std::map<std::string, std::string>;

std::filesystem::path folder() {
  return std::filesystem::temp_directory_path() / ("vmafx_calls_" + std::to_string(getpid()));
}

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const std::filesystem::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

size_t open_descriptors() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

struct Run {
  Outcome outcome;
  Files files;
  int calls;  // that were made
  size_t descriptors_left;
};

/* One stream, into a folder of its own; its call number `k` fails. */
Run run(const Setting& setting, int k) {
  std::filesystem::remove_all(folder());
  std::filesystem::create_directory(folder());
  const std::string report = folder() / setting.report, metrics = folder() / kMetrics;
  if (setting.is_there) put(report, kBefore);
  if (setting.has_two_names) std::filesystem::create_hard_link(report, folder() / "other name");
  Params params = cpu_params("vmaf_v0.6.1", "psnr");
  params.n_threads = 2;
  params.log_path = report.c_str();
  params.window = "0.08";
  params.openmetrics = metrics.c_str();
  const size_t descriptors = open_descriptors();
  constexpr int kNever = 1 << 30;
  calls_left = k ? k : kNever;
  failed_call = "none";
  are_counted = true;
  Run made;
  made.outcome = run_stream(params, {.frames = kFrames, .frame_rate = 25});
  are_counted = false;
  made.calls = (k ? k : kNever) - calls_left;
  made.descriptors_left = open_descriptors() - descriptors;
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    made.files[entry.path().filename()] = content(entry.path());
  std::filesystem::remove_all(folder());
  return made;
}

/* The rate of a run differs from run to run: a report without it. */
std::string without_rate(std::string report) {
  const size_t at = report.find("\"fps\": ");
  if (at != std::string::npos) report.erase(at, report.find('\n', at) - at);
  return report;
}

bool starts_with_lines(const std::string& whole, const std::string& part) {
  return whole.compare(0, part.size(), part) == 0;
}

/* Lines of NDJSON that are there come as the frames finish: some of them are there, in order. */
bool is_begun(const Setting& setting, const std::string& got, const std::string& right) {
  return std::string(setting.report).ends_with("ndjson") && starts_with_lines(without_rate(right), without_rate(got));
}

/* Check has no room for more. */
std::string beginning(const std::string& text) {
  return text.substr(0, 100) + " … " + (text.size() > 400 ? text.substr(text.size() - 300) : "");
}

/* A stream that ends with an error has a report, too, which says that it is of a part. */
bool is_partial(const std::string& text) {
  return text.find("\"partial\": true") != std::string::npos && text.ends_with("}\n");
}

/* CSV has no place to say so: its first lines are right, and the last of them may be that of a frame whose scores were
 * not yet all there. */
bool has_first_frames(const Setting& setting, const std::string& text, const std::string& whole) {
  if (!std::string(setting.report).ends_with("csv") || !text.ends_with("\n")) return false;
  const size_t last = text.rfind('\n', text.size() - 2);
  return last != std::string::npos && starts_with_lines(whole, text.substr(0, last + 1));
}

/* The old file has other names and was to be overwritten; the report is whole under another name, which the error
 * tells. */
bool is_whole_elsewhere(const Setting& setting, const Run& got, const std::string& right) {
  const auto part = got.files.find(std::string(setting.report) + ".part");
  return setting.has_two_names && part != got.files.end() && part->second == right &&
         got.outcome.log.find(part->first) != std::string::npos;
}

void check_report(const Setting& setting, const Run& got, const Run& right, const std::string& where) {
  const auto found = got.files.find(setting.report);
  if (found == got.files.end()) {
    ck_assert_msg(!setting.is_there, "%s: the report that was there is gone", where.c_str());
    ck_assert_msg(got.outcome.error, "%s: there is neither a report nor an error", where.c_str());
    return;
  }
  const std::string &text = found->second, &whole = right.files.at(setting.report);
  if (without_rate(text) == without_rate(whole)) return;
  ck_assert_msg(got.outcome.error, "%s: no error, and a report that is not right: '%s'", where.c_str(),
                beginning(text).c_str());
  ck_assert_msg(is_partial(text) || has_first_frames(setting, text, whole) || is_whole_elsewhere(setting, got, whole) ||
                    text == (setting.is_there ? kBefore : "") || is_begun(setting, text, whole),
                "%s: half a report: '%s'", where.c_str(), beginning(text).c_str());
}

/* A metrics file ends as the format demands. */
void check_metrics(const Run& got, const std::string& where) {
  const auto found = got.files.find(kMetrics);
  if (found == got.files.end())
    ck_assert_msg(!got.outcome.log.empty(), "%s: no metrics, and nothing said", where.c_str());
  else ck_assert_msg(found->second.ends_with("# EOF\n"), "%s: half a metrics file", where.c_str());
}

/* Checks the other files: each was named, as it holds the scores, or could not be removed. */
void check_others(const Setting& setting, const Run& got, const std::string& where) {
  const std::set<std::string> meant = {setting.report, kMetrics, "other name"};
  for (const auto& [name, text] : got.files)
    ck_assert_msg(meant.contains(name) || got.outcome.log.find(name) != std::string::npos ||
                      std::string(failed_call.load()) == "unlink",
                  "%s: %s is left", where.c_str(), name.c_str());
}

void check(const Setting& setting, const Run& got, const Run& right, const std::string& where) {
  check_report(setting, got, right, where);
  check_metrics(got, where);
  check_others(setting, got, where);
  ck_assert_msg(got.descriptors_left == 0, "%s: %zu descriptors stay open", where.c_str(), got.descriptors_left);
  ck_assert_msg(TestPicture::alive == 0, "%s: pictures are left", where.c_str());
  ck_assert_msg(got.outcome.models.empty() || got.outcome.models == right.outcome.models, "%s: another score",
                where.c_str());
  if (!got.outcome.error) ck_assert_msg(!got.outcome.models.empty(), "%s: neither a score nor an error", where.c_str());
  else
    ck_assert_msg(got.outcome.log.find(folder()) != std::string::npos, "%s: the error does not name the file: %s",
                  where.c_str(), beginning(got.outcome.log).c_str());
}

}  // namespace

/* _i: which setting. */
START_TEST(each_call_fails_once) {
  const Setting& setting = kSettings[_i];
  const Run right = run(setting, 0);
  ck_assert_int_eq(right.outcome.error, 0);
  ck_assert_int_gt(right.calls, 8);
  std::set<std::string> seen;
  int errors = 0;
  for (const int value : kCauses) {
    cause = value;
    for (int k = 1; k <= right.calls; k++) {
      const Run got = run(setting, k);
      seen.insert(failed_call.load());
      const std::string where = std::string(setting.report) + ", call " + std::to_string(k) + " (" +
                                failed_call.load() + ") fails with " + std::to_string(value);
      check(setting, got, right, where);
      errors += got.outcome.error != 0;
    }
  }
  std::printf("%s: %d calls, %zu functions, %d errors\n", setting.report, right.calls, seen.size(), errors);
  ck_assert_int_gt(errors, 0);
  for (const char* name : {"open", "fdopen", "fwrite", "fclose"})
    ck_assert_msg(seen.contains(name), "%s was never called", name);
}
END_TEST

int main() {
  return run_suite("system_calls", {{"absent", each_call_fails_once, 0},
                                    {"there", each_call_fails_once, 1},
                                    {"two_names", each_call_fails_once, 2},
                                    {"lines", each_call_fails_once, 3},
                                    {"lines_there", each_call_fails_once, 4}});
}
