#include "vapoursynth/filter.h"

#include <VSHelper4.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <set>

namespace vapoursynth {
namespace {

/* Frames that are scored before more are asked for, where a frame needs the scores of many. */
constexpr int64_t kStep = 16;

/* A filter's warnings, each of them once, however often its context is opened. */
struct Warnings {
  VSCore* core;
  const VSAPI* api;
  std::string name;
  std::mutex mutex;
  std::set<std::string> told;
};

void warn(void* cookie, VmafxLogLevel level, const char* message) {
  auto* const to = static_cast<Warnings*>(cookie);
  const std::lock_guard lock(to->mutex);
  if (level == VMAFX_LOG_WARNING && to->told.insert(message).second)
    to->api->logMessage(mtWarning, (to->name + ": " + message).c_str(), to->core);
}

struct Filter {
  FilterSettings settings;
  Node shown;
  Clips clips;
  VSVideoInfo info;
  std::unique_ptr<Warnings> warnings;
  std::unique_ptr<AnyOrder> scores;  // goes first: it has frames of the clips
};

/* Frames whose pictures were asked for; lives from request to request of one frame. */
struct Asked {
  int64_t from, end;
};

/* The next frames that are to be scored before frame `n` can be returned. */
std::optional<Asked> missing_for(const Filter& filter, int64_t n) {
  for (int64_t frame = filter.settings.accumulates ? 0 : n; frame <= n; frame++)
    if (!filter.scores->known(frame)) return Asked{frame, std::min(frame + kStep, n + 1)};
  return std::nullopt;
}

/* Requests what is missing and keeps it in *asked. false: nothing is. */
bool request_missing(const Filter& filter, int64_t n, void** asked, VSFrameContext* context, const VSAPI* api) {
  const auto missing = missing_for(filter, n);
  if (!missing) return false;
  const auto last = filter.scores->last_for(missing->end - 1);
  for (auto frame = filter.scores->first_for(missing->from); frame <= last; frame++) {
    api->requestFrameFilter(static_cast<int>(frame), filter.clips.ref.get(), context);
    api->requestFrameFilter(static_cast<int>(frame), filter.clips.dist.get(), context);
  }
  *asked = new Asked(*missing);
  return true;
}

bool score_one(const Filter& filter, int64_t n, VSFrameContext* context, const VSAPI* api) {
  std::vector<Pair> pairs;
  for (auto frame = filter.scores->first_for(n); frame <= filter.scores->last_for(n); frame++) {
    const int number = static_cast<int>(frame);
    pairs.push_back({picture_of(api->getFrameFilter(number, filter.clips.ref.get(), context), api),
                     picture_of(api->getFrameFilter(number, filter.clips.dist.get(), context), api)});
  }
  std::string message;
  if (filter.scores->score(n, std::move(pairs), &message)) return true;
  api->setFilterError((std::string(filter.settings.name) + ": frame " + std::to_string(n) + ": " + message).c_str(),
                      context);
  return false;
}

bool score_asked(const Filter& filter, void** asked, VSFrameContext* context, const VSAPI* api) {
  const std::unique_ptr<Asked> frames(static_cast<Asked*>(std::exchange(*asked, nullptr)));
  for (int64_t frame = frames ? frames->from : 0; frames && frame < frames->end; frame++)
    if (!filter.scores->known(frame) && !score_one(filter, frame, context, api)) return false;
  return true;
}

/* The library has no map of distances in memory, and a map that shows something else would be wrong. */
VSFrame* frame_without_map(const Filter& filter, const VSFrame* shown, VSCore* core, const VSAPI* api) {
  VSFrame* const made = api->newVideoFrame(&filter.info.format, filter.info.width, filter.info.height, shown, core);
  for (int y = 0; y < filter.info.height; y++)
    std::fill_n(reinterpret_cast<float*>(api->getWritePtr(made, 0) + y * api->getStride(made, 0)), filter.info.width,
                std::numeric_limits<float>::quiet_NaN());
  return made;
}

const VSFrame* result_of(const Filter& filter, int n, VSFrameContext* context, VSCore* core, const VSAPI* api) {
  const VSFrame* const shown = api->getFrameFilter(n, filter.shown.get(), context);
  VSFrame* const made =
      filter.settings.returns_map ? frame_without_map(filter, shown, core, api) : api->copyFrame(shown, core);
  api->freeFrame(shown);
  filter.settings.put(n, *filter.scores, api->getFramePropertiesRW(made), api);
  return made;
}

const VSFrame* VS_CC get_frame(int n, int reason, void* instance, void** asked, VSFrameContext* context, VSCore* core,
                               const VSAPI* api) {
  const Filter& filter = *static_cast<const Filter*>(instance);
  if (reason == arError) {
    delete static_cast<Asked*>(std::exchange(*asked, nullptr));
    return nullptr;
  }
  if (reason == arInitial) api->requestFrameFilter(n, filter.shown.get(), context);
  if (reason == arAllFramesReady && !score_asked(filter, asked, context, api)) return nullptr;
  if (request_missing(filter, n, asked, context, api) || reason == arInitial) return nullptr;
  return result_of(filter, n, context, core, api);
}

void VS_CC free_filter(void* instance, VSCore*, const VSAPI*) { delete static_cast<Filter*>(instance); }

std::unique_ptr<Filter> open_filter(FilterSettings settings, const VSMap* in, VSCore* core, const VSAPI* api,
                                    std::string* message) {
  auto clips = take_clips(in, core, api, message);
  if (!clips) return nullptr;
  Settings of_scores;
  of_scores.options = settings.options;
  of_scores.ref = format_of(clips->ref, "reference", api, message);
  if (message->empty()) of_scores.dist = format_of(clips->dist, "distorted", api, message);
  if (!message->empty()) return nullptr;
  auto warnings = std::unique_ptr<Warnings>(new Warnings{core, api, settings.name, {}, {}});
  of_scores.warn = warn;
  of_scores.cookie = warnings.get();
  auto scores = AnyOrder::open(std::move(of_scores), clips->ref.info().numFrames, message);
  if (!scores) return nullptr;
  Node shown(api->mapGetNode(in, "distorted", 0, nullptr), api);
  const VSVideoInfo info = shown.info();
  return std::make_unique<Filter>(
      Filter{std::move(settings), std::move(shown), std::move(*clips), info, std::move(warnings), std::move(scores)});
}

}  // namespace

void make_filter(FilterSettings settings, const VSMap* in, VSMap* out, VSCore* core, const VSAPI* api) {
  const std::string name = settings.name;
  std::string message;
  auto filter = open_filter(std::move(settings), in, core, api, &message);
  if (!filter) return api->mapSetError(out, (name + ": " + message).c_str());
  if (filter->settings.returns_map) api->queryVideoFormat(&filter->info.format, cfGray, stFloat, 32, 0, 0, core);
  const int pattern = filter->scores->is_spatial() && !filter->settings.accumulates ? rpNoFrameReuse : rpGeneral;
  const VSFilterDependency needs[] = {
      {filter->shown.get(), pattern}, {filter->clips.ref.get(), pattern}, {filter->clips.dist.get(), pattern}};
  const VSVideoInfo info = filter->info;
  api->createVideoFilter(out, name.c_str(), &info, get_frame, free_filter, fmParallel, needs, 3, filter.release(),
                         core);
}

std::string text_argument(const VSMap* in, const char* name, const VSAPI* api) {
  int error = 0;
  const char* const text = api->mapGetData(in, name, 0, &error);
  return error ? "" : std::string(text, static_cast<size_t>(api->mapGetDataSize(in, name, 0, nullptr)));
}

int64_t int_argument(const VSMap* in, const char* name, int64_t missing, const VSAPI* api) {
  int error = 0;
  const int64_t value = api->mapGetInt(in, name, 0, &error);
  return error ? missing : value;
}

double float_argument(const VSMap* in, const char* name, double missing, const VSAPI* api) {
  int error = 0;
  const double value = api->mapGetFloat(in, name, 0, &error);
  return error ? missing : value;
}

}  // namespace vapoursynth
