/* Numbers as text, the same in every locale. */
#ifndef VMAFX_BASE_SYSTEM_NUMBER_TEXT_H
#define VMAFX_BASE_SYSTEM_NUMBER_TEXT_H

#include <cstddef>

namespace vmafx::system {

/* Like snprintf() of one number in the locale "C", whatever locale the program has set. */
int print_number(char* text, size_t bytes, const char* format, double number);

}  // namespace vmafx::system

#endif
