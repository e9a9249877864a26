#define _GNU_SOURCE
#include "open-beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int open_beneath(int directory, const char *path, int flags, mode_t mode) {
  const struct open_how how = {
      .flags = (unsigned)(flags | O_CLOEXEC),
      .mode = flags & O_CREAT ? mode : 0,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
  };
  const int handle = (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
  return handle < 0 ? -errno : handle;
}

/* Kept open, because looking it up takes as long as the call itself. */
static int own_handles = -1;

static void find_own_handles(void) {
  own_handles = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int reopen_path_fd(int path_fd, int flags) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_own_handles);
  char name[16];
  snprintf(name, sizeof name, "%d", path_fd);
  const int handle = openat(own_handles, name, flags | O_CLOEXEC);
  return handle < 0 ? -errno : handle;
}
