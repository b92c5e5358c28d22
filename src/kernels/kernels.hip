/* All device code, one translation unit: compiled once per architecture into one code object, and for
 * tests/hip_emulator by the host's compiler. A metric with kernels adds its .hip here. */
#define VMAFX_KERNEL_CODE

#include "kernels/common/prescale.hip"
#include "kernels/common/row_sums.hip"
#include "kernels/common/self_test.hip"
#include "kernels/common/unpack.hip"

#include "kernels/adm/adm.hip"
#include "kernels/ansnr/ansnr.hip"
#include "kernels/cambi/cambi.hip"
#include "kernels/moment/moment.hip"
#include "kernels/ciede/ciede.hip"
#include "kernels/float_motion/float_motion.hip"
#include "kernels/float_vif/float_vif.hip"
#include "kernels/float_adm/float_adm.hip"
#include "kernels/motion/motion.hip"
#include "kernels/psnr/psnr.hip"
#include "kernels/ssimulacra2/ssimulacra2.hip"
#include "kernels/psnr_hvs/psnr_hvs.hip"
#include "kernels/ssim/ssim.hip"
#include "kernels/speed/speed.hip"
#include "kernels/vif/vif.hip"
