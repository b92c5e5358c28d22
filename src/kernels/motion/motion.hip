/* The kernels of motion, in data-flow order. */
#include "kernels/common/gpu.h"
#include "kernels/motion/motion_math.h"
