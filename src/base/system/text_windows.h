/* Texts in UTF-16 and error codes, which all of the Windows side of this room uses. */
#ifndef VMAFX_BASE_SYSTEM_TEXT_WINDOWS_H
#define VMAFX_BASE_SYSTEM_TEXT_WINDOWS_H

#include <string>
#include <string_view>

namespace vmafx::system {

std::wstring wide(std::string_view utf8);
std::string narrow(std::wstring_view utf16);

/* A path as the system's functions take it, also if it is longer than 260 characters. */
std::wstring wide_path(const std::string& path);

/* An error code of GetLastError() as an errno value. */
int errno_of(unsigned long code);
int last_errno();

/* The system's sentence for an error code, without the full stop. */
std::string error_text(unsigned long code);

}  // namespace vmafx::system

#endif
