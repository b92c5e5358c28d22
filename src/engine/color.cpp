#include "engine/color.h"

#include <span>

#include "kernels/recolor/color_target.h"
#include "kernels/steps/linear_light_of.h"

namespace vmafx {
namespace {

constexpr int kBt709 = 1, kBt601 = 6;  // code points of matrices
constexpr int kMostRowsOfSd = 576;

/* Names in FFmpeg's options. */
constexpr const char* kRangeNames[] = {"unknown", "tv", "pc"};

template <class Field>
Field common(Field ref, Field dist, Field open, const char* name, std::string* differ) {
  if (ref != open && dist != open && ref != dist) *differ += (differ->empty() ? "" : ", ") + std::string(name);
  return ref == open ? dist : ref;
}

/* Warns of full range against limited or unknown range: everybody reads unknown range as limited. */
void warn_of_ranges(const InputFormat& ref, const InputFormat& dist, Log& log) {
  const auto is_full = [](const InputFormat& input) { return input.scored.color.range == Color::Range::kFull; };
  const auto range = [](const InputFormat& input) { return kRangeNames[static_cast<int>(input.scored.color.range)]; };
  if (is_full(ref) == is_full(dist)) return;
  const InputFormat& full = is_full(dist) ? dist : ref;
  /* FFmpeg's formats whose names say full range have 8 bits. */
  const std::string format =
      full.scored.bpc == 8 && full.scored.chroma != Chroma::k400 ? ",format=" + sample_name(full.scored) : "";
  log.warning(format_text(
      "The inputs differ in color range (%s %s, %s %s): equal samples are different pictures. "
      "scale=out_range=tv%s before the %s input converts it; setparams=range=tv%s there, if only its "
      "tag is wrong.",
      dist.name.c_str(), range(dist), ref.name.c_str(), range(ref), format.c_str(), full.name.c_str(), format.c_str()));
}

bool is_hdr(const InputFormat& input) {
  return input.scored.color.transfer == kPqTransfer || input.scored.color.transfer == kHlgTransfer;
}

}  // namespace

void warn_of_colors(const InputFormat& ref, const InputFormat& dist, bool scores_models, Log& log) {
  warn_of_ranges(ref, dist, log);
  const auto compare = [&](int Color::* code, std::string (*name_of)(int), const char* what, const char* remedy) {
    const int of_ref = ref.scored.color.*code, of_dist = dist.scored.color.*code;
    if (of_ref != Color::kUnspecified && of_dist != Color::kUnspecified && of_ref != of_dist)
      log.warning(format_text("The inputs differ in color %s (%s %s, %s %s). %s there, if only its tag is wrong.", what,
                              dist.name.c_str(), name_of(of_dist).c_str(), ref.name.c_str(), name_of(of_ref).c_str(),
                              remedy));
  };
  compare(&Color::matrix, matrix_name, "matrix",
          "scale=out_color_matrix=... before one of them converts it; setparams=colorspace=...");
  compare(&Color::transfer, transfer_name, "transfer",
          "zscale=transfer=... before one of them converts it; setparams=color_trc=...");
  compare(&Color::primaries, primaries_name, "primaries",
          "zscale=primaries=... before one of them converts it; setparams=color_primaries=...");
  if (scores_models && (is_hdr(ref) || is_hdr(dist)))
    log.warning(
        format_text("The transfer is %s; the VMAF models know SDR video only, the score means little. Map the tones of "
                    "both inputs to SDR (convert=bt709), or score with features alone (model='':feature=...).",
                    transfer_name((is_hdr(dist) ? dist : ref).scored.color.transfer).c_str()));
}

Color common_color(const Color& ref, const Color& dist, std::string* differ) {
  const Color open;
  Color both;
  both.range = common(ref.range, dist.range, open.range, "range", differ);
  both.matrix = common(ref.matrix, dist.matrix, open.matrix, "matrix", differ);
  both.transfer = common(ref.transfer, dist.transfer, open.transfer, "transfer", differ);
  both.primaries = common(ref.primaries, dist.primaries, open.primaries, "primaries", differ);
  both.chroma_location =
      common(ref.chroma_location, dist.chroma_location, open.chroma_location, "chroma location", differ);
  return both;
}

void settle_color(VideoFormat& format, std::span<const InputFormat> dist, bool matters, Log& log) {
  for (const InputFormat& input : dist) {
    std::string differ;
    format.color = common_color(format.color, input.scored.color, &differ);
    if (matters && !differ.empty())
      log.warning("the inputs differ in what they say of their colors (" + differ +
                  "); the distorted one is taken as the reference is");
  }
  const std::string assumed = assume_color(format);
  if (matters && !assumed.empty()) log.info("the inputs do not say what their colors are: " + assumed + " is assumed");
}

std::string assume_color(VideoFormat& format) {
  std::string assumed;
  Color& color = format.color;
  if (color.matrix == Color::kUnspecified) {
    const bool hd = format.h > kMostRowsOfSd;
    color.matrix = hd ? kBt709 : kBt601;
    assumed = hd ? "the matrix of BT.709" : "the matrix of BT.601";
  }
  if (color.range == Color::Range::kUnspecified) {
    color.range = Color::Range::kLimited;
    assumed += (assumed.empty() ? "" : " and ") + std::string("limited range");
  }
  return assumed;
}

}  // namespace vmafx
