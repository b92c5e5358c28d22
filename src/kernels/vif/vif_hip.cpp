/* Which kernels of vif run, on what planes, in which order. */
#include "kernels/vif/vif.h"
