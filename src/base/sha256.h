/* SHA-256 (FIPS 180-4, section 6.2): tells that two files are the same, whoever compares them, with any program.
 *
 * Kept here because no library that is linked anyway has it: model files are a few MiB, read once, so that speed does
 * not matter, and OpenSSL or libgcrypt would be a dependency of every program that scores. */
#ifndef VMAFX_BASE_SHA256_H
#define VMAFX_BASE_SHA256_H

#include <string>
#include <string_view>

namespace vmafx {

/* The hash of these bytes: 64 hexadecimal digits, as sha256sum prints them. */
std::string sha256(std::string_view bytes);

}  // namespace vmafx

#endif
