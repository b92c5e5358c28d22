#include "compat/libvmaf/stream.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <new>

#include "compat/libvmaf/log.h"
#include "compat/libvmaf/pictures.h"
#include "compat/libvmaf/texts.h"

namespace compat {
namespace {

void release(void* picture) { drop(static_cast<VmafRef*>(picture)); }

/* Copies the luma of a picture on a GPU to host memory. */
int download(void* picture, VmafxPicture* copy) {
  const auto& ref = *static_cast<const VmafRef*>(picture);
  return guarded([&] {
    auto bytes = std::make_unique<uint8_t[]>(ref.luma_bytes);
    if (const int ret = gpu_of(ref)->download(bytes.get(), ref.memory.get(), ref.luma_bytes)) return ret;
    copy->data[0] = bytes.get();
    copy->stride[0] = ref.luma_stride;
    copy->opaque = bytes.release();
    copy->release = [](void* samples) { delete[] static_cast<uint8_t*>(samples); };
    return 0;
  });
}

VmafxPicture picture_of(VmafPicture* picture) {
  VmafxPicture given{};
  if (gpu_of(*picture->ref)) given.download = download;
  for (int p = 0; p < 3; p++) {
    given.data[p] = static_cast<const uint8_t*>(picture->data[p]);
    given.stride[p] = picture->stride[p];
  }
  given.opaque = std::exchange(picture->ref, nullptr);
  given.release = release;
  return given;
}

VmafxChroma chroma_of(VmafPixelFormat format) {
  switch (format) {
    case VMAF_PIX_FMT_YUV422P: return VMAFX_CHROMA_422;
    case VMAF_PIX_FMT_YUV444P: return VMAFX_CHROMA_444;
    case VMAF_PIX_FMT_YUV400P: return VMAFX_CHROMA_400;
    default: return VMAFX_CHROMA_420;
  }
}

bool same_format(const VmafPicture& a, const VmafPictureParameters& b) {
  return a.w[0] == b.w && a.h[0] == b.h && a.bpc == b.bpc && a.pix_fmt == b.pix_fmt;
}

VmafPictureParameters format_of(const VmafPicture& picture) {
  return {picture.w[0], picture.h[0], picture.bpc, picture.pix_fmt};
}

int to_int(unsigned number) { return static_cast<int>(std::min<unsigned>(number, INT_MAX)); }

constexpr uint64_t kMostSpareBytes = 256 << 20;  // of each input, on a GPU
constexpr uint64_t kUsefulSpares = 40, kLeastSpares = 4;

/* Programs for libvmaf's CUDA fill the luma of pictures on a GPU, as its metrics there read nothing else: the rest is
 * not looked at. */
void set_device_memory(const VmafRef& ref, VmafxFormat* format) {
  const uint64_t fitting = kMostSpareBytes / std::max<uint64_t>(ref.luma_bytes, 1);
  format->memory = VMAFX_MEMORY_DEVICE;
  format->device_context = gpu_of(ref)->context();
  format->chroma = VMAFX_CHROMA_400;
  format->spare_pictures = std::clamp(fitting, kLeastSpares, kUsefulSpares);
}

struct FreeOptions {
  void operator()(VmafxOptions* options) const { vmafx_options_free(&options); }
};

/* The options of a context that computes features and has no model. The first failure of set() is that of open(). */
class Options {
 public:
  explicit Options(const std::string& features) : options_(vmafx_options_new()) {
    if (!options_) throw std::bad_alloc();
    set("model", "");
    set("feature", features);
  }

  void set(const char* name, const std::string& value) { keep(vmafx_options_set(options_.get(), name, value.c_str())); }
  void set(const char* name, int value) { keep(vmafx_options_set_int(options_.get(), name, value)); }
  void set_context(void* cuda) { vmafx_options_set_device_context(options_.get(), VMAFX_PLATFORM_CUDA, cuda); }
  void set_log(VmafxLogCallback log, void* cookie) { vmafx_options_set_log(options_.get(), log, cookie); }
  int open(VmafxContext** context) const { return failure_ ? failure_ : vmafx_open(context, options_.get()); }

 private:
  void keep(int ret) {
    if (!failure_) failure_ = ret;
  }

  std::unique_ptr<VmafxOptions, FreeOptions> options_;
  int failure_ = 0;
};

/* Opens a context and closes it. */
int try_to_open(const std::string& features, VmafxLogCallback log, void* log_cookie) {
  Options options(features);
  options.set_log(log, log_cookie);
  options.set("backend", "cpu");
  VmafxContext* context = nullptr;
  const int ret = options.open(&context);
  vmafx_close(&context);
  return ret;
}

void keep_error(void* words, VmafxLogLevel level, const char* message) {
  if (level == VMAFX_LOG_ERROR) *static_cast<std::string*>(words) = message;
}

}  // namespace

Pair::~Pair() {
  for (const Taken* taken : {&ref_, &dist_})
    if (taken->picture.ref) drop(taken->picture.ref);
}

int Pair::check() const {
  if (!ref_.picture.ref || !dist_.picture.ref)
    return COMPAT_INVALID("a picture was given that vmaf_picture_alloc() did not make");
  if (gpu_of(*ref_.picture.ref) != gpu_of(*dist_.picture.ref))
    return COMPAT_INVALID("one of two pictures is in CUDA's memory, and the other one is not");
  if (!same_format(dist_.picture, format_of(ref_.picture)))
    return COMPAT_INVALID("the two pictures differ in size or format");
  return 0;
}

int Pair::submit(VmafxContext* context) {
  const VmafxPicture ref = picture_of(&ref_.picture), dist = picture_of(&dist_.picture);
  return vmafx_submit(context, &ref, &dist);
}

Pair Pair::again() const {
  for (const Taken* taken : {&ref_, &dist_}) taken->picture.ref->count++;
  return {ref_, dist_};
}

/* The numbers are those of ITU-T H.273. */
VmafxColor Pair::color_of(const Taken& taken) {
  constexpr int kRanges[] = {0, 1, 2}, kPrimaries[] = {0, 1, 9, 12}, kTransfers[] = {0, 1, 16},
                kMatrices[] = {0, 1, 9, 14};
  VmafxColor color{};
  color.range = kRanges[taken.color.range];
  color.primaries = kPrimaries[taken.color.primaries];
  color.transfer = kTransfers[taken.color.trc];
  color.matrix = kMatrices[taken.color.matrix];
  return color;
}

int Stream::check(const std::string& features) { return try_to_open(features, errors_of_vmafx, nullptr); }

std::string Stream::contradiction(const std::string& features, const std::string& others) {
  std::string words;
  return try_to_open(features + "|" + others, keep_error, &words) ? words : "";
}

int Stream::begin(const Pair& pair, const std::string& features) {
  format_.pic_params = format_of(pair.ref());
  began_ = std::chrono::steady_clock::now();
  if (features.empty()) return 0;
  Options options(features);
  options.set_log(log_of_vmafx, nullptr);
  options.set("backend", settings_.backend.value_or(asked_.gpumask ? "cpu" : "auto"));
  options.set("device", settings_.device);
  options.set("ignore_unknown", 1);  // of two requests for one key, the first is reported
  options.set("check", "log");       // what pictures say wrongly is told, and changes nothing that libvmaf has
  options.set("verify", settings_.verify);
  options.set("overwrite", settings_.overwrite);
  /* Without threads, libvmaf works in the program's own; one worker takes its place. */
  options.set("n_threads", settings_.threads.value_or(std::max(to_int(asked_.n_threads), 1)));
  options.set("n_subsample", std::max(to_int(asked_.n_subsample), 1));
  const VmafRef& ref = *pair.ref().ref;
  on_gpu_ = gpu_of(ref) != nullptr;
  if (on_gpu_) options.set_context(gpu_of(ref)->context());
  VmafxContext* context = nullptr;
  if (const int ret = options.open(&context)) return ret;
  context_.reset(context);
  VmafxFormat format{};
  format.width = to_int(format_.pic_params.w);
  format.height = to_int(format_.pic_params.h);
  format.bits = to_int(format_.pic_params.bpc);
  format.chroma = chroma_of(format_.pic_params.pix_fmt);
  if (on_gpu_) set_device_memory(ref, &format);
  VmafxFormat dist = format;
  format.color = pair.ref_color();
  dist.color = pair.dist_color();
  return vmafx_configure(context, &format, &dist);
}

/* vmafx counts the pairs, and leaves out those whose numbers `n_subsample` does not divide; libvmaf does so with what
 * the program counts. */
int Stream::check_next(const VmafPicture& ref, unsigned index) const {
  const size_t next = indices_.size();
  if (next && context_ && on_gpu_ != (gpu_of(*ref.ref) != nullptr))
    return COMPAT_INVALID("the pictures at index %u are not in the memory that those before were in", index);
  if (next && !same_format(ref, format_.pic_params))
    return COMPAT_INVALID("the pictures at index %u differ in size or format from those before", index);
  if (asked_.n_subsample > 1 && (index % asked_.n_subsample == 0) != (next % asked_.n_subsample == 0))
    return COMPAT_INVALID("index %u after %zu pairs: with n_subsample, indices count the pairs from 0", index, next);
  if ((next && index <= indices_.back()) && std::ranges::find(indices_, index) != indices_.end())
    return COMPAT_INVALID("there were pictures at index %u before", index);
  return 0;
}

int Stream::read(Pair& pair, unsigned index, const std::string& features, Scores* scores) {
  if (const int ret = pair.check()) return ret;
  if (const int ret = check_next(pair.ref(), index)) return ret;
  if (!began())
    if (const int ret = begin(pair, features)) return ret;
  indices_.push_back(index);
  if (!context_) return 0;
  if (const int ret = pair.submit(context_.get())) return ret;
  return collect(scores);
}

int Stream::take(const VmafxFrameResult& result, Scores* scores) {
  const unsigned index = indices_[static_cast<size_t>(result.frame)];
  int ret = 0;
  for (size_t i = 0; i < result.n_scores; i++)
    if (const int failure = scores->put(name_of(result.scores[i].key), index, result.scores[i].value)) ret = failure;
  taken_++;
  return ret;
}

int Stream::collect(Scores* scores, std::optional<unsigned> index) {
  if (!context_) return 0;
  const auto found = index ? std::ranges::find(indices_, *index) : indices_.end();
  const auto wanted = found == indices_.end() ? size_t{0} : static_cast<size_t>(found - indices_.begin()) + 1;
  int failure = 0;
  for (;;) {
    VmafxFrameResult result;
    const int ret =
        taken_ < wanted ? vmafx_receive_wait(context_.get(), &result) : vmafx_receive(context_.get(), &result);
    if (ret == -EAGAIN) return failure;
    if (ret) return ret;
    if (const int refused = take(result, scores)) failure = refused;
  }
}

int Stream::flush(Scores* scores) {
  ended_ = std::chrono::steady_clock::now();
  if (!context_) return 0;
  if (const int ret = vmafx_finish(context_.get())) return ret;
  ended_ = std::chrono::steady_clock::now();
  const int ret = collect(scores);
  VmafxScore aggregate{};
  for (int i = 0; vmafx_aggregate(context_.get(), i, &aggregate.key, &aggregate.value) == 0; i++)
    aggregates_.push_back(aggregate);
  return ret;
}

double Stream::frames_per_second() const {
  const auto end = ended_ == decltype(ended_){} ? std::chrono::steady_clock::now() : ended_;
  const double seconds = std::chrono::duration<double>(end - began_).count();
  return began() && seconds > 0 ? static_cast<double>(indices_.size()) / seconds : 0;
}

}  // namespace compat
