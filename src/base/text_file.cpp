#include "base/text_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "base/system/file.h"

namespace vmafx {
namespace {

/* Few files are as large as they may be: memory for what there is. */
constexpr size_t kBlockBytes = 16 << 10;

Status file_error(const char* what, const std::string& path, int errno_value) {
  return error(errno_value, "%s '%s': %s", what, path.c_str(), std::generic_category().message(errno_value).c_str());
}

}  // namespace

StatusOr<std::string> read_text_file(const char* what, const std::string& path, size_t most) {
  const int fd = system::open_file(path, system::kRead);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(fd < 0 ? nullptr : fdopen(fd, "rb"), std::fclose);
  if (!file) return file_error(what, path, errno);
  system::FileFacts facts;
  if (const int cause = system::read_facts(fd, &facts)) return file_error(what, path, cause);
  if (facts.kind == system::FileKind::kFolder) return file_error(what, path, EISDIR);
  if (facts.kind != system::FileKind::kFile)
    return error(EINVAL, "%s '%s': it is a pipe or a device, not a file", what, path.c_str());
  std::string text;
  for (bool more = true; more && text.size() <= most;) {
    const size_t before = text.size(), wanted = std::min(kBlockBytes, most + 1 - before);
    text.resize(before + wanted);
    const size_t got = std::fread(text.data() + before, 1, wanted, file.get());
    text.resize(before + got);
    more = got == wanted;
  }
  if (std::ferror(file.get())) return file_error(what, path, EIO);
  if (text.size() > most) return error(EINVAL, "%s '%s': it is larger than %zu bytes", what, path.c_str(), most);
  return text;
}

}  // namespace vmafx
