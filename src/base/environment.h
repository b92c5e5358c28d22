/* Variables of the environment, as far as they may be obeyed. */
#ifndef VMAFX_BASE_ENVIRONMENT_H
#define VMAFX_BASE_ENVIRONMENT_H

namespace vmafx {

/* Reads the environment like getenv(); nullptr, too, if the process has rights that its caller has not (a setuid or
 * setgid program, file capabilities): a variable could have it load and run what the caller likes. */
const char* environment(const char* name);

}  // namespace vmafx

#endif
