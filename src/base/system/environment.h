/* Variables of the environment, as far as they may be obeyed. */
#ifndef VMAFX_BASE_SYSTEM_ENVIRONMENT_H
#define VMAFX_BASE_SYSTEM_ENVIRONMENT_H

namespace vmafx {

/* Reads the environment like getenv(), in UTF-8; nullptr, too, if the process has rights that its caller has not (a
 * setuid or setgid program, file capabilities): a variable could have it load and run what the caller likes. The text
 * stays until the same thread reads the same variable again. */
const char* environment(const char* name);

}  // namespace vmafx

#endif
