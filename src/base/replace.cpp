#include "base/replace.h"

#include <cerrno>
#include <system_error>

#include "base/system/file.h"

namespace vmafx {
namespace {

constexpr const char* kAdvice = "name another file, or set overwrite=1 to replace it";

Status unreadable(int cause, const std::string& path, const Replaceable& may) {
  return error(cause, "%s=%s: the file that is there cannot be read, so it stays (%s): %s", may.option, path.c_str(),
               std::generic_category().message(cause).c_str(), kAdvice);
}

Status judge(int fd, const system::FileFacts& facts, const std::string& path, const Replaceable& may) {
  std::string beginning(kBeginning, '\0');
  size_t got = 0;
  if (const int cause = system::read_at(fd, beginning.data(), kBeginning, 0, &got)) return unreadable(cause, path, may);
  beginning.resize(got);
  if (beginning.empty() || may.is_kind({path, beginning, facts.bytes, facts.has_other_names})) return {};
  return error(EEXIST, "%s=%s: this file exists and is not %s, so it stays: %s", may.option, path.c_str(), may.kind,
               kAdvice);
}

bool has_content(const system::FileFacts& facts) { return facts.kind == system::FileKind::kFile && facts.bytes > 0; }

}  // namespace

Status check_replace(const std::string& path, const Replaceable& may) {
  system::FileFacts facts;
  if (may.overwrite) return {};
  if (const int cause = system::read_facts(path, &facts))
    return cause == ENOENT ? Status() : unreadable(cause, path, may);
  if (!has_content(facts)) return {};
  const system::Descriptor file{system::open_file(path, system::kRead)};
  if (file.fd < 0) return unreadable(errno, path, may);
  if (const int cause = system::read_facts(file.fd, &facts)) return unreadable(cause, path, may);
  return has_content(facts) ? judge(file.fd, facts, path, may) : Status();
}

Status check_replace_of(int descriptor, const std::string& path, const Replaceable& may) {
  system::FileFacts facts;
  if (may.overwrite) return {};
  if (const int cause = system::read_facts(descriptor, &facts)) return unreadable(cause, path, may);
  if (!has_content(facts)) return {};
  const system::Descriptor file{system::reopen_file(descriptor)};
  if (file.fd < 0) return unreadable(errno, path, may);
  return judge(file.fd, facts, path, may);
}

}  // namespace vmafx
