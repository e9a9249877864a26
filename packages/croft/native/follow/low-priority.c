#define _GNU_SOURCE
#include "follow/low-priority.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NICE 10

static void (*wanted)(void);

static void *run(void *unused) {
  setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
  wanted();
  return unused;
}

/* In a thread of its own, because without privileges a lowered priority cannot be raised again. */
void run_with_low_priority(void (*work)(void)) {
  pthread_t thread;
  wanted = work;
  if (pthread_create(&thread, NULL, run, NULL) != 0) return work();
  pthread_join(thread, NULL);
}
