/* posix.h, which is included before all else, has what tests take from here. */
