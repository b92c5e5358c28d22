/* The options as data: the table, what setting them takes and refuses, and that contexts copy them. */
#include <cerrno>
#include <climits>
#include <cstring>
#include <set>
#include <string>

#include "tests/support/check_main.h"
#include "tests/support/stream.h"
#include "vmafx/vmafx.h"

using namespace vmafx::test;

namespace {

/* Options with a log. */
class Logged {
 public:
  Logged() : options_(vmafx_options_new()) { vmafx_options_set_log(options_.get(), append_log, &log_); }
  VmafxOptions* get() const { return options_.get(); }
  const std::string& log() const { return log_; }

  /* Setting fails with this code, and log and options say why. */
  void assert_refused(const char* name, const char* value, int code, const std::string& words) {
    log_.clear();
    ck_assert_msg(vmafx_options_set(get(), name, value) == code, "%s=%s", name, value);
    assert_text_eq(vmafx_options_last_error(get()), words);
    assert_text_eq(log_, words + "\n");
  }

 private:
  std::string log_;
  OptionsOwner options_;
};

/* Opens on the CPU, and closes. */
int open_with(const VmafxOptions* options) {
  VmafxContext* ctx = nullptr;
  const int ret = vmafx_open(&ctx, options);
  vmafx_close(&ctx);
  return ret;
}

}  // namespace

START_TEST(the_table_is_whole) {
  std::set<std::string> names;
  bool in_filter = true;
  for (int i = 0; const VmafxOption* option = vmafx_option(i); i++) {
    ck_assert_msg(names.insert(option->name).second, "%s stands twice", option->name);
    ck_assert_msg(*option->help && !std::strchr(option->help, '\n'), "help of %s", option->name);
    ck_assert_msg(in_filter || !option->in_filter, "%s of the filter comes after others", option->name);
    in_filter = option->in_filter;
    if (option->type == VMAFX_OPTION_TEXT) continue;
    ck_assert_ptr_null(option->default_text);
    ck_assert_int_le(option->least, option->default_number);
    ck_assert_int_le(option->default_number, option->most);
    if (option->type == VMAFX_OPTION_FLAG) ck_assert(option->least == 0 && option->most == 1);
  }
  for (const char* known : {"model", "window", "import", "n_threads", "summary"}) ck_assert(names.contains(known));
  ck_assert(!in_filter);
  ck_assert_ptr_null(vmafx_option(-1));
}
END_TEST

/* Every option takes its default and, if it is a number, the ends of its range, as texts; nothing beyond. */
START_TEST(numbers_have_ranges) {
  const OptionsOwner options(vmafx_options_new());
  for (int i = 0; const VmafxOption* option = vmafx_option(i); i++) {
    ck_assert_int_eq(vmafx_options_set(options.get(), option->name, nullptr), 0);
    ck_assert_int_eq(vmafx_options_set(options.get(), option->name, option->default_text), 0);
    if (option->type == VMAFX_OPTION_TEXT) continue;
    for (const int number : {option->default_number, option->least, option->most}) {
      ck_assert_int_eq(vmafx_options_set_int(options.get(), option->name, number), 0);
      ck_assert_int_eq(vmafx_options_set(options.get(), option->name, std::to_string(number).c_str()), 0);
    }
    ck_assert_int_eq(vmafx_options_set_int(options.get(), option->name, option->least - 1), -EINVAL);
    if (option->most < INT_MAX)
      ck_assert_int_eq(vmafx_options_set_int(options.get(), option->name, option->most + 1), -EINVAL);
  }
}
END_TEST

START_TEST(wrong_settings_are_named) {
  Logged options;
  options.assert_refused("windw", "2", -ENOENT, "there is no option 'windw'; did you mean window?");
  options.assert_refused("sharpness", "2", -ENOENT, "there is no option 'sharpness'; vmafx_option() lists all");
  options.assert_refused("", "2", -ENOENT, "there is no option ''; vmafx_option() lists all");
  for (const char* text : {"two", "", "2x", " 2", "+2", "2.0", "99999999999"})
    options.assert_refused("n_subsample", text, -EINVAL,
                           std::string("n_subsample=") + text +
                               " is not a whole number of 32 bits; use 1 or more (score every n-th frame pair)");
  options.assert_refused("n_subsample", "0", -EINVAL, "n_subsample=0; use 1 or more (score every n-th frame pair)");
  options.assert_refused("encodes", "17", -EINVAL,
                         "encodes=17; use 1 to 16 (number of main inputs, each scored against the one reference)");
  options.assert_refused("summary", "2", -EINVAL,
                         "summary=2; use 0 to 1 (log mean, minimum, maximum and worst frames at the end)");
  ck_assert_int_eq(vmafx_options_set_int(options.get(), "window", 2), -EINVAL);
  assert_contains(options.log(), "window=2 is a number; the option takes a text");
  for (const char* text : {"true", "false", "1", "0"})
    ck_assert_int_eq(vmafx_options_set(options.get(), "summary", text), 0);
}
END_TEST

/* After a failure the option has the value that it had, and NULL sets its default. */
START_TEST(a_failure_changes_nothing) {
  Logged options;
  ck_assert_int_eq(vmafx_options_set(options.get(), "backend", "vulkan"), 0);
  options.assert_refused("encodes", "many", -EINVAL,
                         "encodes=many is not a whole number of 32 bits; use 1 to 16 (number of main inputs, each "
                         "scored against the one reference)");
  ck_assert_int_eq(open_with(options.get()), -EINVAL);
  assert_contains(options.log(), "there is no backend 'vulkan'");
  ck_assert_int_eq(vmafx_options_set(options.get(), "backend", "cpu"), 0);
  ck_assert_int_eq(open_with(options.get()), 0);
  ck_assert_int_eq(vmafx_options_set(options.get(), "model", ""), 0);
  ck_assert_int_eq(open_with(options.get()), -EINVAL);
  ck_assert_int_eq(vmafx_options_set(options.get(), "model", nullptr), 0);
  ck_assert_int_eq(open_with(options.get()), 0);
}
END_TEST

/* A context keeps what it was opened with. */
START_TEST(contexts_copy_options) {
  VmafxOptions* options = vmafx_options_new();
  VmafxContext* ctx = nullptr;
  ck_assert_int_eq(vmafx_options_set(options, "backend", "cpu"), 0);
  ck_assert_int_eq(vmafx_options_set(options, "model", "version=vmaf_v0.6.1:name=first"), 0);
  ck_assert_int_eq(vmafx_open(&ctx, options), 0);
  ck_assert_int_eq(vmafx_options_set(options, "model", "version=vmaf_v0.6.1neg:name=second"), 0);
  vmafx_options_free(&options);
  ck_assert_ptr_null(options);
  const StreamOptions stream;
  ck_assert_int_eq(vmafx_configure(ctx, &stream.ref, &stream.dist), 0);
  const VmafxPicture ref = make_picture(stream, 0, false), dist = make_picture(stream, 0, true);
  ck_assert_int_eq(vmafx_submit(ctx, &ref, &dist), 0);
  ck_assert_int_eq(vmafx_finish(ctx), 0);
  const char* name = nullptr;
  ck_assert_int_eq(vmafx_model_score(ctx, 0, &name, nullptr), 0);
  assert_text_eq(name, "first");
  vmafx_close(&ctx);
}
END_TEST

START_TEST(missing_arguments_are_refused) {
  const OptionsOwner options(vmafx_options_new());
  ck_assert_int_eq(vmafx_options_set(nullptr, "model", ""), -EINVAL);
  ck_assert_int_eq(vmafx_options_set(options.get(), nullptr, ""), -EINVAL);
  ck_assert_int_eq(vmafx_options_set_int(nullptr, "encodes", 1), -EINVAL);
  assert_text_eq(vmafx_options_last_error(nullptr), "");
  assert_text_eq(vmafx_options_last_error(options.get()), "");
  vmafx_options_set_log(nullptr, append_log, nullptr);
  vmafx_options_set_device_context(nullptr, VMAFX_PLATFORM_HIP, nullptr);
  vmafx_options_free(nullptr);
  ck_assert_int_eq(vmafx_open(nullptr, options.get()), -EINVAL);
}
END_TEST

int main() {
  return run_suite("options", {{"table", the_table_is_whole},
                               {"numbers", numbers_have_ranges},
                               {"wrong", wrong_settings_are_named},
                               {"unchanged", a_failure_changes_nothing},
                               {"copied", contexts_copy_options},
                               {"missing", missing_arguments_are_refused}});
}
