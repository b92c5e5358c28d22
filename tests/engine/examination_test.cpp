/* vmafx_examine() on a machine without a GPU: which facts it tells, in which order. tests/python/cases_doctor.py has
 * the machines with a GPU, broken ones among them. */
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/cpu.h"
#include "tests/support/check_main.h"
#include "vmafx/vmafx.h"

namespace {

struct Told {
  std::vector<nlohmann::json> facts;
  std::string failure;
};

void take(void* cookie, VmafxLogLevel level, const char* message) {
  Told& told = *static_cast<Told*>(cookie);
  if (level == VMAFX_LOG_INFO) told.facts.push_back(nlohmann::json::parse(message));
  else told.failure = message;
}

std::string kinds_of(const Told& told) {
  std::string kinds;
  for (const auto& fact : told.facts) kinds += (kinds.empty() ? "" : " ") + fact["kind"].get<std::string>();
  return kinds;
}

}  // namespace

START_TEST(facts_come_in_order) {
  setenv("VMAFX_HIP_RUNTIME", "libno_such_runtime.so.1", 1);
  Told told;
  ck_assert_int_eq(vmafx_examine(take, &told), 0);
  assert_text_eq(told.failure, "");
  assert_text_eq(kinds_of(told), "library cpu code step runtime");
  assert_text_eq(told.facts[0]["version"], vmafx_version());
  assert_text_eq(told.facts[1]["level"], vmafx::cpu_level());
  ck_assert_int_eq(told.facts[1]["threads"].get<int>(), vmafx::usable_threads());
  ck_assert_int_eq(told.facts[4]["error"].get<int>(), ENOENT);
  assert_contains(told.facts[4]["reason"].get<std::string>(), "there is no libno_such_runtime.so.1");
}
END_TEST

START_TEST(nobody_listens) { ck_assert_int_eq(vmafx_examine(nullptr, nullptr), -EINVAL); }
END_TEST

int main() {
  return vmafx::test::run_suite("examination", {{"facts", facts_come_in_order}, {"nobody", nobody_listens}});
}
