/* The color space that pictures are scored in, and the names of colors: those of FFmpeg's options, by code points of
 * ITU-T H.273. */
#ifndef VMAFX_KERNELS_RECOLOR_COLOR_TARGET_H
#define VMAFX_KERNELS_RECOLOR_COLOR_TARGET_H

#include <optional>
#include <string>
#include <string_view>

#include "base/picture.h"
#include "base/status.h"
#include "kernels/recolor/recolor.h"

namespace vmafx {

struct ColorTarget {
  std::string name;  // in messages and reports: "bt709"
  Color color;       // chroma_location: that of the inputs if they agree, else left
  ColorRules rules;
  int bits = 0;                    // 0: the most that an input has
  std::optional<Chroma> chroma{};  // nullopt: the finest that an input has

  bool operator==(const ColorTarget&) const = default;
};

/* Parses the value of the option `convert`: a color space, and then `:key=value` for each setting,
 *
 *   bt709, bt2020                      SDR, shown by BT.1886
 *   bt2020-pq, p3-pq, ictcp-pq         PQ
 *   bt2020-hlg, ictcp-hlg              HLG
 *
 *   bits=8 to 16, chroma=420, 422 or 444, range=limited or full (default limited)
 *   tones=bt2390 or clip               HDR to SDR (default bt2390), see ColorRules
 *
 * EINVAL names what is not understood. */
StatusOr<ColorTarget> parse_color_target(const std::string& text);

/* The names of code points; those without a name are told by number. */
std::string matrix_name(int code);
std::string transfer_name(int code);
std::string primaries_name(int code);

/* The code point of a name; nullopt: there is none. */
std::optional<int> find_matrix(std::string_view name);
std::optional<int> find_transfer(std::string_view name);
std::optional<int> find_primaries(std::string_view name);
std::optional<Color::Range> find_range(std::string_view name);  // "limited", "full", or FFmpeg's "tv", "pc"

}  // namespace vmafx

#endif
