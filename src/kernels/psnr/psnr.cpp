#include "kernels/psnr/psnr.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "base/cpu.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

using Type = OptionInfo::Type;

constexpr OptionInfo kOptions[] = {
    {"enable_chroma", nullptr, Type::kBool, 1, 0, 1, false, "score the chroma planes too"},
    {"enable_mse", nullptr, Type::kBool, 0, 0, 1, false, "provide the mean squared error too"},
    {"enable_apsnr", nullptr, Type::kBool, 0, 0, 1, false, "provide the PSNR of the whole stream too"},
    {"reduced_hbd_peak", nullptr, Type::kBool, 0, 0, 1, false, "scale the peak of high bit depths to that of 8 bit"},
    {"min_sse", nullptr, Type::kDouble, 0, 0, DBL_MAX, false, "sum of squared errors that sets the highest score"},
};

/* Per plane psnr, then mse. */
constexpr FeatureInfo mse_feature(const char* key) { return {.name = key, .key = key, .worse = Worse::kHigh}; }
constexpr FeatureInfo kFeatures[] = {{"psnr_y", "psnr_y"},   mse_feature("mse_y"),
                                     {"psnr_cb", "psnr_cb"}, mse_feature("mse_cb"),
                                     {"psnr_cr", "psnr_cr"}, mse_feature("mse_cr")};
constexpr const char* kStreamKeys[] = {"apsnr_y", "apsnr_cb", "apsnr_cr"};

class Psnr : public Extractor {
 public:
  Psnr(const Options& options, const VideoFormat& format, Placement placement);

  std::span<const FeatureInfo> features() const override { return features_; }
  Reads reads() const override {
    const unsigned planes = (1u << planes_) - 1;
    return {.ref = planes, .dist = planes, .history = 0, .every_frame = of_stream_};
  }
  size_t sums_bytes() const override { return sizeof(PsnrSums); }
  size_t scratch_bytes() const override { return 0; }

  void extract(const FrameSet& frames, std::byte*, void* sums) const override {
    for (int p = 0; p < planes_; p++)
      static_cast<PsnrSums*>(sums)->sse[p] = sse_(frames.ref.plane[p], frames.dist.plane[p], format_.bpc);
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override;
  Status flush(ScoreSink& sink) override;
  DeviceTwin* device_twin() override { return device_twin_.get(); }

 private:
  /* Libvmaf counts the samples of a plane in 32 bits. */
  uint32_t samples(int p) const {
    return static_cast<uint32_t>(format_.plane_w(p)) * static_cast<uint32_t>(format_.plane_h(p));
  }
  double limit(int p, double min_sse) const;

  const VideoFormat format_;
  const int planes_;
  const bool with_mse_, of_stream_;
  const double peak_squared_;
  double limit_[3] = {};  // dB
  std::vector<FeatureInfo> features_;
  decltype(&psnr_sse_simd) const sse_ = use_reference_cpu() ? psnr_sse_ref : psnr_sse_simd;
  const std::unique_ptr<DeviceTwin> device_twin_;

  /* The stream so far. */
  PsnrSums stream_ = {};
  int64_t frames_ = 0;
};

int scored_planes(const Options& options, const VideoFormat& format) {
  return options.flag("enable_chroma") && format.plane_w(1) > 0 && format.plane_h(1) > 0 ? format.planes() : 1;
}

double squared_peak(const Options& options, int bpc) {
  const double peak = options.flag("reduced_hbd_peak") ? 255 << (bpc - 8) : (1 << bpc) - 1;
  return peak * peak;
}

Psnr::Psnr(const Options& options, const VideoFormat& format, Placement placement)
    : format_(format),
      planes_(scored_planes(options, format)),
      with_mse_(options.flag("enable_mse")),
      of_stream_(options.flag("enable_apsnr")),
      peak_squared_(squared_peak(options, format.bpc)),
      device_twin_(placement == Placement::kDevice ? psnr_hip(format, planes_) : nullptr) {
  for (int p = 0; p < planes_; p++) {
    limit_[p] = limit(p, options.number("min_sse"));
    features_.push_back(kFeatures[2 * p]);
    if (with_mse_) features_.push_back(kFeatures[2 * p + 1]);
  }
}

/* The order of the operations, here and below, is libvmaf's: its scores are met to the bit. */
double Psnr::limit(int p, double min_sse) const {
  if (min_sse == 0.0) return 6 * format_.bpc + 12;
  return std::ceil(10. * std::log10(peak_squared_ / (min_sse / samples(p))));
}

void Psnr::finalize(int64_t frame, const void* sums, ScoreSink& sink) {
  int feature = 0;
  for (int p = 0; p < planes_; p++) {
    const uint64_t sse = static_cast<const PsnrSums*>(sums)->sse[p];
    const double mse = static_cast<double>(sse) / samples(p);
    sink.put(frame, feature++, std::min(10. * std::log10(peak_squared_ / std::max(mse, 1e-16)), limit_[p]));
    if (with_mse_) sink.put(frame, feature++, mse);
    stream_.sse[p] += sse;
  }
  frames_++;
}

Status Psnr::flush(ScoreSink& sink) {
  if (!of_stream_ || !frames_) return {};
  for (int p = 0; p < planes_; p++) {
    const double count = static_cast<double>(static_cast<uint64_t>(frames_) * samples(p));
    const double limit = std::ceil(10 * std::log10(peak_squared_ * count * 2));
    const double apsnr =
        10 * (std::log10(peak_squared_) + std::log10(count) - std::log10(static_cast<double>(stream_.sse[p])));
    sink.put_aggregate(kStreamKeys[p], std::min(apsnr, limit));
  }
  return {};
}

StatusOr<std::unique_ptr<Extractor>> create(const Options& options, const VideoFormat& format, Placement placement) {
  return std::unique_ptr<Extractor>(new Psnr(options, format, placement));
}

}  // namespace

constexpr ExtractorInfo kPsnrExtractor = {
    .name = "psnr",
    .help = "peak signal-to-noise ratio of every plane",
    .flags = kHip,
    .features = kFeatures,
    .options = kOptions,
    .create = create,
};

}  // namespace vmafx
