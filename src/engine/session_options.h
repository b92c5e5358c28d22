/* The options of a session: the table that vmafx_option() shows, and their values. VMAFX_OPTIONS in vmafx.h is the
 * list. */
#ifndef VMAFX_ENGINE_SESSION_OPTIONS_H
#define VMAFX_ENGINE_SESSION_OPTIONS_H

#include <string>

#include "base/status.h"
#include "engine/device/dispatch.h"
#include "vmafx/vmafx.h"

namespace vmafx {

/* The values of the options, each a field with the option's name. */
struct SessionOptions {
#define VMAFX_TEXT(name, value, help) std::string name = text_of(value);
#define VMAFX_INT(name, value, least, most, help) int name = value;
#define VMAFX_FLAG(name, value, help) bool name = value;
  VMAFX_OPTIONS(VMAFX_TEXT, VMAFX_INT, VMAFX_FLAG)
#undef VMAFX_TEXT
#undef VMAFX_INT
#undef VMAFX_FLAG
  GivenContext given{};

  /* Set the option called `name`, from a text (nullptr: its default) or from a number. ENOENT: there is no such option;
   * EINVAL: the option does not have such values. */
  Status set(const char* name, const char* text);
  Status set(const char* name, int number);

  /* Checks the texts that nothing else parses. */
  Status validate() const;

  /* The values of `check`: whether pictures are looked at, and whether reports have what was found. */
  bool looks() const { return check != "off"; }
  bool reports_findings() const { return check != "log"; }

  /* Whether metrics make maps, for files or for results. */
  bool makes_maps() const { return !maps.empty() || result_maps; }

 private:
  static std::string text_of(const char* text) { return text ? text : ""; }
};

/* The i-th option; nullptr past the last. */
const VmafxOption* find_option(int i);

}  // namespace vmafx

#endif
