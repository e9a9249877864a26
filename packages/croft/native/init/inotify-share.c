#define _GNU_SOURCE
#include "init/inotify-share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SHARE 8 /* a sandbox gets one eighth */

/* Reads the limit of the whole user. Returns -1 on failure. */
static long read_limit(const char *path) {
  char text[32] = "";
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  return length > 0 ? strtol(text, NULL, 10) : -1;
}

static int write_limit(int directory, const char *name, long limit) {
  char text[32];
  int length = snprintf(text, sizeof text, "%ld", limit);
  int file = openat(directory, name, O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t written = write(file, text, (size_t)length);
  int error = errno;
  close(file);
  errno = error;
  return written == length ? 0 : -1;
}

static int share(int directory, const char *name, const char *of) {
  const long whole = read_limit(of);
  if (whole < 0) return -1;
  return write_limit(directory, name, whole < SHARE ? 1 : whole / SHARE);
}

int inotify_share_limit(const char *settings) {
  int directory = open(settings, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return errno == ENOENT ? 0 : -1;
  int result = share(directory, "max_inotify_instances", "/proc/sys/fs/inotify/max_user_instances");
  if (result == 0) result = share(directory, "max_inotify_watches", "/proc/sys/fs/inotify/max_user_watches");
  int error = errno;
  close(directory);
  errno = error;
  return result;
}
