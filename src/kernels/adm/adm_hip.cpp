/* Which kernels of adm run, on what planes, in which order. */
#include "kernels/adm/adm.h"
