#include "vapoursynth/clips.h"

#include <VSConstants4.h>
#include <VSHelper4.h>

#include <algorithm>
#include <memory>

namespace vapoursynth {
namespace {

std::string words_of(const VSVideoInfo& info, const VSAPI* api) {
  char name[32] = "?";
  api->getVideoFormatName(&info.format, name);
  return std::to_string(info.width) + "x" + std::to_string(info.height) + " " + name;
}

bool is_scored(const VSVideoFormat& format) {
  const bool has_chroma = format.colorFamily == cfYUV;
  return (has_chroma || format.colorFamily == cfGray) && format.sampleType == stInteger && format.bitsPerSample >= 8 &&
         format.bitsPerSample <= 16 && format.subSamplingW <= 1 && format.subSamplingH <= format.subSamplingW;
}

/* What a clip lacks to be scored, and what to do; "" if nothing. */
std::string lack_of(const char* name, const VSVideoInfo& info, const VSAPI* api) {
  if (info.format.colorFamily == cfUndefined || info.width == 0)
    return std::string(name) + " has frames of several formats or sizes; give all of them one, by resize";
  VSVideoFormat format = info.format;
  if (format.sampleType == stFloat) format.sampleType = stInteger, format.bitsPerSample = 16;  // it is converted
  if (format.colorFamily == cfRGB || is_scored(format)) return "";
  return std::string(name) + " is " + words_of(info, api) +
         "; convert it to gray, 4:2:0, 4:2:2, 4:4:4 or RGB of 8 to 16 bits, by resize";
}

std::string difference_of(const VSVideoInfo& ref, const VSVideoInfo& dist, const VSAPI* api) {
  if (ref.numFrames != dist.numFrames)
    return "reference has " + std::to_string(ref.numFrames) + " frames and distorted " +
           std::to_string(dist.numFrames) + "; trim them so that frames of one number belong together";
  if (ref.width == dist.width && ref.height == dist.height && vsh::isSameVideoFormat(&ref.format, &dist.format))
    return "";
  return "reference is " + words_of(ref, api) + " and distorted " + words_of(dist, api) +
         "; give both one size and format, by resize";
}

/* The bits that hold what a clip of RGB or floats shows, nearly. Few metrics take more than 12. */
int bits_for(const VSVideoFormat& format) {
  return format.sampleType == stInteger && format.bitsPerSample <= 10 ? 12 : 16;
}

/* RGB as 4:4:4, samples of floats as integers. */
Node converted(Node node, VSCore* core, const VSAPI* api, std::string* message) {
  const VSVideoFormat& format = node.info().format;
  if (is_scored(format)) return node;
  const bool is_rgb = format.colorFamily == cfRGB;
  const int family = is_rgb ? static_cast<int>(cfYUV) : format.colorFamily;
  VSMap* const arguments = api->createMap();
  api->mapSetNode(arguments, "clip", node.get(), maReplace);
  api->mapSetInt(
      arguments, "format",
      api->queryVideoFormatID(family, stInteger, bits_for(format), format.subSamplingW, format.subSamplingH, core),
      maReplace);
  if (is_rgb) {
    api->mapSetInt(arguments, "matrix", VSC_MATRIX_BT709, maReplace);
    api->mapSetData(arguments, "range_s", "limited", -1, dtUtf8, maReplace);
  }
  VSMap* const result = api->invoke(api->getPluginByID(VSH_RESIZE_PLUGIN_ID, core), "Bicubic", arguments);
  api->freeMap(arguments);
  if (const char* const error = api->mapGetError(result)) *message = error;
  VSNode* const made = message->empty() ? api->mapGetNode(result, "clip", 0, nullptr) : nullptr;
  api->freeMap(result);
  return made ? Node(made, api) : std::move(node);
}

/* A property of a frame; `missing` if it is not there. */
int property(const VSMap* properties, const char* name, int missing, const VSAPI* api) {
  int error = 0;
  const int64_t value = api->mapGetInt(properties, name, 0, &error);
  return error ? missing : static_cast<int>(value);
}

/* The newer property of the range counts the other way round. */
int range_of(const VSMap* properties, const VSAPI* api) {
  constexpr int kLimited = 1, kFull = 2, kUnknown = 0;
  const int range = property(properties, "_Range", -1, api);
  if (range == 0 || range == 1) return range == 1 ? kFull : kLimited;
  const int color_range = property(properties, "_ColorRange", -1, api);
  return color_range == 0 ? kFull : color_range == 1 ? kLimited : kUnknown;
}

VmafxColor color_of(const VSMap* properties, const VSAPI* api) {
  VmafxColor color{};
  color.matrix = property(properties, "_Matrix", 0, api);
  color.transfer = property(properties, "_Transfer", 0, api);
  color.primaries = property(properties, "_Primaries", 0, api);
  color.range = range_of(properties, api);
  color.chroma_location = property(properties, "_ChromaLocation", -1, api) + 1;  // theirs begin with 0
  return color;
}

VmafxChroma chroma_of(const VSVideoFormat& format) {
  if (format.colorFamily == cfGray) return VMAFX_CHROMA_400;
  if (format.subSamplingH) return VMAFX_CHROMA_420;
  return format.subSamplingW ? VMAFX_CHROMA_422 : VMAFX_CHROMA_444;
}

struct Held {
  const VSFrame* frame;
  const VSAPI* api;
};

void release(void* opaque) {
  const std::unique_ptr<Held> held(static_cast<Held*>(opaque));
  held->api->freeFrame(held->frame);
}

}  // namespace

std::optional<Clips> take_clips(const VSMap* in, VSCore* core, const VSAPI* api, std::string* message) {
  Clips clips{{api->mapGetNode(in, "reference", 0, nullptr), api}, {api->mapGetNode(in, "distorted", 0, nullptr), api}};
  *message = lack_of("reference", clips.ref.info(), api);
  if (message->empty()) *message = lack_of("distorted", clips.dist.info(), api);
  if (message->empty()) *message = difference_of(clips.ref.info(), clips.dist.info(), api);
  if (message->empty()) clips.ref = converted(std::move(clips.ref), core, api, message);
  if (message->empty()) clips.dist = converted(std::move(clips.dist), core, api, message);
  return message->empty() ? std::optional(std::move(clips)) : std::nullopt;
}

VmafxFormat format_of(const Node& node, const char* name, const VSAPI* api, std::string* message) {
  const VSVideoInfo& info = node.info();
  VmafxFormat format{};
  format.width = info.width;
  format.height = info.height;
  format.chroma = chroma_of(info.format);
  format.bits = info.format.bitsPerSample;
  format.name = name;
  if (info.fpsNum > 0 && info.fpsDen > 0)
    format.fps = static_cast<double>(info.fpsNum) / static_cast<double>(info.fpsDen);
  char error[512] = "";
  const VSFrame* const first = api->getFrame(0, node.get(), error, sizeof(error));
  if (!first) {
    *message = std::string("the first frame of ") + name + " does not come: " + error;
    return format;
  }
  format.color = color_of(api->getFramePropertiesRO(first), api);
  api->freeFrame(first);
  return format;
}

Picture picture_of(const VSFrame* frame, const VSAPI* api) {
  VmafxPicture picture{};
  for (int p = 0; p < api->getVideoFrameFormat(frame)->numPlanes; p++) {
    picture.data[p] = api->getReadPtr(frame, p);
    picture.stride[p] = api->getStride(frame, p);
  }
  picture.release = release;
  picture.opaque = new Held{frame, api};
  return Picture(picture);
}

}  // namespace vapoursynth
