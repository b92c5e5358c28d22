/* The file of costs: what it keeps, and that nothing which may stand in its place does harm or is lost. */
#include "engine/device/known_costs.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

/* A folder that goes away with it. */
class Folder {
 public:
  Folder() { ck_assert_ptr_nonnull(mkdtemp(name_)); }
  ~Folder() { std::filesystem::remove_all(name_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path(const std::string& name) const { return std::string(name_) + "/" + name; }

 private:
  char name_[32] = "/tmp/vmafx_costs_XXXXXX";
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

constexpr PlanCosts kPlan = {0.0125, 0.0005, 1200};
const DeviceCosts kDevice = {0.48, "0000:03:00.0"};

}  // namespace

START_TEST(costs_come_back) {
  const Folder folder;
  const std::string path = folder.path("cache/vmafx/costs.txt");
  ck_assert(!KnownCosts::read(path).any());
  keep_costs(path, "plan", kPlan, "auto", &kDevice);
  keep_costs(path, "other", {0.5, 0, 0}, "auto", nullptr);
  const KnownCosts known = KnownCosts::read(path);
  ck_assert(known.any());
  ck_assert_double_eq_tol(known.of_plan("plan")->cpu_pair, kPlan.cpu_pair, 1e-9);
  ck_assert_double_eq_tol(known.of_plan("plan")->gpu_pair, kPlan.gpu_pair, 1e-9);
  ck_assert_int_eq(known.of_plan("plan")->pairs, kPlan.pairs);
  ck_assert_double_eq(known.of_plan("other")->gpu_pair, 0);
  ck_assert(!known.of_plan("none"));
  ck_assert_double_eq_tol(known.of_device("auto")->opening, kDevice.opening, 1e-9);
  assert_text_eq(known.of_device("auto")->pci_address, kDevice.pci_address);
  ck_assert(!known.of_device("1"));
  ck_assert_int_eq(std::distance(std::filesystem::directory_iterator(folder.path("cache/vmafx")), {}), 1);
}
END_TEST

START_TEST(the_latest_ones_stay) {
  const Folder folder;
  const std::string path = folder.path("costs");
  for (int i = 0; i < 100; i++) keep_costs(path, "plan" + std::to_string(i), kPlan, "auto", &kDevice);
  const KnownCosts known = KnownCosts::read(path);
  ck_assert(!known.of_plan("plan35") && known.of_plan("plan36") && known.of_plan("plan99"));
  ck_assert_int_lt(std::filesystem::file_size(path), 64 << 10);
}
END_TEST

START_TEST(what_is_damaged_counts_for_nothing) {
  const Folder folder;
  const std::string path = folder.path("costs"), title = "vmafx costs 1\n";
  for (const char* line : {"plan p", "plan p 1", "plan p 1 2", "plan p 1 2 3 4", "plan  p 1 2 3", "", "\n\n plan"}) {
    write(path, title + line + "\n");
    ck_assert_msg(!KnownCosts::read(path).of_plan("p"), "%s", line);
  }
  for (const char* words : {"x y z", "-5 -5 -5", "99999999999999999999 nan 2.5", "0 0 0", "9000000000000 1e3 x"}) {
    write(path, title + "plan p " + words + "\n");
    const auto costs = KnownCosts::read(path).of_plan("p");
    ck_assert_msg(costs && costs->cpu_pair == 0 && costs->gpu_pair == 0 && costs->pairs == 0, "%s", words);
  }
  write(path, title + "plan p 1000000000 2000000000 3");  // cut off
  ck_assert(!KnownCosts::read(path).of_plan("p"));
  keep_costs(path, "p", kPlan, "auto", nullptr);
  ck_assert(KnownCosts::read(path).of_plan("p").has_value());
}
END_TEST

START_TEST(what_is_not_ours_stays) {
  const Folder folder;
  const std::string path = folder.path("costs");
  for (const std::string& text : {std::string("a letter\n"), std::string(70000, 'x'), std::string("\0\1", 2)}) {
    write(path, text);
    ck_assert(!KnownCosts::read(path).any());
    keep_costs(path, "p", kPlan, "auto", &kDevice);
    ck_assert(text_of(path) == text);
  }
  const std::string taken = folder.path("taken");
  std::filesystem::create_directory(taken);
  keep_costs(taken, "p", kPlan, "auto", &kDevice);
  keep_costs("", "p", kPlan, "auto", &kDevice);
  keep_costs("/proc/none/costs", "p", kPlan, "auto", &kDevice);
  ck_assert(std::filesystem::is_empty(taken) && !KnownCosts::read(taken).any() && !KnownCosts::read("").any());
}
END_TEST

START_TEST(the_variable_names_the_file) {
  setenv("VMAFX_COSTS", "/tmp/there", 1);
  assert_text_eq(known_costs_file(), "/tmp/there");
  setenv("VMAFX_COSTS", "", 1);
  assert_text_eq(known_costs_file(), "");
  unsetenv("VMAFX_COSTS");
  setenv("XDG_CACHE_HOME", "/tmp/cache", 1);
  assert_text_eq(known_costs_file(), "/tmp/cache/vmafx/costs.txt");
}
END_TEST

int main() {
  return run_suite("known costs", {{"kept", costs_come_back},
                                   {"latest", the_latest_ones_stay},
                                   {"damaged", what_is_damaged_counts_for_nothing},
                                   {"foreign", what_is_not_ours_stays},
                                   {"variable", the_variable_names_the_file}});
}
