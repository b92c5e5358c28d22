#include "engine/look/words.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "base/status.h"

namespace vmafx::look {
namespace {

using Remedies = std::vector<std::string>;

/* -- Numbers ------------------------------------------------------------------------------------------------------- */

/* "3", "0.25" */
std::string text_of(double number) { return format_text("%.4g", number); }

std::string number(const Finding& finding, const char* name) { return text_of(finding.value(name)); }

long long whole(const Finding& finding, const char* name) { return std::llround(finding.value(name)); }

/* "1 frame", "3 frames" */
std::string counted(long long count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/* -- Time ---------------------------------------------------------------------------------------------------------- */

Remedies encode_again(const Finding&) {
  return {"encode again with -fps_mode passthrough", "score the parts around it with range=…"};
}

std::string offset_text(const Finding& finding) {
  const long long frames = whole(finding, "frames");
  return "main shows what the reference shows " + counted(std::llabs(frames), "frame") +
         (frames < 0 ? " earlier" : " later");
}

Remedies offset_remedies(const Finding& finding) {
  const long long frames = whole(finding, "frames");
  return {format_text("setpts=PTS%+lld/FRAME_RATE/TB before main", frames)};
}

std::string dropped_text(const Finding& finding) {
  return "main lacks " + counted(whole(finding, "frames"), "frame") + " of the reference";
}

std::string doubled_text(const Finding& finding) {
  return "main shows " + counted(whole(finding, "frames"), "frame") + " twice, or more than the reference has";
}

std::string cadence_text(const Finding& finding) {
  const bool drops = finding.value("dropped") > 0;
  return std::string("main ") + (drops ? "leaves out " : "repeats ") + number(finding, drops ? "dropped" : "repeated") +
         " of " + number(finding, "of") + " frames in a pattern";
}

/* Patterns of so many frames are also those of 24 pictures a second that are played as 25. */
constexpr double kOtherSpeed = 20;

Remedies cadence_remedies(const Finding& finding) {
  Remedies remedies{"fps=R before the reference, with the frame rate R of main"};
  if (finding.value("dropped") == 0)
    remedies = {format_text("decimate=cycle=%lld before main", whole(finding, "of")),
                "fieldmatch,decimate before main, if it is telecined"};
  if (finding.value("of") >= kOtherSpeed)
    remedies.emplace_back("setpts=N/25/TB before both, if main has all frames and plays at another speed");
  return remedies;
}

/* -- Geometry ------------------------------------------------------------------------------------------------------ */

std::string sides(const Finding& finding) {
  std::string text;
  for (const char* side : {"left", "top", "right", "bottom"})
    if (const double samples = finding.value(side); samples != 0)
      text += (text.empty() ? "" : ", ") + text_of(samples) + " " + side;
  return text.empty() ? "none" : text;
}

/* crop=… that takes the samples of these sides away. */
std::string crop(const Finding& finding) {
  return format_text("crop=iw-%lld:ih-%lld:%lld:%lld", whole(finding, "left") + whole(finding, "right"),
                     whole(finding, "top") + whole(finding, "bottom"), whole(finding, "left"), whole(finding, "top"));
}

/* Turns the picture back. */
Remedies rotation_remedies(const Finding& finding) {
  switch (whole(finding, "degrees")) {
    case 90: return {"transpose=cclock before main"};
    case 180: return {"hflip,vflip before main"};
    default: return {"transpose=clock before main"};
  }
}

Remedies scale_remedies(const Finding& finding) {
  const double x = finding.value("x"), y = finding.value("y");
  if (x <= 0 || y <= 0) return {};
  const bool larger = x * y > 1;
  return {format_text("crop=iw/%.4f:ih/%.4f,scale=W:H before %s, with the size W:H of main", larger ? x : 1 / x,
                      larger ? y : 1 / y, larger ? "the reference" : "main")};
}

/* Crops both to what they share, if the shift is by whole samples. */
Remedies shift_remedies(const Finding& finding) {
  const double x = finding.value("x"), y = finding.value("y");
  const bool is_whole = std::abs(x - std::round(x)) < 0.1 && std::abs(y - std::round(y)) < 0.1;
  if (!is_whole) return {"scale main and the reference from their source with the same scaler and siting"};
  const auto part = [&](double along_x, double along_y) {
    return format_text("crop=iw-%lld:ih-%lld:%lld:%lld", std::llabs(std::llround(x)), std::llabs(std::llround(y)),
                       std::max(0LL, std::llround(along_x)), std::max(0LL, std::llround(along_y)));
  };
  return {part(x, y) + " before main and " + part(-x, -y) + " before the reference"};
}

/* -- Levels -------------------------------------------------------------------------------------------------------- */

/* What a code point of H.273 is called in filters. */
struct CodePoint {
  int code;
  const char* name;
};
constexpr CodePoint kMatrices[] = {{1, "bt709"}, {4, "fcc"},       {5, "bt601"},
                                   {6, "bt601"}, {7, "smpte240m"}, {9, "bt2020"}};
constexpr CodePoint kPrimaries[] = {{1, "709"}, {5, "470bg"}, {6, "170m"}, {9, "2020"}, {12, "smpte432"}};
constexpr CodePoint kTransfers[] = {{1, "709"}, {16, "smpte2084"}, {18, "arib-std-b67"}};

/* The evidence `name` by the names of its code points; "…" if it is unknown. */
template <size_t n>
std::string called(const CodePoint (&points)[n], const Finding& finding, const char* name) {
  const auto found = std::ranges::find(points, whole(finding, name), &CodePoint::code);
  return found == std::end(points) ? "…" : found->name;
}

std::string range_text(const Finding& finding) {
  const bool expanded = finding.value("gain") > 1;
  return std::string("main has ") + (expanded ? "full" : "limited") + "-range samples where the reference has " +
         (expanded ? "limited" : "full") + " range (gain " + number(finding, "gain") + ")";
}

Remedies range_remedies(const Finding& finding) {
  const bool expanded = finding.value("gain") > 1;
  return {std::string("scale=in_range=") + (expanded ? "full:out_range=limited" : "limited:out_range=full") +
          " before main"};
}

std::string matrix_text(const Finding& finding) {
  return "main has the colors of matrix " + called(kMatrices, finding, "to") + " where the reference has " +
         called(kMatrices, finding, "from");
}

Remedies matrix_remedies(const Finding& finding) {
  return {"scale=in_color_matrix=" + called(kMatrices, finding, "to") +
          ":out_color_matrix=" + called(kMatrices, finding, "from") + " before main"};
}

/* zscale with the values of an option for main and for the reference. */
template <const auto& points>
Remedies convert(const Finding& finding, const char* option) {
  return {format_text("zscale=%sin=%s:%s=%s before main", option, called(points, finding, "to").c_str(), option,
                      called(points, finding, "from").c_str())};
}

std::string brightness_text(const Finding& finding) {
  return format_text("the luma of main is %s times that of the reference %+.4g", number(finding, "gain").c_str(),
                     finding.value("offset"));
}

Remedies brightness_remedies(const Finding& finding) {
  const double gain = finding.value("gain");
  return {format_text("lutyuv=y=(val%+.4g)/%.4g before main, if the change is not meant", -finding.value("offset"),
                      gain ? gain : 1)};
}

std::string chroma_text(const Finding& finding) {
  std::string text = "the chroma samples of main lie elsewhere than those of the reference";
  for (const auto& [name, way] : {std::pair{"x", "right"}, std::pair{"y", "down"}})
    if (finding.value(name) != 0) text += format_text(", %s samples of chroma %s", number(finding, name).c_str(), way);
  return text;
}

std::string gray_text(const Finding& finding) {
  constexpr const char* kPlanes[] = {"luma", "Cb", "Cr"};
  const long long plane = std::clamp(whole(finding, "plane"), 0LL, 2LL);
  return std::string("the plane ") + kPlanes[plane] + " of main has no detail where the reference has";
}

/* -- The table ----------------------------------------------------------------------------------------------------- */

/* The words of a kind. */
struct KindWords {
  Kind kind;
  const char* name;
  std::string (*text)(const Finding& finding);
  Remedies (*remedies)(const Finding& finding);
};

#define VMAFX_SAY(...) [](const Finding&) -> std::string { return __VA_ARGS__; }
#define VMAFX_HELP(...) [](const Finding&) -> Remedies { return {__VA_ARGS__}; }

constexpr KindWords kWords[] = {
    {Kind::kOffset, "offset", offset_text, offset_remedies},
    {Kind::kDropped, "dropped", dropped_text, encode_again},
    {Kind::kDoubled, "doubled", doubled_text, encode_again},
    {Kind::kFrozen, "frozen", VMAFX_SAY("main stands still while the reference moves"), encode_again},
    {Kind::kCadence, "cadence", cadence_text, cadence_remedies},
    {Kind::kBlended, "blended", VMAFX_SAY("frames of main are mixtures of two frames of the reference"),
     VMAFX_HELP("convert the frame rate of the reference as that of main was, or encode again without a conversion")},
    {Kind::kSwapped, "swapped", VMAFX_SAY("main shows neighboring frames in the other order"),
     VMAFX_HELP("mux main again with the time stamps of its decoder (-fflags +genpts)", "encode again")},
    {Kind::kOtherPictures, "other_pictures", VMAFX_SAY("main shows other pictures than the reference"),
     VMAFX_HELP("check that the inputs are the right files, and begin at the same time")},
    {Kind::kMirrored, "mirrored", VMAFX_SAY("main is mirrored, left and right are exchanged"),
     VMAFX_HELP("hflip before main")},
    {Kind::kFlipped, "flipped", VMAFX_SAY("main is upside down, top and bottom are exchanged"),
     VMAFX_HELP("vflip before main")},
    {Kind::kRotated, "rotated",
     [](const Finding& finding) { return "main is rotated by " + number(finding, "degrees") + " degrees clockwise"; },
     rotation_remedies},
    {Kind::kCropped, "cropped",
     [](const Finding& finding) { return "main lacks samples of the reference at its sides: " + sides(finding); },
     [](const Finding& finding) -> Remedies {
       return {crop(finding) + " before the reference, then scale=W:H if main was scaled back"};
     }},
    {Kind::kPadded, "padded",
     [](const Finding& finding) { return "main has borders that the reference lacks: " + sides(finding); },
     [](const Finding& finding) -> Remedies {
       return {crop(finding) + " before main, then scale=W:H if the reference fills the picture"};
     }},
    {Kind::kScaled, "scaled",
     [](const Finding& finding) {
       return "main shows the picture " + number(finding, "x") + " times as wide and " + number(finding, "y") +
              " times as high as the reference";
     },
     scale_remedies},
    {Kind::kShifted, "shifted",
     [](const Finding& finding) {
       return format_text("main lies %s samples right and %s down of the reference", number(finding, "x").c_str(),
                          number(finding, "y").c_str());
     },
     shift_remedies},
    {Kind::kBars, "bars",
     [](const Finding& finding) { return "both inputs have black bars, which count in the score: " + sides(finding); },
     [](const Finding& finding) -> Remedies { return {crop(finding) + " before both inputs"}; }},
    {Kind::kRange, "range", range_text, range_remedies},
    {Kind::kMatrix, "matrix", matrix_text, matrix_remedies},
    {Kind::kPrimaries, "primaries", VMAFX_SAY("main has the colors of other primaries than the reference"),
     [](const Finding& finding) { return convert<kPrimaries>(finding, "primaries"); }},
    {Kind::kTransfer, "transfer", VMAFX_SAY("the luma of main follows another transfer curve than the reference"),
     [](const Finding& finding) { return convert<kTransfers>(finding, "transfer"); }},
    {Kind::kBrightness, "brightness", brightness_text, brightness_remedies},
    {Kind::kChromaSwapped, "chroma_swapped", VMAFX_SAY("Cb and Cr of main are exchanged"),
     VMAFX_HELP("shuffleplanes=0:2:1 before main")},
    {Kind::kChromaShifted, "chroma_shifted", chroma_text,
     VMAFX_HELP("zscale=chromalin=…:chromal=… before main, with the places in main and in the reference")},
    {Kind::kGray, "gray", gray_text, VMAFX_HELP("encode again with color", "format=gray before both inputs")},
    {Kind::kCombed, "combed", VMAFX_SAY("main is combed, and the reference is not"), VMAFX_HELP("bwdif before main")},
    {Kind::kReferenceCombed, "reference_combed", VMAFX_SAY("the reference is combed, and main is not"),
     VMAFX_HELP("bwdif before the reference")},
    {Kind::kFieldOrder, "field_order", VMAFX_SAY("the fields of main come in the other order"),
     VMAFX_HELP("fieldorder=tff before both inputs, each with its true order said by setfield before")},
    {Kind::kFieldsDropped, "fields_dropped", VMAFX_SAY("main has one of the two fields of the reference"),
     VMAFX_HELP("field=top,scale=W:H before the reference, or field=bottom, with the size W:H of main")},
};

#undef VMAFX_SAY
#undef VMAFX_HELP

constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kWords); i++)
    if (kWords[i].kind != static_cast<Kind>(i)) return false;
  return true;
}
static_assert(in_order() && std::size(kWords) == static_cast<size_t>(Kind::kFieldsDropped) + 1);

}  // namespace

const char* name_of(Kind kind) { return kWords[static_cast<size_t>(kind)].name; }

const char* name_of(Certainty certainty) {
  switch (certainty) {
    case Certainty::kPossible: return "possible";
    case Certainty::kLikely: return "likely";
    case Certainty::kSure: break;
  }
  return "sure";
}

PictureDoubt in_words(const Finding& finding) {
  const KindWords& words = kWords[static_cast<size_t>(finding.kind)];
  return {.kind = words.name,
          .certainty = name_of(finding.certainty),
          .from = finding.from,
          .end = finding.end,
          .evidence = finding.evidence,
          .text = words.text(finding),
          .remedies = words.remedies(finding)};
}

}  // namespace vmafx::look
