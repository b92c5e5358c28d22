/* Files, by names in UTF-8 and by the C library's descriptors. Functions return 0 or an errno value, where nothing else
 * is said. */
#ifndef VMAFX_BASE_SYSTEM_FILE_H
#define VMAFX_BASE_SYSTEM_FILE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace vmafx::system {

enum class FileKind { kFile, kFolder, kPipe, kDevice, kOther };

struct FileFacts {
  FileKind kind = FileKind::kOther;
  int64_t bytes = 0;
  bool has_other_names = false;     // hard links
  uint64_t device = 0, number = 0;  // the same of all names of one file
  unsigned mode = 0;                // of the owner, the group and others
  unsigned user = 0, group = 0;     // 0 on Windows
};

/* Facts of the file that a name leads to, links followed. */
int read_facts(const std::string& path, FileFacts* facts);
int read_facts(int descriptor, FileFacts* facts);

/* -- Opening ------------------------------------------------------------------------------------------------------- */

/* kNew fails if the name is taken. kNotThroughLink fails at a symbolic link. */
enum FileAccess : unsigned { kRead = 0, kWrite = 1, kCreate = 2, kNew = 4, kNotThroughLink = 8 };

inline constexpr unsigned kUsualMode = 0666, kOwnersMode = 0600;  // less the umask

/* A descriptor, or -1 with errno. It is in binary mode; programs that this one starts do not have it. A pipe fails
 * (ENXIO) instead of waiting for the other end. */
int open_file(const std::string& path, unsigned access, unsigned mode = kUsualMode);
int close_file(int descriptor);

/* Opens what a descriptor leads to anew, for reading. */
int reopen_file(int descriptor);

/* A second descriptor of the same open file, in binary mode; -1 with errno. */
int duplicate(int descriptor);

inline constexpr int kStandardOutput = 1;

/* Calls with this descriptor wait from now on. */
void let_wait(int descriptor);

struct WayOfWriting {
  bool is_allowed = false;
  bool adds = false;  // whatever is there now stays
};
int read_way_of_writing(int descriptor, WayOfWriting* way);

/* Closes a descriptor. */
struct Descriptor {
  const int fd;
  ~Descriptor() {
    if (fd >= 0) static_cast<void>(close_file(fd));
  }
};

/* -- Content ------------------------------------------------------------------------------------------------------- */

/* Reads or writes at a place in the file; `got` may be less than `bytes` at its end. */
int read_at(int descriptor, void* data, size_t bytes, int64_t at, size_t* got);
int write_at(int descriptor, const void* data, size_t bytes, int64_t at);

/* ESPIPE: write_at() cannot choose the place. */
int check_places(int descriptor);

/* Tells whether a write would succeed, as far as one of no bytes does. */
int try_writing(int descriptor);

int resize(int descriptor, int64_t bytes);

/* Takes room on the disk for a file of so many bytes, whose size stays. ENOTSUP: the file system cannot do that. */
int reserve(int descriptor, int64_t bytes);

/* Appends the first `bytes` of one file to another. */
int append_content(int from, int to, int64_t bytes);

/* Returns when the content is on the disk. */
int sync_file(int descriptor);

/* -- Names --------------------------------------------------------------------------------------------------------- */

/* In one step: readers see the old file or the new one. */
int replace_file(const std::string& from, const std::string& to);
int remove_file(const std::string& path);

/* Gives a new file the owner and the mode of the one that it is to replace. False: something of that one would be
 * lost. */
bool take_over(int descriptor, const std::string& path, const FileFacts& old);

/* -- Folders ------------------------------------------------------------------------------------------------------- */

int make_folder(const std::string& path, unsigned mode);
int make_folders(const std::string& path);  // with those above it

/* Whether a file can be made in a folder that is there. */
int check_folder(const std::string& path);

/* A folder of this user alone, made if need be, that all processes of the user find on this machine; "": there can be
 * none. */
std::string users_folder();

/* The user's folder for what programs may lose and measure or make again: XDG_CACHE_HOME or ~/.cache, on Windows
 * LOCALAPPDATA; it may not be there. "": there is none. */
std::string cache_folder();

/* -- Locks between processes --------------------------------------------------------------------------------------- */

/* The system gives a lock back when its process ends, however it ends. */

enum class Lock { kTaken, kBusy, kFailed };
enum class LockKind { kOne, kMany };  // kMany: others may have one of this kind, too

Lock try_lock(int descriptor, LockKind kind);

}  // namespace vmafx::system

#endif
