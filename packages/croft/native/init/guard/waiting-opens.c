#define _GNU_SOURCE
#include "init/guard/waiting-opens.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_WAITING 64

static struct {
  uint64_t id;
  int handle, flags;
} waiting[MAX_WAITING];
static int count;

int waiting_count(void) { return count; }

int waiting_add(uint64_t id, const struct opened *opened) {
  if (count == MAX_WAITING) return close(opened->handle), ENFILE;
  waiting[count].id = id;
  waiting[count].handle = opened->handle;
  waiting[count++].flags = opened->flags;
  return WAITS;
}

int waiting_try(int index, uint64_t *id, struct opened *opened) {
  char link[32];
  *id = waiting[index].id;
  snprintf(link, sizeof link, "/proc/self/fd/%d", waiting[index].handle);
  opened->flags = waiting[index].flags;
  opened->handle = open(link, (opened->flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_NONBLOCK | O_CLOEXEC);
  if (opened->handle < 0) return errno == ENXIO ? WAITS : errno;
  fcntl(opened->handle, F_SETFL, fcntl(opened->handle, F_GETFL) & ~O_NONBLOCK);
  return 0;
}

void waiting_end(int index) {
  close(waiting[index].handle);
  waiting[index] = waiting[--count];
}
