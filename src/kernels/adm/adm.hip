/* The kernels of adm, in data-flow order. */
#include "kernels/common/gpu.h"
#include "kernels/adm/adm_math.h"
