#define _GNU_SOURCE
#include "init/mount-overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOLD 4
#define FIRST_HANDLE 10 /* after the descriptors that the spawner gives to every child */

static int fail(const char *whose) {
  fprintf(stderr, "%s%s\n", whose, strerror(errno));
  return 1;
}

static int done(void) {
  return write(TOLD, "{}", 2) == 2 ? 0 : 1;
}

/* Takes a copy of the directory that the server has open, whatever its path leads to by now. */
static int take_handle(const char *server, const char *handle, int at) {
  char path[64], found[64];
  struct stat status;
  const char *identity = strchr(handle, ':');
  if (identity == NULL) return errno = EINVAL, -1;
  snprintf(path, sizeof path, "/proc/%d/fd/%d", atoi(server), atoi(handle));
  const int opened = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0 || fstat(opened, &status) != 0) return -1;
  snprintf(found, sizeof found, ":%llu:%llu", (unsigned long long)status.st_dev, (unsigned long long)status.st_ino);
  if (strcmp(found, identity) != 0) return errno = ESTALE, -1;
  /* `opened` is the lowest free descriptor, which is below FIRST_HANDLE because it is closed again each time. */
  return dup3(opened, at, O_CLOEXEC) < 0 ? -1 : close(opened);
}

int mount_overlay(char **arguments) {
  const char *server = arguments[0], *target = arguments[1], *options = arguments[2];
  for (int i = 0; arguments[3 + i] != NULL; i++)
    if (take_handle(server, arguments[3 + i], FIRST_HANDLE + i) < 0) return fail("");
  if (mount("croft", target, "overlay", MS_NOSUID | MS_NODEV, options) != 0) return fail("kernel: ");
  return done();
}

int unmount_overlay(const char *target, int lazily) {
  if (umount2(target, UMOUNT_NOFOLLOW | (lazily ? MNT_DETACH : 0)) != 0) return fail("kernel: ");
  return done();
}
