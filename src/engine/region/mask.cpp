#include "engine/region/mask.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "base/sha256.h"
#include "base/text_file.h"

namespace vmafx {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Takes a number of the header, with the blanks and the comments, from # to the end of the line, before it. */
bool take_number(std::string_view& rest, int& number) {
  for (;;) {
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
    if (!rest.starts_with('#')) break;
    rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
  }
  const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (failure != std::errc() || number < 1) return false;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  return true;
}

}  // namespace

StatusOr<Mask> read_mask(const std::string& path) {
  VMAFX_ASSIGN(const std::string bytes, read_text_file("roi: mask", path, kMostBytes));
  const auto refuse = [&](const char* why) {
    return error(EINVAL,
                 "roi: mask '%s': %s; use a gray picture of 8 or 16 bit in the format PGM, P5, as ffmpeg makes "
                 "it of any picture: ffmpeg -i mask.png -pix_fmt gray mask.pgm",
                 path.c_str(), why);
  };
  std::string_view rest = bytes;
  if (!rest.starts_with("P5")) return refuse("it is none");
  rest.remove_prefix(2);
  Mask mask;
  if (!take_number(rest, mask.w) || !take_number(rest, mask.h) || !take_number(rest, mask.most) || rest.empty() ||
      !is_blank(rest.front()) || mask.most > 65535)
    return refuse("its header is broken");
  rest.remove_prefix(1);
  const size_t of_sample = mask.most > 255 ? 2 : 1, count = static_cast<size_t>(mask.w) * static_cast<size_t>(mask.h);
  if (rest.size() / of_sample < count) return refuse("it is cut short");
  if (rest.size() > count * of_sample) return refuse("it has more than one picture");
  mask.samples.resize(count);
  bool any = false;
  for (size_t i = 0; i < count; i++) {
    const auto byte = [&](size_t n) { return static_cast<unsigned>(static_cast<unsigned char>(rest[n])); };
    const unsigned sample = of_sample == 2 ? byte(2 * i) << 8 | byte(2 * i + 1) : byte(i);
    if (sample > static_cast<unsigned>(mask.most)) return refuse("it has samples above its own maximum");
    mask.samples[i] = static_cast<uint16_t>(sample);
    any |= sample > 0;
  }
  if (!any) return error(EINVAL, "roi: mask '%s': all samples are 0, so nothing counts", path.c_str());
  mask.sha256 = sha256(bytes);
  return mask;
}

}  // namespace vmafx
