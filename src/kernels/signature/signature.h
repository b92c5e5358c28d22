/* signature: what the engine's look needs of the samples of a pair (signature_math.h). It is no metric: it puts no
 * scores, users cannot name it, and the registry does not list it. The engine's plan adds kSignatureExtractor, whose
 * SignatureSums it finds among those of a finished frame.
 *
 * Luma is read in every frame, also in those that n_subsample leaves out; chroma, where the format has it, in frames
 * with detail, which follow from FrameSet::number. */
#ifndef VMAFX_KERNELS_SIGNATURE_SIGNATURE_H
#define VMAFX_KERNELS_SIGNATURE_SIGNATURE_H

#include <cstddef>
#include <cstdint>

#include "base/picture.h"
#include "kernels/forward.h"
#include "kernels/signature/signature_math.h"

namespace vmafx {

/* Sums of the cells of a plane of chroma. */
using ChromaCells = uint32_t[kChromaRows][kChromaColumns];

/* The twins, of a plane each; what they fill is zero. Samples are below 2^bpc. */
void signature_luma_plain(const SamplePlane& luma, int bpc, PictureSignature& signature);
void signature_luma_simd(const SamplePlane& luma, int bpc, PictureSignature& signature);

void signature_chroma_plain(const SamplePlane& chroma, int bpc, ChromaCells& cells);
void signature_chroma_simd(const SamplePlane& chroma, int bpc, ChromaCells& cells);

void signature_chroma_profiles_plain(const SamplePlane& chroma, int bpc, ChromaProfiles& profiles);
void signature_chroma_profiles_simd(const SamplePlane& chroma, int bpc, ChromaProfiles& profiles);

/* Columns, rows, and differences of rows and of columns. `sums_of_columns`: w words of the SIMD twin's memory. */
void signature_profiles_plain(const SamplePlane& luma, int bpc, uint32_t* sums_of_columns, PictureSignature& signature);
void signature_profiles_simd(const SamplePlane& luma, int bpc, uint32_t* sums_of_columns, PictureSignature& signature);

/* The HIP twin; `planes`: 1, or 3 with chroma. */
struct SignatureParams {
  VideoFormat format;
  int planes = 1;
};
OwnedDeviceTwin signature_hip(const SignatureParams& params);

extern const ExtractorInfo kSignatureExtractor;

}  // namespace vmafx

#endif
