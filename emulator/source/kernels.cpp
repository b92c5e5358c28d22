/* All kernels of vmafx, for the host's compiler. */
#include "kernels/registry/kernels.hip"
