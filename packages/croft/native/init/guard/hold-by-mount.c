#define _GNU_SOURCE
#include "init/guard/hold-by-mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <linux/stat.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "init/guard/call-judge.h"

#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U
#endif

#define PAUSE_NS 2000000
#define MAX_TRIES 100

#define CLONE_TREE (OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)

/* Mounts `copy` over `name` and closes it. */
static int put_over(int copy, int directory, const char *name, int read_only) {
  if (copy < 0) return -1;
  struct mount_attr attributes = {.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (read_only ? MOUNT_ATTR_RDONLY : 0)};
  int result = (int)syscall(SYS_mount_setattr, copy, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes);
  if (result == 0) result = (int)syscall(SYS_move_mount, copy, "", directory, name, MOVE_MOUNT_F_EMPTY_PATH);
  int error = errno;
  close(copy);
  errno = error;
  return result;
}

int hold(int directory, const char *name, int read_only) {
  return put_over((int)syscall(SYS_open_tree, directory, name, CLONE_TREE | AT_SYMLINK_NOFOLLOW), directory, name, read_only);
}

int cover(int directory, const char *name, int instead) {
  const int copy = (int)syscall(SYS_open_tree, instead, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
  return put_over(copy, directory, name, 0);
}

int is_being_replaced(int *tries) {
  if (errno != ENOENT || (*tries)++ == MAX_TRIES) return 0;
  nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
  return 1;
}

int remove_mount(int directory, const char *name) {
  char path[64 + NAME_MAX];
  snprintf(path, sizeof path, "/proc/self/fd/%d/%s", directory, name);
  return umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
}

uint64_t mount_at(int directory, const char *name) {
  struct statx status;
  if (statx(directory, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_MNT_ID, &status) != 0) return 0;
  return status.stx_mnt_id;
}

int is_mount_changed(int directory, const char *name, uint64_t mount) {
  const uint64_t now = mount_at(directory, name);
  return now != mount && (now != 0 || errno != EACCES);
}

void path_of(int handle, char *path, size_t size) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
  const ssize_t length = readlink(link, path, size - 1);
  path[length < 0 ? 0 : length] = 0;
}

int is_path_below(const char *path, const char *top) {
  const size_t length = strlen(top);
  return strncmp(path, top, length) == 0 && (path[length] == '/' || path[length] == 0);
}

/* The part of the path below `top`, or NULL. */
static const char *rest_below(const char *path, const char *top) {
  const size_t length = strlen(top);
  return !is_path_below(path, top) ? NULL : path[length] == '/' ? path + length + 1 : "";
}

static int count_names(const char *rest) {
  int count = *rest != 0;
  for (; *rest != 0; rest++) count += *rest == '/';
  return count;
}

int depth_of(int directory, char *below, size_t size) {
  char path[PATH_MAX];
  path_of(directory, path, sizeof path);
  const char *rest = rest_below(path, judged_workspace);
  return rest == NULL || snprintf(below, size, "%s", rest) >= (int)size ? -1 : count_names(rest);
}

int git_depth_of(int directory, char *below, size_t size) {
  const int depth = depth_of(directory, below, size);
  if (depth >= 0) return depth;
  char path[PATH_MAX];
  path_of(directory, path, sizeof path);
  for (const char *const *one = judged_writable; *one != NULL; one++) {
    const char *rest = rest_below(path, *one);
    if (rest != NULL) return snprintf(below, size, "%s", path) >= (int)size ? -1 : count_names(rest);
  }
  return -1;
}

void tell_held(const char *rule, const char *path, const char *detail) {
  char text[2 * PATH_MAX];
  const int length = snprintf(text, sizeof text, "%s%c%s%c%s", rule, 0, path, 0, detail);
  if (length > 0 && (size_t)length < sizeof text) judge_tell(text, (size_t)length);
}
