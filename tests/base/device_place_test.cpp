/* Places of a GPU among processes. */
#include "base/device_place.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include <check.h>  // after the streams: it defines a macro fail()

#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

namespace fs = std::filesystem;

/* A folder that is gone at the end. */
struct Folder {
  Folder() {
    char name[] = "/tmp/vmafx_places_XXXXXX";
    ck_assert(mkdtemp(name));
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  std::string path;
};

const std::vector<std::string> kOne = {"0000:03:00.0"}, kTwo = {"0000:03:00.0", "0000:0a:00.0"};

std::shared_ptr<const DevicePlace> take(const Folder& folder, const std::vector<std::string>& devices, int most) {
  const auto place = take_device_place(folder.path, devices, most);
  ck_assert_msg(place.ok(), "%s", place.status().message().c_str());
  return place.value();
}

void assert_full(const Folder& folder, const std::vector<std::string>& devices, int most) {
  const auto place = take_device_place(folder.path, devices, most);
  ck_assert(!place.ok());
  ck_assert_int_eq(place.status().code(), EBUSY);
  assert_contains(place.status().message(), "as many as it has room for (" + std::to_string(most));
}

/* Restored at the end. */
struct Variable {
  Variable(const char* name, const char* value) : name(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name); }
  const char* name;
};

}  // namespace

START_TEST(no_more_than_there_are) {
  const Folder folder;
  std::vector<std::shared_ptr<const DevicePlace>> places;
  for (int i = 0; i < 3; i++) places.push_back(take(folder, kOne, 3));
  assert_full(folder, kOne, 3);
  places.erase(places.begin() + 1);
  places.push_back(take(folder, kOne, 3));
  assert_full(folder, kOne, 3);
}
END_TEST

START_TEST(taken_places_are_counted) {
  const Folder folder;
  const auto taken = [&](const std::string& device) { return count_taken_places(folder.path, device, 3); };
  ck_assert_int_eq(taken(kOne[0]), 0);
  auto first = take(folder, kOne, 3), second = take(folder, kOne, 3);
  ck_assert_int_eq(taken(kOne[0]), 2);
  ck_assert_int_eq(taken(kTwo[1]), 0);
  first.reset();
  ck_assert_int_eq(taken(kOne[0]), 1);
  take(folder, kOne, 3);  // whoever counts takes none
  ck_assert_int_eq(count_taken_places("", kOne[0], 3) + count_taken_places("/nowhere", kOne[0], 3), 0);
}
END_TEST

START_TEST(devices_fill_evenly) {
  const Folder folder;
  std::vector<std::shared_ptr<const DevicePlace>> places;
  for (const size_t device : {0, 1, 0, 1}) {
    places.push_back(take(folder, kTwo, 2));
    ck_assert_int_eq(places.back()->device(), device);
  }
  assert_full(folder, kTwo, 2);
  places.erase(places.begin() + 3);
  ck_assert_int_eq(take(folder, kTwo, 2)->device(), 1);
}
END_TEST

START_TEST(who_dies_gives_it_back) {
  const Folder folder;
  int ready[2];
  ck_assert_int_eq(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto place = take_device_place(folder.path, kOne, 1);
    (void)!write(ready[1], "", 1);
    pause();
    _exit(0);
  }
  char byte;
  ck_assert_int_eq(read(ready[0], &byte, 1), 1);
  assert_full(folder, kOne, 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  take(folder, kOne, 1);
  close(ready[0]);
  close(ready[1]);
}
END_TEST

/* A machine where nothing can be written still has its GPU. */
START_TEST(without_a_folder_there_is_no_bound) {
  for (const char* nowhere : {"", "/nowhere"})
    for (int i = 0; i < 3; i++) ck_assert(take_device_place(nowhere, kOne, 1).ok());
}
END_TEST

START_TEST(the_folder_is_ours) {
  const Folder folder;
  const Variable run_time("XDG_RUNTIME_DIR", folder.path.c_str());
  assert_text_eq(device_place_folder(), folder.path + "/vmafx");
  ck_assert_int_eq(fs::status(folder.path + "/vmafx").permissions() == fs::perms::owner_all, 1);
  fs::permissions(folder.path + "/vmafx", fs::perms::all);
  assert_text_eq(device_place_folder(), "");  // others could put links there
  fs::remove(folder.path + "/vmafx");
  fs::create_directory(folder.path + "/other");
  fs::create_directory_symlink(folder.path + "/other", folder.path + "/vmafx");
  assert_text_eq(device_place_folder(), "");
  const Variable chosen("VMAFX_DEVICE_PLACE_DIR", "/chosen");
  assert_text_eq(device_place_folder(), "/chosen");
}
END_TEST

START_TEST(links_are_not_followed) {
  const Folder folder;
  std::ofstream(folder.path + "/victim") << "text";
  fs::create_symlink(folder.path + "/victim", folder.path + "/" + kOne[0] + ".0");
  ck_assert(take_device_place(folder.path, kOne, 1).ok());
  ck_assert_int_eq(fs::file_size(folder.path + "/victim"), 4);
}
END_TEST

START_TEST(memory_says_how_many) {
  const auto places = [](size_t gib) { return device_places_of(gib << 30).value(); };
  ck_assert(places(0) == 1 && places(8) == 8 && places(141) == 16);
  const Variable chosen("VMAFX_DEVICE_PLACES", "40");
  ck_assert_int_eq(places(8), 40);
  for (const char* wrong : {"0", "-1", "many", "", "4x"}) {
    const Variable again("VMAFX_DEVICE_PLACES", wrong);
    ck_assert_int_eq(device_places_of(1).status().code(), EINVAL);
  }
}
END_TEST

int main() {
  unsetenv("VMAFX_DEVICE_PLACES");  // `make check` sets it, for other tests
  return vmafx::test::run_suite("places", {{"bound", no_more_than_there_are},
                                           {"count", taken_places_are_counted},
                                           {"evenly", devices_fill_evenly},
                                           {"death", who_dies_gives_it_back},
                                           {"no_folder", without_a_folder_there_is_no_bound},
                                           {"folder", the_folder_is_ours},
                                           {"links", links_are_not_followed},
                                           {"memory", memory_says_how_many}});
}
