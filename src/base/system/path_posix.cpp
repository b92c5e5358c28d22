#include "base/system/path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

namespace vmafx::system {
namespace {

constexpr int kMostLinks = 40;

}  // namespace

std::string_view separators() { return "/"; }

bool fits_system(const std::string& path, size_t more) {
  if (path.size() + more >= PATH_MAX) return false;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (end - begin > NAME_MAX) return false;
    begin = end + 1;
  }
  return true;
}

std::optional<int> named_descriptor(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int fd = -1;
    const char* const end = path.data() + path.size();
    const auto [rest, failure] = std::from_chars(path.data() + folder.size(), end, fd);
    if (failure == std::errc() && rest == end && fd >= 0) return fd;
  }
  return {};
}

bool names_descriptor(const std::string& path) {
  return (path.starts_with("/dev/") && !path.starts_with("/dev/shm/")) || path.starts_with("/proc/");
}

std::string follow_links(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : path;
}

std::string end_of_links(std::string path) {
  namespace fs = std::filesystem;
  std::error_code failure;
  for (int i = 0; i < kMostLinks; i++) {
    const fs::path target = fs::read_symlink(path, failure);
    if (failure) break;
    path = target.is_absolute() ? target : fs::path(path).parent_path() / target;
  }
  return path;
}

bool is_link(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

}  // namespace vmafx::system
