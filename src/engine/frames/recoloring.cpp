#include "engine/frames/recoloring.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/cpu.h"
#include "base/mutex.h"
#include "base/rounding.h"

namespace vmafx {
namespace {

constexpr int kRowsOfStrip = 32;  // even; a row at each end is converted twice

Color settled(Color color) {
  if (color.range == Color::Range::kUnspecified) color.range = Color::Range::kLimited;
  if (color.chroma_location == Color::ChromaLocation::kUnspecified)
    color.chroma_location = Color::ChromaLocation::kLeft;
  return color;
}

/* Depth, chroma and its place, as all inputs can be scored. */
VideoFormat common_format(const ColorTarget& target, const std::vector<InputFormat>& inputs) {
  VideoFormat format = inputs.front().scored;
  format.color = target.color;
  format.color.chroma_location = settled(format.color).chroma_location;
  bool agree = true;
  for (const InputFormat& input : inputs) {
    format.bpc = std::max(format.bpc, input.scored.bpc);
    format.chroma = std::max(format.chroma, input.scored.chroma);
    agree &= settled(input.scored.color).chroma_location == settled(inputs.front().scored.color).chroma_location;
  }
  if (agree) format.color.chroma_location = settled(inputs.front().scored.color).chroma_location;
  if (target.bits) format.bpc = target.bits;
  if (target.chroma) format.chroma = *target.chroma;
  return format;
}

Status check_sizes(const InputFormat& ref, const InputFormat& dist) {
  InputFormat other = ref;
  other.name = dist.name;
  other.scored.w = dist.scored.w;
  other.scored.h = dist.scored.h;
  other.scored.whole_chroma = dist.scored.whole_chroma;
  const auto differ = differences(ref, other);
  return differ.empty() ? Status() : Status(EINVAL, differ.front());
}

/* Planar pictures in host memory. */
StatusOr<InputFormat> input_of(const InputFormat& given, const VideoFormat& format) {
  const VmafxFormat plain = {.width = format.w,
                             .height = format.h,
                             .chroma = static_cast<VmafxChroma>(format.chroma),
                             .bits = format.bpc,
                             .fps = given.scored.fps,
                             .whole_chroma = format.whole_chroma};
  VMAFX_ASSIGN(InputFormat input, InputFormat::make(plain, given.role.c_str()));
  input.name = given.name;
  input.scored.color = format.color;
  return input;
}

}  // namespace

Status Recoloring::start(const ColorTarget& target, const std::vector<InputFormat>& inputs, int threads,
                         std::vector<InputFormat>& scored) {
  for (const InputFormat& input : inputs) VMAFX_TRY(check_sizes(inputs.front(), input));
  format_ = common_format(target, inputs);
  size_t scratch = 0;
  for (const InputFormat& input : inputs) {
    VideoFormat from = input.scored;
    from.color = settled(from.color);
    from.fps = format_.fps;
    Input mine{.name = input.name, .from = from, .recolorer = nullptr};
    auto made = Recolorer::create(from, format_, target.rules);
    if (!made.ok())
      return error(EINVAL,
                   "the %s input cannot be converted to %s: %s. setparams=colorspace=...:color_trc=...:"
                   "color_primaries=... before it tells its colors, if the tags are missing or wrong",
                   input.name.c_str(), target.name.c_str(), made.status().message().c_str());
    scored.push_back(input);
    if (from != format_) {
      scratch = std::max(scratch, made.value()->scratch_bytes());
      mine.recolorer = std::move(made.value());
      VMAFX_ASSIGN(scored.back(), input_of(input, format_));
    }
    scored.back().scored.color = format_.color;
    inputs_.push_back(std::move(mine));
  }
  for (int p = 0; p < format_.planes(); p++) {
    offset_[p] = bytes_;
    bytes_ += round_to_lines(format_.row_bytes(p)) * static_cast<size_t>(format_.plane_h(p));
  }
  if (!scratch) return {};
  VMAFX_TRY(workers_.start(std::min(threads, (format_.h + kRowsOfStrip - 1) / kRowsOfStrip)));
  for (int i = 0; i < workers_.threads(); i++) scratch_.push_back(allocate_aligned(scratch));
  return {};
}

/* A job converts every n-th strip of a picture. */
struct Recoloring::Strip : Job {
  void run(int worker) noexcept override {
    const auto convert = use_plain_cpu() ? &Recolorer::plain : &Recolorer::simd;
    for (int y = first * kRowsOfStrip; y < h; y += step * kRowsOfStrip)
      (recolorer->*convert)(*in, *out, {y, std::min(y + kRowsOfStrip, h)},
                            (*scratch)[static_cast<size_t>(worker)].get());
    const MutexLock lock(*mutex);
    if (--*pending == 0) done->notify_all();
  }

  const Recolorer* recolorer;
  const Picture* in;
  const RecolorOutput* out;
  const std::vector<AlignedBytes>* scratch;
  int first, step, h;
  Mutex* mutex;
  Condition* done;
  int* pending;
};

Recolorers Recoloring::recolorers() const {
  Recolorers all;
  for (const Input& input : inputs_) all.push_back(input.recolorer);
  return all;
}

std::shared_ptr<HeldPicture> Recoloring::recolored(size_t input, std::shared_ptr<HeldPicture> picture, bool later) {
  if (!converts(input)) return picture;
  if (!later) return std::make_shared<HeldPicture>(convert(input, *picture->in_host()));
  return std::make_shared<HeldPicture>(
      UnconvertedPicture{std::move(picture), [this, input](const HostPicture& from) { return convert(input, from); }});
}

HostPicture Recoloring::convert(size_t input, const HostPicture& picture) {
  auto buffer = buffers_.take();
  HostPicture host{.memory = OwnedPicture(),
                   .copied = buffers_.lend(buffer ? std::move(*buffer) : allocate_aligned(bytes_))};
  host.planes.bpc = format_.bpc;
  RecolorOutput out{};
  for (int p = 0; p < format_.planes(); p++) {
    if (!(planes_ >> p & 1)) continue;
    out.stride[p] = static_cast<ptrdiff_t>(round_to_lines(format_.row_bytes(p)));
    out.data[p] = host.copied->get() + offset_[p];
    host.planes.plane[p] = {out.data[p], out.stride[p], format_.plane_w(p), format_.plane_h(p)};
  }
  host.crop_chroma(format_);

  Mutex mutex;
  Condition done;
  int pending = workers_.threads();
  std::vector<Strip> strips(static_cast<size_t>(pending));
  for (size_t i = 0; i < strips.size(); i++) {
    Strip& strip = strips[i];
    strip.recolorer = inputs_[input].recolorer.get();
    strip.in = &picture.planes;
    strip.out = &out;
    strip.scratch = &scratch_;
    strip.first = static_cast<int>(i), strip.step = static_cast<int>(strips.size()), strip.h = format_.h;
    strip.mutex = &mutex, strip.done = &done, strip.pending = &pending;
  }
  for (Strip& strip : strips) workers_.add(strip);
  {
    const MutexLock lock(mutex);
    while (pending) done.wait(mutex);
  }
  return host;
}

std::string Recoloring::text() const {
  std::string text;
  for (const Input& input : inputs_) {
    const Color& color = input.from.color;
    text += (text.empty() ? "" : ", ") + input.name + " ";
    if (!input.recolorer) text += "stays";
    else
      text += "from " + matrix_name(color.matrix) + "/" + transfer_name(color.transfer) + "/" +
              primaries_name(color.primaries);
  }
  return text;
}

bool Recoloring::maps_tones() const {
  return std::ranges::any_of(inputs_,
                             [](const Input& input) { return input.recolorer && input.recolorer->maps_tones(); });
}

}  // namespace vmafx
