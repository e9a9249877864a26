#define _GNU_SOURCE
#include "init/guard/judged-binds.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "init/guard/judged-opens.h"
#include "init/guard/misspelt-names.h"
#include "init/guard/name-meanings.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

/* Returns a descriptor of the program's socket, or -1 with errno. */
static int take_socket(pid_t thread, int handle) {
  int process = (int)syscall(SYS_pidfd_open, caller_process(thread), 0);
  if (process < 0) return -1;
  int taken = (int)syscall(SYS_pidfd_getfd, process, handle, 0);
  int error = errno;
  close(process);
  errno = error;
  return taken;
}

static int judge_path(pid_t thread, const char *path) {
  struct parent_entry entry;
  int error = cover_before(thread, AT_FDCWD, path);
  if (error == 0) error = caller_parent(thread, AT_FDCWD, path, &entry);
  if (error != 0) return error;
  if (!may_write(entry.directory)) error = EACCES;
  else if (meaning_of(&entry) != NOTHING || is_misspelt(&entry)) error = refuse_name(&entry);
  else if (is_held_above(&entry)) error = EROFS;
  close(entry.directory);
  return error;
}

/* Binds in the program's own directory, so that the socket gets the name that the program gave it. */
static int bind_as(pid_t thread, int taken, const struct sockaddr *address, socklen_t length) {
  int here = caller_open(thread, AT_FDCWD, ".", O_DIRECTORY);
  if (here < 0) return errno;
  int result = fchdir(here);
  const mode_t mask = umask(caller_umask(thread));
  if (result == 0) result = bind(taken, address, length);
  const int error = result == 0 ? 0 : errno;
  umask(mask);
  close(here);
  return chdir("/") == 0 ? error : EACCES;
}

static int bind_to(pid_t thread, int taken, uint64_t address, socklen_t length) {
  union {
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_storage room;
    char bytes[sizeof(struct sockaddr_storage) + 1]; /* a path of full length has no zero of its own */
  } given = {.bytes = {0}};
  if (length > sizeof given.room) return EINVAL;
  if (caller_read(thread, address, &given, length) != 0) return EFAULT;
  const int is_path = given.any.sa_family == AF_UNIX && length > offsetof(struct sockaddr_un, sun_path) && given.local.sun_path[0] != 0;
  const int error = is_path ? judge_path(thread, given.local.sun_path) : 0;
  return error != 0 ? error : bind_as(thread, taken, &given.any, length);
}

int judged_bind(pid_t thread, int handle, uint64_t address, uint64_t length) {
  int taken = take_socket(thread, handle);
  if (taken < 0) return errno == EBADF ? EBADF : EACCES;
  const int error = bind_to(thread, taken, address, (socklen_t)length);
  close(taken);
  return error;
}
