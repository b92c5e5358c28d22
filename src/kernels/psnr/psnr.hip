/* The kernels of psnr, in data-flow order. */
#include "kernels/common/gpu.h"
#include "kernels/psnr/psnr_math.h"
