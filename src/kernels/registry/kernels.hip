/* All device code, one translation unit: compiled once per architecture into one code object, and for
 * emulator by the host's compiler. */
#define VMAFX_KERNEL_CODE

#include "kernels/gpu/self_test.hip"
#include "kernels/recolor/recolor.hip"
#include "kernels/signature/signature.hip"
#include "kernels/steps/block_sums.hip"
#include "kernels/steps/prescale.hip"
#include "kernels/steps/row_sums.hip"
#include "kernels/steps/unpack.hip"

#include "kernels/registry/metric_list.h"
