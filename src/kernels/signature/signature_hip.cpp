/* The HIP twin of the signature: one kernel on all frames, and one on those with detail, which few batches have. */
#include <algorithm>

#include "kernels/device_twin.h"
#include "kernels/signature/signature.h"
#include "kernels/signature/signature_work.h"

namespace vmafx {
namespace {

constexpr unsigned kPictures = 2;  // of a pair

class SignatureHip : public DeviceTwin {
 public:
  explicit SignatureHip(const SignatureParams& params) : bpc_(params.format.bpc) {
    const VideoFormat& format = params.format;
    work_.w = format.w;
    work_.h = format.h;
    work_.profile_shift = profile_shift(format.w, format.h, format.bpc);
    if (params.planes == 1) return;
    work_.chroma_w = format.plane_w(1);
    work_.chroma_h = format.plane_h(1);
  }

  Status launch(const DeviceBatch& batch) const override {
    SignatureWork work = work_;
    std::ranges::copy(batch.planes, work.planes);
    work.sums = batch.sums_of<SignatureSums>();
    const FrameGroups groups = batch.groups(kSignatureRows);
    choose(groups, batch.count, work, [](int) { return true; });
    VMAFX_TRY(cells_.launch(batch, grid(kSignatureRows, work), work));
    choose(groups, batch.count, work, [&](int frame) { return has_detail(batch.numbers[frame]); });
    if (!work.count) return {};
    return detail_.launch(batch, grid(kDetailBlocks, work), work);
  }

 private:
  static hip::Dim grid(unsigned blocks, const SignatureWork& work) {
    return {blocks, kPictures, static_cast<unsigned>(work.count)};
  }

  template <class IsChosen>
  static void choose(const FrameGroups& groups, int frames, SignatureWork& work, IsChosen is_chosen) {
    work.count = 0;
    for (int frame = 0; frame < frames; frame++) {
      if (!is_chosen(frame)) continue;
      const int last = work.count ? work.frame[work.count - 1] : frame;
      const bool shares = groups.picture[last] == groups.picture[frame];
      work.source[frame] = work.count && shares ? work.source[last] : static_cast<uint8_t>(frame);
      work.frame[work.count++] = static_cast<uint8_t>(frame);
    }
  }

  SignatureWork work_;  // but for what belongs to a batch
  const int bpc_;
  const TwinKernel<SignatureWork> cells_ = kernels_.add(kernels::signature.of(bpc_));
  const TwinKernel<SignatureWork> detail_ = kernels_.add(kernels::signature_detail.of(bpc_));
};

}  // namespace

OwnedDeviceTwin signature_hip(const SignatureParams& params) { return {std::make_unique<SignatureHip>(params)}; }

}  // namespace vmafx
