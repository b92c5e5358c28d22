#include "base/system/environment.h"

#include <windows.h>

#include <map>
#include <string>

#include "base/system/text_windows.h"

namespace vmafx {

/* Windows starts no program with other rights than its caller's unasked, and a program that was started with more has
 * an environment of its own. */
const char* environment(const char* name) {
  static thread_local auto& texts = *new std::map<std::string, std::string>;
  const std::wstring wide_name = system::wide(name);
  SetLastError(ERROR_SUCCESS);
  const DWORD units = GetEnvironmentVariableW(wide_name.c_str(), nullptr, 0);
  if (units == 0 && GetLastError() == ERROR_ENVVAR_NOT_FOUND) return nullptr;
  std::wstring text(units, L'\0');
  text.resize(GetEnvironmentVariableW(wide_name.c_str(), text.data(), units));
  return (texts[name] = system::narrow(text)).c_str();
}

}  // namespace vmafx
