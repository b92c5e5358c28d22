/* Preloaded, it makes a processor one without AES instructions, as the Raspberry Pi 4's is: qemu has none. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/auxv.h>

unsigned long getauxval(unsigned long type) {
  unsigned long (*real)(unsigned long) = (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");
  return type == AT_HWCAP ? real(type) & ~(unsigned long)HWCAP_AES : real(type);
}
