/* main() of a Check program: `return run_suite("vif", {{"equals_plain", test_fn}, …});` */
#ifndef VMAFX_TESTS_SUPPORT_CHECK_MAIN_H
#define VMAFX_TESTS_SUPPORT_CHECK_MAIN_H

#include <check.h>
#undef fail  // a macro of check.h, and functions of the standard library's streams

#include <cstdlib>
#include <string>
#include <vector>

namespace vmafx::test {

/* Check writes to a file where each assertion that holds stands, so that it can tell where a program died. One that is
 * repeated is written once: tests of kernels repeat some a million times. */
inline void mark(const char* file, int line) {
  static thread_local const char* last_file = nullptr;
  static thread_local int last_line = 0;
  if (line == last_line && file == last_file) return;
  last_file = file;
  last_line = line;
  _mark_point(file, line);
}

}  // namespace vmafx::test

#define _mark_point(file, line) vmafx::test::mark(file, line)  // what the ck_assert macros call

/* Compares two texts and prints both when they differ. (ck_assert_str_eq would keep pointers into temporaries.) */
#define assert_text_eq(got, want)                                                                             \
  do {                                                                                                        \
    const std::string assert_got = (got), assert_want = (want);                                               \
    ck_assert_msg(assert_got == assert_want, "got '%s', want '%s'", assert_got.c_str(), assert_want.c_str()); \
  } while (0)

/* Asserts that `text` contains `part`. */
#define assert_contains(text, part)                                                                 \
  do {                                                                                              \
    const std::string assert_text = (text), assert_part = (part);                                   \
    ck_assert_msg(assert_text.find(assert_part) != std::string::npos, "'%s' does not contain '%s'", \
                  assert_text.c_str(), assert_part.c_str());                                        \
  } while (0)

namespace vmafx::test {

/* Whether tests take all that they can: VMAFX_TEST_ALL=1, which `tests/run --long` sets. */
inline bool test_all() { return std::getenv("VMAFX_TEST_ALL"); }

/* A test of each combination of two settings takes every second one, in which each of both meets each other one or its
 * neighbor. */
inline bool takes_combination(size_t one, size_t other) { return test_all() || (one + other) % 2 == 0; }

/* A test that repeats itself very often takes every n-th of its cases. */
inline int every_if_not_all(int n) { return test_all() ? 1 : n; }

/* A test that repeats itself for each of many calls, allocations or pictures takes every n-th of them where a sanitizer
 * slows it down: all are taken without one. */
inline int every_under_sanitizers(int n) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  if (!test_all()) return n;
#endif
  (void)n;
  return 1;
}

/* A test made with START_TEST/END_TEST. */
struct NamedTest {
  const char* name;  // test case name, as CK_RUN_CASE selects it
  const TTest* test;
  int index = 0;  // the test finds it in _i
};

/* Runs all tests (CK_RUN_CASE=name: one), prints Check's summary; the exit status of the program. */
inline int run_suite(const char* name, const std::vector<NamedTest>& tests) {
  Suite* suite = suite_create(name);
  for (const NamedTest& t : tests) {
    TCase* test_case = tcase_create(t.name);
    tcase_set_timeout(test_case, 0);
    tcase_add_loop_test(test_case, t.test, t.index, t.index + 1);
    suite_add_tcase(suite, test_case);
  }
  SRunner* runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? 1 : 0;
}

}  // namespace vmafx::test

#endif
