/* The list of all metrics, which kernels.hip and registry.cpp include, each for its half. A metric adds its kernels, if
 * it has some, and its ExtractorInfo, which reports take in this order. */
// clang-format off
#ifdef VMAFX_KERNEL_CODE
#include "kernels/adm/adm.hip"
#include "kernels/adm/float_adm.hip"
#include "kernels/butteraugli/butteraugli.hip"
#include "kernels/cambi/cambi.hip"
#include "kernels/ciede/ciede.hip"
#include "kernels/cvvdp/cvvdp.hip"
#include "kernels/float_ansnr/float_ansnr.hip"
#include "kernels/float_moment/float_moment.hip"
#include "kernels/motion/float_motion.hip"
#include "kernels/motion/motion.hip"
#include "kernels/psnr/psnr.hip"
#include "kernels/psnr_hvs/psnr_hvs.hip"
#include "kernels/siti/siti.hip"
#include "kernels/speed/speed.hip"
#include "kernels/ssim/ssim.hip"
#include "kernels/ssimulacra2/ssimulacra2.hip"
#include "kernels/vif/float_vif.hip"
#include "kernels/vif/vif.hip"
#include "kernels/xpsnr/xpsnr.hip"
#else
VMAFX_METRIC(kAdmExtractor)
VMAFX_METRIC(kFloatAdmExtractor)
VMAFX_METRIC(kVifExtractor)
VMAFX_METRIC(kMotionExtractor)
VMAFX_METRIC(kPsnrExtractor)
VMAFX_METRIC(kFloatPsnrExtractor)
VMAFX_METRIC(kFloatAnsnrExtractor)
VMAFX_METRIC(kFloatMomentExtractor)
VMAFX_METRIC(kCambiExtractor)
VMAFX_METRIC(kPsnrHvsExtractor)
VMAFX_METRIC(kCiedeExtractor)
VMAFX_METRIC(kFloatVifExtractor)
VMAFX_METRIC(kSsimulacra2Extractor)
VMAFX_METRIC(kFloatMotionExtractor)
VMAFX_METRIC(kFloatSsimExtractor)
VMAFX_METRIC(kFloatMsSsimExtractor)
VMAFX_METRIC(kSpeedChromaExtractor)
VMAFX_METRIC(kSpeedTemporalExtractor)
VMAFX_METRIC(kXpsnrExtractor)
VMAFX_METRIC(kButteraugliExtractor)
VMAFX_METRIC(kCvvdpExtractor)
VMAFX_METRIC(kSitiExtractor)
VMAFX_METRIC(kMsadExtractor)
#endif
// clang-format on
