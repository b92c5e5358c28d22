/* The kernels of vif, in data-flow order. */
#include "kernels/common/gpu.h"
#include "kernels/vif/vif_math.h"
