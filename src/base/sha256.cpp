#include "base/sha256.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/status.h"

namespace vmafx {
namespace {

constexpr size_t kBlock = 64;  // bytes
constexpr size_t kRounds = 64;

using Hash256 = std::array<uint32_t, 8>;

/* The first 32 bits of the fractional part of a root. */
uint32_t fraction(long double root) { return static_cast<uint32_t>((root - std::floor(root)) * 4294967296.0L); }

/* The constants of sections 4.2.2 and 5.3.3: of the cube roots of the first 64 primes, the square roots of the first
 * 8. */
struct Constants {
  std::array<uint32_t, kRounds> k{};
  Hash256 initial{};

  Constants() {
    size_t found = 0;
    for (uint32_t number = 2; found < kRounds; number++) {
      bool prime = true;
      for (uint32_t divisor = 2; divisor * divisor <= number; divisor++) prime = prime && number % divisor;
      if (!prime) continue;
      if (found < initial.size()) initial[found] = fraction(std::sqrt(static_cast<long double>(number)));
      k[found++] = fraction(std::cbrt(static_cast<long double>(number)));
    }
  }
};

uint32_t sum(uint32_t x, int a, int b, int c) { return std::rotr(x, a) ^ std::rotr(x, b) ^ std::rotr(x, c); }

/* The big-endian words of a block, extended to one for each round. */
std::array<uint32_t, kRounds> schedule(const char* block) {
  std::array<uint32_t, kRounds> w{};
  for (size_t i = 0; i < kBlock; i++) w[i / 4] = w[i / 4] << 8 | static_cast<uint8_t>(block[i]);
  for (size_t t = 16; t < kRounds; t++) {
    const uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
    const uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
  return w;
}

void add_block(Hash256& hash, const char* block, const Constants& constants) {
  const auto w = schedule(block);
  auto [a, b, c, d, e, f, g, h] = hash;
  for (size_t t = 0; t < kRounds; t++) {
    const uint32_t t1 = h + sum(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + constants.k[t] + w[t];
    const uint32_t t2 = sum(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + t2;
  }
  const Hash256 added = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < hash.size(); i++) hash[i] += added[i];
}

/* The end of the message behind its last whole block: the rest, a one, zeros, and the length in bits as 64 bits. */
std::string padded_end(std::string_view bytes) {
  std::string end(bytes.substr(bytes.size() / kBlock * kBlock));
  end += '\x80';
  while (end.size() % kBlock != kBlock - 8) end += '\0';
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) end += static_cast<char>(bits >> shift & 0xff);
  return end;
}

}  // namespace

std::string sha256(std::string_view bytes) {
  static const Constants constants;
  Hash256 hash = constants.initial;
  for (size_t at = 0; at + kBlock <= bytes.size(); at += kBlock) add_block(hash, bytes.data() + at, constants);
  const std::string end = padded_end(bytes);
  for (size_t at = 0; at < end.size(); at += kBlock) add_block(hash, end.data() + at, constants);
  std::string text;
  for (const uint32_t word : hash) text += format_text("%08x", word);
  return text;
}

}  // namespace vmafx
