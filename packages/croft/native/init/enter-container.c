#define _GNU_SOURCE
#include "init/enter-container.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "init/server-socket.h"

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

/* The user that programs run as: croft of native/etc/passwd. */
#define OWN_ID 1000

static int dial_as(int handle, const struct sockaddr_un *address) {
  int connection = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connection < 0 || connect(connection, (const struct sockaddr *)address, sizeof *address) != 0) return -1;
  if (connection == handle) return 0;
  if (dup2(connection, handle) < 0) return -1;
  return close(connection);
}

int container_dial(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return errno = ENAMETOOLONG, -1;
  strcpy(address.sun_path, path);
  /* The server takes the first connection for frames and the second for error output. */
  if (dial_as(SOCKET, &address) != 0) return -1;
  return dial_as(STDERR_FILENO, &address);
}

static int is_workspace(const char *workspace, const char *identity) {
  char found[64];
  struct stat status;
  if (stat(workspace, &status) != 0) return 0;
  snprintf(found, sizeof found, "%llu:%llu", (unsigned long long)status.st_dev, (unsigned long long)status.st_ino);
  return strcmp(found, identity) == 0;
}

static int put(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t written = write(file, text, strlen(text));
  int error = errno;
  close(file);
  errno = error;
  return written == (ssize_t)strlen(text) ? 0 : -1;
}

static int map_id(const char *path, unsigned outside) {
  char text[64];
  snprintf(text, sizeof text, "%d %u 1", OWN_ID, outside);
  return put(path, text);
}

/* EINVAL means that the path is no mount of its own: then it is part of the root, which is read-only. */
static int make_read_only(const char *path) {
  struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY};
  int result = (int)syscall(SYS_mount_setattr, AT_FDCWD, path, 0, &attributes, sizeof attributes);
  return result != 0 && errno == EINVAL ? 0 : result;
}

/* Covers a directory that describes this machine and that no program needs. */
static int cover(const char *path) {
  return mount("nothing", path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=555");
}

int container_enter(const char *workspace, const char *identity) {
  if (!is_workspace(workspace, identity)) return errno = ESTALE, -1;
  const uid_t user = getuid();
  const gid_t group = getgid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP) != 0) return -1;
  if (put("/proc/self/setgroups", "deny") != 0 || map_id("/proc/self/uid_map", user) != 0) return -1;
  if (map_id("/proc/self/gid_map", group) != 0) return -1;
  /* Podman mounts a writable /run. */
  if (make_read_only("/proc") != 0 || make_read_only("/dev") != 0 || make_read_only("/run") != 0) return -1;
  return cover("/sys");
}
