#include "kernels/float_moment/float_moment.h"

#include "base/cpu.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

constexpr FeatureInfo kFeatures[] = {neutral_feature("float_moment_ref1st"), neutral_feature("float_moment_dis1st"),
                                     neutral_feature("float_moment_ref2nd"), neutral_feature("float_moment_dis2nd")};

class Moment : public Extractor {
 public:
  Moment(const VideoFormat& format, Placement placement)
      : format_(format), device_twin_(placement == Placement::kDevice ? moment_hip(format) : nullptr) {}

  std::span<const FeatureInfo> features() const override { return kFeatures; }
  size_t sums_bytes() const override { return sizeof(MomentPair); }
  size_t scratch_bytes() const override { return 0; }

  void extract(const FrameSet& frames, std::byte*, void* sums) const override {
    *static_cast<MomentPair*>(sums) = {sums_of_(frames.ref.plane[0], format_.bpc),
                                       sums_of_(frames.dist.plane[0], format_.bpc)};
  }

  void finalize(int64_t frame, const void* sums, ScoreSink& sink) override {
    const auto& [ref, dist] = *static_cast<const MomentPair*>(sums);
    const double samples = static_cast<double>(format_.w) * format_.h, scale = 1 << (format_.bpc - 8);
    sink.put(frame, 0, static_cast<double>(ref.first) / scale / samples);
    sink.put(frame, 1, static_cast<double>(dist.first) / scale / samples);
    sink.put(frame, 2, static_cast<double>(ref.second) / (scale * scale) / samples);
    sink.put(frame, 3, static_cast<double>(dist.second) / (scale * scale) / samples);
  }

  DeviceTwin* device_twin() override { return device_twin_.get(); }

 private:
  const VideoFormat format_;
  decltype(&moment_simd) const sums_of_ = use_reference_cpu() ? moment_ref : moment_simd;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

StatusOr<std::unique_ptr<Extractor>> create(const Options&, const VideoFormat& format, Placement placement) {
  return std::unique_ptr<Extractor>(new Moment(format, placement));
}

}  // namespace

constexpr ExtractorInfo kFloatMomentExtractor = {
    .name = "float_moment",
    .help = "mean and mean square of the luma of each picture",
    .flags = kHip,
    .features = kFeatures,
    .options = {},
    .create = create,
};

}  // namespace vmafx
