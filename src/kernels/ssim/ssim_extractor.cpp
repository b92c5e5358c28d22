#include "kernels/ssim/ssim_extractor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cpu.h"
#include "kernels/arithmetic/fixed.h"
#include "kernels/ssim/ssim_math.h"

namespace vmafx {
namespace {

/* The decibels of a mean squared error of 0.5 / (w h). */
double most_db(const SsimParams& params, bool clip) {
  if (!clip) return std::numeric_limits<double>::infinity();
  const double peak = (1 << params.bpc) - 1;
  return std::ceil(10 * std::log10(peak * peak / (0.5 / (static_cast<double>(params.w) * params.h))));
}

}  // namespace

SsimExtractor::SsimExtractor(const SsimParams& params, const Options& options, Placement placement)
    : params_(params),
      with_lcs_(options.flag("enable_lcs")),
      in_db_(options.flag("enable_db")),
      use_reference_(use_reference_cpu()),
      most_db_(most_db(params, options.flag("clip_db"))),
      device_twin_(placement == Placement::kDevice ? ssim_hip(params) : nullptr) {}

size_t SsimExtractor::scratch_bytes() const {
  return use_reference_ ? ssim_scratch_bytes_ref(params_) : ssim_scratch_bytes_simd(params_);
}

void SsimExtractor::extract(const FrameSet& frames, std::byte* scratch, void* sums) const {
  const auto twin = use_reference_ ? ssim_ref : ssim_simd;
  twin(params_, frames.ref.plane[0], frames.dist.plane[0], scratch, static_cast<SsimSums*>(sums));
}

SsimMeanScores SsimExtractor::mean_scores(const void* raw_sums, int scale) const {
  const SsimSums& sums = static_cast<const SsimSums*>(raw_sums)[scale];
  /* The rounding of denominators would show. */
  if (!sums.different) return {1, 1, 1, 1};
  const auto windows = static_cast<double>(ssim_windows(params_, scale));
  const auto mean = [windows](int64_t sum) { return static_cast<float>(from_fixed<kSsimBits>(sum) / windows); };
  return {mean(sums.l), mean(sums.c), mean(sums.s), mean(sums.lcs)};
}

double SsimExtractor::in_unit(double score) const {
  if (!in_db_) return score;
  return score < 1 ? std::min(-10 * std::log10(1 - score), most_db_) : most_db_;
}

}  // namespace vmafx
