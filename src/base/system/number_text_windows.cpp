#include "base/system/number_text.h"

#include <clocale>
#include <cstdio>
#include <cstring>

namespace vmafx::system {

/* Windows' C library gives threads no locale for a while: a comma becomes the point that it stands for. */
int print_number(char* text, size_t bytes, const char* format, double number) {
  const int length = std::snprintf(text, bytes, format, number);
  const char point = *std::localeconv()->decimal_point;
  if (char* const found = length > 0 && point != '.' ? std::strchr(text, point) : nullptr) *found = '.';
  return length;
}

}  // namespace vmafx::system
