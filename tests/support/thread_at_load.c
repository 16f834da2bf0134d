/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that starts a thread when it is loaded, before main, as OpenBLAS does: signals are not blocked there. */
#include <pthread.h>
#include <unistd.h>

static void* wait_for_ever(void* nothing) {
  for (;;) pause();
  return nothing;
}

__attribute__((constructor)) static void start(void) {
  pthread_t thread;
  if (pthread_create(&thread, 0, wait_for_ever, 0) == 0) pthread_detach(thread);
}
