/* Which kernels of psnr run, on what planes, in which order. */
#include "kernels/psnr/psnr.h"
