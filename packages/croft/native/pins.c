#define _GNU_SOURCE
#include "pins.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control-files.h"

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

#define CLONE_TREE (OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)

/* Mounts over a link the file that it leads to, and over one that leads to no file something that nobody obeys. */
static int hold_link(int directory, const char *name) {
  struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
  struct stat status;
  const int has_file = fstatat(directory, name, &status, 0) == 0 && S_ISREG(status.st_mode);
  int link = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  int copy = (int)syscall(SYS_open_tree, directory, has_file ? name : "/dev/null", CLONE_TREE);
  int result = link < 0 || copy < 0 ? -1 : 0;
  if (result == 0) result = (int)syscall(SYS_mount_setattr, copy, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes);
  if (result == 0) result = (int)syscall(SYS_move_mount, copy, "", link, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
  int error = errno;
  close(copy);
  close(link);
  errno = error;
  return result;
}

/* Mounts what is at `name` over itself, so that its name cannot be taken from it. */
static int hold(int directory, const char *name, int read_only) {
  int copy = (int)syscall(SYS_open_tree, directory, name, CLONE_TREE | AT_SYMLINK_NOFOLLOW);
  if (copy < 0) return -1;
  struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
  int result = 0;
  if (read_only) result = (int)syscall(SYS_mount_setattr, copy, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes);
  if (result == 0) result = (int)syscall(SYS_move_mount, copy, "", directory, name, MOVE_MOUNT_F_EMPTY_PATH);
  int error = errno;
  close(copy);
  errno = error;
  return result;
}

/* How much of the path is directories that the last pin already held. */
static size_t shared_directories(const char *path, const char *last) {
  size_t shared = 0;
  for (size_t i = 0; path[i] != 0 && path[i] == last[i]; i++)
    if (path[i] == '/') shared = i;
  return shared;
}

/* Walks down by handles: what others swap meanwhile is at worst another place in the same workspace. */
static int place(int root, const struct pin *pin, const char *last) {
  char *path = pin->path;
  const size_t held = shared_directories(path, last);
  int directory = dup(root);
  for (char *name = path + 1, *end; directory >= 0; name = end + 1) {
    end = strchr(name, '/');
    if (end != NULL) *end = 0;
    const int is_new = end == NULL || (size_t)(end - path) > held;
    int result = end == NULL && pin->is_link ? hold_link(directory, name) : is_new ? hold(directory, name, end == NULL) : 0;
    int next = result == 0 && end != NULL ? openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    int error = errno;
    close(directory);
    if (end != NULL) *end = '/';
    errno = error;
    if (end == NULL || result != 0) return result;
    directory = next;
  }
  return -1;
}

int pins_place(const char *root) {
  if (control_files_find(root) != 0) return -1;
  if (pin_count == 0) return 0;
  /* bubblewrap ends in a user namespace below the one that owns its mounts: ours to change are only our own. */
  if (unshare(CLONE_NEWNS) != 0) return -1;
  int top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (top < 0) return -1;
  const char *last = "";
  for (int i = 0; i < pin_count; i++) {
    if (strcmp(pins[i].path, last) == 0) continue;
    if (place(top, &pins[i], last) == 0) last = pins[i].path;
    /* One that went away meanwhile needs no holding; what it shares with the next is held again then. */
    else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) return -1;
  }
  close(top);
  return 0;
}

int pins_drop_privileges(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
  for (int capability = 0; capability <= 63; capability++) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return (int)syscall(SYS_capset, &header, none);
}
