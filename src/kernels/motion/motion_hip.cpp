/* Which kernels of motion run, on what planes, in which order. */
#include "kernels/motion/motion.h"
