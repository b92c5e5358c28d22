/* The room for the system does the same on POSIX systems and on Windows. */
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/system/environment.h"
#include "base/system/file.h"
#include "base/system/library.h"
#include "base/system/number_text.h"
#include "base/system/path.h"
#include "base/system/process.h"
#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

/* A folder that is empty, and gone afterwards. */
struct Folder {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("vmafx_system_" + std::to_string(system::process_id()))).string();

  Folder() { ck_assert_int_eq(system::make_folder(path, 0700), 0); }
  ~Folder() {
    std::error_code failure;
    std::filesystem::remove_all(path, failure);
    ck_assert_msg(!failure, "%s stays: %s", path.c_str(), failure.message().c_str());
  }
  std::string file(const std::string& name) const { return path + "/" + name; }
};

void write_text(const std::string& path, const std::string& text) {
  const system::Descriptor file{system::open_file(path, system::kWrite | system::kCreate)};
  ck_assert_int_ge(file.fd, 0);
  ck_assert_int_eq(system::resize(file.fd, 0), 0);
  ck_assert_int_eq(system::write_at(file.fd, text.data(), text.size(), 0), 0);
}

std::string read_text(const std::string& path) {
  const system::Descriptor file{system::open_file(path, system::kRead)};
  ck_assert_int_ge(file.fd, 0);
  std::string text(1000, '\0');
  size_t got = 0;
  ck_assert_int_eq(system::read_at(file.fd, text.data(), text.size(), 0, &got), 0);
  return text.substr(0, got);
}

system::FileFacts facts_of(const std::string& path) {
  system::FileFacts facts;
  ck_assert_int_eq(system::read_facts(path, &facts), 0);
  return facts;
}

/* Names of any language, and one that makes a path longer than the 260 characters that Windows takes unasked. */
std::vector<std::string> names() { return {"plain", "with blank", "größe", "映画", "фильм 🎬", std::string(200, 'x')}; }

}  // namespace

START_TEST(names_of_any_kind) {
  const Folder folder;
  for (const std::string& name : names()) {
    const std::string deep = folder.file(name);
    ck_assert_int_eq(system::make_folders(deep), 0);
    ck_assert_int_eq(system::make_folders(deep), 0);  // it is there
    const std::string path = deep + "/" + name;
    write_text(path, name);
    assert_text_eq(read_text(path), name);
    assert_text_eq(system::name_of(path), name);
    ck_assert(facts_of(deep).kind == system::FileKind::kFolder);
    ck_assert_int_eq(facts_of(path).bytes, static_cast<int64_t>(name.size()));
    ck_assert_int_eq(system::remove_file(path), 0);
    system::FileFacts facts;
    ck_assert_int_eq(system::read_facts(path, &facts), ENOENT);
  }
}
END_TEST

START_TEST(new_file_is_new) {
  const Folder folder;
  const std::string path = folder.file("one");
  const system::Descriptor made{system::open_file(path, system::kWrite | system::kNew)};
  ck_assert_int_ge(made.fd, 0);
  ck_assert_int_eq(system::open_file(path, system::kWrite | system::kNew), -1);
  ck_assert_int_eq(errno, EEXIST);
  ck_assert_int_eq(system::open_file(folder.file("other"), system::kWrite), -1);
  ck_assert_int_eq(errno, ENOENT);
}
END_TEST

/* The reader that has the old file open keeps it. */
START_TEST(replaced_in_one_step) {
  const Folder folder;
  const std::string old_name = folder.file("report"), new_name = folder.file("report.part");
  write_text(old_name, "old");
  write_text(new_name, "new, and longer");
  {
    const system::Descriptor part{system::open_file(new_name, system::kWrite)};
    ck_assert(system::take_over(part.fd, old_name, facts_of(old_name)));
  }
  ck_assert_int_eq(system::replace_file(new_name, old_name), 0);
  assert_text_eq(read_text(old_name), "new, and longer");
  system::FileFacts facts;
  ck_assert_int_eq(system::read_facts(new_name, &facts), ENOENT);
}
END_TEST

START_TEST(identity) {
  const Folder folder;
  const std::string a = folder.file("a"), b = folder.file("b");
  write_text(a, "a");
  write_text(b, "b");
  const system::FileFacts of_a = facts_of(a), again = facts_of(folder.path + "/./a"), of_b = facts_of(b);
  ck_assert(of_a.device == again.device && of_a.number == again.number);
  ck_assert(of_a.number != of_b.number);
  ck_assert(!of_a.has_other_names);
  std::filesystem::create_hard_link(a, folder.file("c"));
  ck_assert(facts_of(a).has_other_names && facts_of(folder.file("c")).number == of_a.number);
}
END_TEST

START_TEST(content) {
  const Folder folder;
  const std::string from = folder.file("from"), to = folder.file("to");
  write_text(from, "one\r\ntwo\n");
  write_text(to, "");
  const system::Descriptor in{system::open_file(from, system::kRead)}, out{system::open_file(to, system::kWrite)};
  ck_assert_int_eq(system::append_content(in.fd, out.fd, 9), 0);
  assert_text_eq(read_text(to), "one\r\ntwo\n");
  const int reserved = system::reserve(out.fd, 1 << 20);
  ck_assert(reserved == 0 || reserved == ENOTSUP);
  ck_assert_int_eq(facts_of(to).bytes, 9);
  ck_assert_int_eq(system::resize(out.fd, 3), 0);
  assert_text_eq(read_text(to), "one");
  system::WayOfWriting way;
  ck_assert_int_eq(system::read_way_of_writing(out.fd, &way), 0);
  ck_assert(way.is_allowed);
  ck_assert_int_eq(system::read_way_of_writing(in.fd, &way), 0);
  ck_assert(!way.is_allowed);
  ck_assert_int_ne(system::read_way_of_writing(99, &way), 0);
}
END_TEST

/* A file that is locked can be read and written all the same. */
START_TEST(locks) {
  const Folder folder;
  const std::string path = folder.file("place");
  write_text(path, "text");
  {
    const system::Descriptor one{system::open_file(path, system::kWrite)}, two{system::open_file(path, system::kRead)};
    ck_assert(system::try_lock(one.fd, system::LockKind::kOne) == system::Lock::kTaken);
    ck_assert(system::try_lock(two.fd, system::LockKind::kOne) == system::Lock::kBusy);
    ck_assert(system::try_lock(two.fd, system::LockKind::kMany) == system::Lock::kBusy);
    write_text(path, "more");
    assert_text_eq(read_text(path), "more");
  }
  const system::Descriptor one{system::open_file(path, system::kRead)}, two{system::open_file(path, system::kRead)};
  ck_assert(system::try_lock(one.fd, system::LockKind::kMany) == system::Lock::kTaken);
  ck_assert(system::try_lock(two.fd, system::LockKind::kMany) == system::Lock::kTaken);
}
END_TEST

START_TEST(paths) {
  assert_text_eq(system::name_of("a/b/c"), "c");
  assert_text_eq(system::folder_of("a/b/c"), "a/b/");
  assert_text_eq(system::folder_of("c"), ".");
  assert_text_eq(system::parent_of("a/b/"), "a/");
  assert_text_eq(system::name_of("a/"), "");
  ck_assert(system::fits_system("a/b", 0));
  ck_assert(!system::fits_system("a/" + std::string(256, 'x'), 0));
  ck_assert(!system::fits_system("a", 40000));
}
END_TEST

START_TEST(numbers_have_points) {
  char text[64];
  ck_assert_int_eq(system::print_number(text, sizeof text, "%.17g", 76.668905196236125), 18);
  assert_text_eq(text, "76.668905196236125");
}
END_TEST

START_TEST(libraries) {
  const system::LoadedLibrary none = system::load_library("vmafx_no_such_library");
  ck_assert(!none.handle && none.is_absent && !none.reason.empty());
  ck_assert(!system::names_of_hip_runtime().empty() && !system::names_of_cuda_driver().empty());
}
END_TEST

/* 1 + 2^-11 + 2^-24 lies between two floats: what is added decides, however small it is. */
START_TEST(multiply_add_rounds_once) {
  volatile float a = 1 + 0x1p-12f, above = 0x1p-60f, below = -0x1p-60f, none = 0, large = 0x1p127f;
  ck_assert(__builtin_fmaf(a, a, above) == 1 + 0x1p-11f + 0x1p-23f);
  ck_assert(__builtin_fmaf(a, a, below) == 1 + 0x1p-11f);
  ck_assert(__builtin_fmaf(a, a, none) == 1 + 0x1p-11f);
  ck_assert(__builtin_fmaf(-a, a, below) == -1 - 0x1p-11f - 0x1p-23f);
  ck_assert(std::isinf(__builtin_fmaf(large, large, none)));
}
END_TEST

START_TEST(process) {
  ck_assert_int_gt(system::process_id(), 0);
  ck_assert_int_ge(system::usable_processors(), 1);
  ck_assert(!system::other_threads_are_gone());
  ck_assert_ptr_null(environment("VMAFX_NO_SUCH_VARIABLE"));
  ck_assert_ptr_nonnull(environment("PATH"));
  const std::string folder = system::users_folder();
  ck_assert(folder.empty() || facts_of(folder).kind == system::FileKind::kFolder);
}
END_TEST

int main() {
  return vmafx::test::run_suite("system", {{"names_of_any_kind", names_of_any_kind},
                                           {"new_file_is_new", new_file_is_new},
                                           {"replaced_in_one_step", replaced_in_one_step},
                                           {"identity", identity},
                                           {"content", content},
                                           {"locks", locks},
                                           {"paths", paths},
                                           {"numbers_have_points", numbers_have_points},
                                           {"libraries", libraries},
                                           {"multiply_add", multiply_add_rounds_once},
                                           {"process", process}});
}
