#include "kernels/signature/signature.h"

#include <algorithm>
#include <cstring>

#include "kernels/device_twin.h"
#include "kernels/metric.h"

namespace vmafx {
namespace {

struct CpuParts {
  decltype(signature_luma_plain)* luma;
  decltype(signature_chroma_plain)* chroma;
  decltype(signature_chroma_profiles_plain)* chroma_profiles;
  decltype(signature_profiles_plain)* profiles;
};
constexpr CpuParts kPlain = {signature_luma_plain, signature_chroma_plain, signature_chroma_profiles_plain,
                             signature_profiles_plain};
constexpr CpuParts kSimd = {signature_luma_simd, signature_chroma_simd, signature_chroma_profiles_simd,
                            signature_profiles_simd};

size_t scratch_bytes(const SignatureParams& params) { return static_cast<size_t>(params.format.w) * sizeof(uint32_t); }
size_t encodes_scratch_bytes(const SignatureParams& params, int) { return scratch_bytes(params); }

template <const CpuParts& parts>
void sign(const SignatureParams& params, const Picture& picture, bool detail, std::byte* scratch,
          PictureSignature& signature) {
  const int bpc = params.format.bpc;
  parts.luma(picture.plane[0], bpc, signature);
  if (!detail) return;
  for (int p = 1; p < params.planes; p++) {
    parts.chroma(picture.plane[p], bpc, signature.chroma[p - 1]);
    parts.chroma_profiles(picture.plane[p], bpc, signature.chroma_profiles[p - 1]);
  }
  parts.profiles(picture.plane[0], bpc, reinterpret_cast<uint32_t*>(scratch), signature);
}

/* Encodes number their frames each for itself: not all of them need have detail here. */
template <const CpuParts& parts>
void run_encodes(const SignatureParams& params, std::span<const FrameSet> frames, std::byte* scratch,
                 std::span<SignatureSums* const> sums) {
  const auto detailed = [](const FrameSet& frame) { return has_detail(frame.number); };
  const auto first = std::ranges::find_if(frames, detailed);
  const size_t source = first == frames.end() ? 0 : static_cast<size_t>(first - frames.begin());
  const PictureSignature& ref = sums[source]->ref;
  sign<parts>(params, frames[source].ref, first != frames.end(), scratch, sums[source]->ref);
  for (size_t i = 0; i < frames.size(); i++) {
    const bool detail = detailed(frames[i]);
    sign<parts>(params, frames[i].dist, detail, scratch, sums[i]->dist);
    if (i == source) continue;
    if (detail) sums[i]->ref = ref;
    else std::memcpy(sums[i]->ref.luma, ref.luma, sizeof ref.luma);
  }
}

constexpr Twins<SignatureParams, SignatureSums> kTwins = {
    .plain = {scratch_bytes, of_one<run_encodes<kPlain>>, encodes_scratch_bytes, run_encodes<kPlain>},
    .simd = {scratch_bytes, of_one<run_encodes<kSimd>>, encodes_scratch_bytes, run_encodes<kSimd>},
    .device = signature_hip,
};

class Signature : public TwinExtractor<SignatureParams, SignatureSums> {
 public:
  using TwinExtractor::TwinExtractor;

  Reads reads() const override {
    const unsigned planes = (1u << params_.planes) - 1;
    return {.ref = planes, .dist = planes, .every_frame = true, .chroma_period = kDetailPeriod};
  }
  std::unique_ptr<StreamScorer> make_scorer() const override { return std::make_unique<NoScores>(); }

 private:
  struct NoScores : StreamScorer {
    void finalize(int64_t, const void*, ScoreSink&) override {}
  };
};

Created create(const NoOptions&, const VideoFormat& format, Placement placement) {
  const bool has_chroma = format.plane_w(1) > 0 && format.plane_h(1) > 0;
  const SignatureParams params = {format, has_chroma ? format.planes() : 1};
  return std::unique_ptr<Extractor>(new Signature(params, kTwins, {}, placement));
}

}  // namespace

constexpr ExtractorInfo kSignatureExtractor = {
    .name = "signature",
    .measures = "registration",
    .help = "sums of samples by which pictures are told apart",
    .range = "none",
    .flags = kHip,
    .features = {},
    .create = with_fields<create>,
};

}  // namespace vmafx
