/* All device code, one translation unit: compiled once per architecture into one code object, and for
 * emulator by the host's compiler. A metric with kernels adds its .hip here. */
#define VMAFX_KERNEL_CODE

#include "kernels/gpu/self_test.hip"
#include "kernels/steps/prescale.hip"
#include "kernels/steps/row_sums.hip"
#include "kernels/steps/unpack.hip"

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
#include "kernels/speed/speed.hip"
#include "kernels/ssim/ssim.hip"
#include "kernels/ssimulacra2/ssimulacra2.hip"
#include "kernels/vif/float_vif.hip"
#include "kernels/vif/vif.hip"
#include "kernels/xpsnr/xpsnr.hip"
