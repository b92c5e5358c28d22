/* SHA-256 of texts whose hashes are published (NIST's examples for FIPS 180-4), and of lengths around a block's. */
#include "base/sha256.h"

#include <string>

#include <check.h>  // after the streams: it defines a macro fail()

#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

START_TEST(published_hashes) {
  const std::string two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  const struct {
    std::string text;
    const char* hash;
  } cases[] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
               {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
               {two_blocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
               {std::string(1000000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}};
  for (const auto& [text, hash] : cases) assert_text_eq(sha256(text), hash);
}
END_TEST

/* The hash of all hashes of 0 to 129 zeros, one after another: one that Python's hashlib has computed. */
START_TEST(lengths_around_a_block) {
  std::string hashes;
  for (size_t length = 0; length < 130; length++) hashes += sha256(std::string(length, '\0'));
  assert_text_eq(sha256(hashes), "914e28f3bcba36351cc83a523f3ecdae91d5d2ab1d5409e8eb593aa76ad53f18");
}
END_TEST

}  // namespace

int main() { return test::run_suite("sha256", {{"published", published_hashes}, {"lengths", lengths_around_a_block}}); }
