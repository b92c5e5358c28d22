/* Preloaded: the C++ threads of a process, counted from 0, are refused from number $REFUSE_THREADS on, as at a limit on
 * processes. Threads of ffmpeg itself, which is C, are not refused. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  static atomic_int count;
  Dl_info caller;

  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  if (dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "libstdc++") &&
      atomic_fetch_add(&count, 1) >= atoi(getenv("REFUSE_THREADS")))
    return EAGAIN;
  return real(thread, attributes, run, argument);
}
