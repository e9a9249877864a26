#define _GNU_SOURCE
#include "box/mount-tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* System call numbers, because headers are often older than kernels. */
#define OPEN_TREE 428
#define MOVE_MOUNT 429
#define FSOPEN 430
#define FSCONFIG 431
#define FSMOUNT 432
#define OPENAT2 437
#define MOUNT_SETATTR 442
#define RECURSIVE 0x8000

static int set_attributes(int tree, int flags, unsigned long long attributes) {
  struct mount_attr wanted = {.attr_set = attributes};
  return (int)syscall(MOUNT_SETATTR, tree, "", AT_EMPTY_PATH | flags, &wanted, sizeof wanted);
}

static int close_with(int handle, int result) {
  int error = errno;
  close(handle);
  errno = error;
  return result;
}

int tree_new(const char *type, const char *const *options, unsigned long long attributes) {
  int context = (int)syscall(FSOPEN, type, 1 /* close on exec */);
  if (context < 0) return -1;
  int result = (int)syscall(FSCONFIG, context, FSCONFIG_SET_STRING, "source", type, 0);
  for (; result == 0 && *options != NULL; options += 2) {
    const char *value = options[1][0] == 0 ? NULL : options[1];
    result = (int)syscall(FSCONFIG, context, value == NULL ? FSCONFIG_SET_FLAG : FSCONFIG_SET_STRING, options[0], value, 0);
  }
  if (result == 0) result = (int)syscall(FSCONFIG, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
  if (result == 0) result = (int)syscall(FSMOUNT, context, FSMOUNT_CLOEXEC, attributes);
  return close_with(context, result);
}

int tree_copy(const char *source, unsigned long long attributes) {
  int tree = (int)syscall(OPEN_TREE, AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | RECURSIVE);
  if (tree < 0 || set_attributes(tree, RECURSIVE, attributes) == 0) return tree;
  return close_with(tree, -1);
}

int tree_make_private(const char *path) {
  struct mount_attr wanted = {.propagation = MS_SLAVE};
  return (int)syscall(MOUNT_SETATTR, AT_FDCWD, path, RECURSIVE, &wanted, sizeof wanted);
}

int tree_move(int tree, int directory, const char *path) {
  const unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | (path[0] == 0 ? MOVE_MOUNT_T_EMPTY_PATH : 0);
  return (int)syscall(MOVE_MOUNT, tree, "", directory, path, flags);
}

/* Opens a path inside the new root. Links are followed as programs in the sandbox would follow them. */
static int open_inside(int root, const char *path) {
  struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
  return (int)syscall(OPENAT2, root, path, &how, sizeof how);
}

int tree_parent(int root, const char *path, char *name) {
  char parent[PATH_MAX];
  const char *last = strrchr(path, '/');
  if (last == NULL || last[1] == 0 || strlen(last + 1) > NAME_MAX || strlen(path) >= sizeof parent) return errno = EINVAL, -1;
  if (strcmp(last, "/..") == 0 || strcmp(last, "/.") == 0) return errno = EINVAL, -1;
  strcpy(name, last + 1);
  memcpy(parent, path, (size_t)(last - path));
  parent[last - path] = 0;
  return tree_make_directory(root, parent[0] == 0 ? "/" : parent);
}

int tree_make_directory(int root, const char *path) {
  char name[NAME_MAX + 1];
  int target = open_inside(root, path);
  if (target >= 0 || errno != ENOENT) return target;
  int parent = tree_parent(root, path, name);
  if (parent < 0) return -1;
  return close_with(parent, mkdirat(parent, name, 0755) != 0 ? -1 : open_inside(root, path));
}

/* Mounts over an existing path, which may be a link. */
static int move_over(int tree, int root, const char *path) {
  int target = open_inside(root, path);
  return target < 0 ? -1 : close_with(target, tree_move(tree, target, ""));
}

static int attach_new(int directory, const char *name, int tree) {
  struct stat status;
  if (fstat(tree, &status) != 0) return -1;
  const int made = S_ISDIR(status.st_mode) ? mkdirat(directory, name, 0755) : mknodat(directory, name, S_IFREG | 0444, 0);
  return made != 0 ? -1 : tree_move(tree, directory, name);
}

int tree_attach_at(int directory, const char *name, int tree) {
  return tree < 0 ? -1 : close_with(tree, attach_new(directory, name, tree));
}

int tree_attach(int root, const char *path, int tree) {
  char name[NAME_MAX + 1];
  if (tree < 0) return -1;
  int parent = tree_parent(root, path, name);
  int result = parent < 0 ? -1 : close_with(parent, attach_new(parent, name, tree));
  if (parent >= 0 && result != 0 && errno == EEXIST) result = move_over(tree, root, path);
  return close_with(tree, result);
}

int tree_make_read_only(int root, const char *path) {
  int target = open_inside(root, path);
  return target < 0 ? -1 : close_with(target, set_attributes(target, 0, MOUNT_ATTR_RDONLY));
}
