#define _GNU_SOURCE
#include "init/guard/hold-control-files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init/control-files/control-names.h"
#include "init/control-files/find-control-files.h"
#include "init/guard/hold-by-mount.h"
#include "init/guard/hold-repositories.h"
#include "init/guard/private-copies-of-directories.h"
#include "init/guard/private-copies-of-files.h"
#include "init/guard/set-aside-files.h"
#include "init/guard/stop-programs.h"

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

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

#define CLONE_TREE (OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)

/* Mounts over a link the file that it leads to, or /dev/null if it leads to no file. */
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

/* Returns how much of the path is directories that the last guarded file already holds. */
static size_t shared_directories(const char *path, const char *last) {
  size_t shared = 0;
  for (size_t i = 0; path[i] != 0 && path[i] == last[i]; i++)
    if (path[i] == '/') shared = i;
  return shared;
}

/* A directory or file that cannot be copied is held read-only instead. */
static int hold_instead(int directory, const char *name) {
  return errno == EFBIG || errno == EMFILE || errno == ENOSPC || errno == EACCES ? hold(directory, name, 1) : -1;
}

static int hold_copy(int directory, const char *name) {
  return private_cover(directory, name) == 0 ? 0 : hold_instead(directory, name);
}

/* Whether it is a plain control file at the top. */
static int is_file_at_top(int directory, const char *name, const struct guarded_file *guarded) {
  struct stat status;
  if (strcmp(guarded->path + 1, name) != 0 || !is_control_file(name)) return 0;
  return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

static int hold_file(int directory, const char *name, const struct guarded_file *guarded) {
  if (!is_file_at_top(directory, name, guarded)) return hold(directory, name, 1);
  return private_file_cover(directory, name) == 0 ? 0 : hold_instead(directory, name);
}

static int hold_last(int directory, const char *name, const struct guarded_file *guarded) {
  return guarded->is_link ? hold_link(directory, name) : guarded->is_copy ? hold_copy(directory, name) : hold_file(directory, name, guarded);
}

/* Walks down by descriptors: a path that is swapped meanwhile leads at worst to another place in the same workspace. */
static int place(int root, const struct guarded_file *guarded, const char *last) {
  char *path = guarded->path;
  const size_t held = shared_directories(path, last);
  int directory = dup(root);
  for (char *name = path + 1, *end; directory >= 0; name = end + 1) {
    end = strchr(name, '/');
    if (end != NULL) *end = 0;
    const int is_new = end == NULL || (size_t)(end - path) > held;
    int result = end == NULL ? hold_last(directory, name, guarded) : is_new ? hold(directory, name, 0) : 0;
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

/* Plain settings and hooks are held with their repository, which lets git change safe settings. */
static int is_held_by_repository(const char *path) {
  const char *name = strrchr(path, '/');
  if (strcmp(name, "/config") != 0 && strcmp(name, "/hooks") != 0) return 0;
  const size_t length = (size_t)(name - path);
  for (int i = 0; i < found_repositories.count; i++)
    if (strncmp(found_repositories.paths[i], path, length) == 0 && found_repositories.paths[i][length] == 0) return 1;
  return 0;
}

static int place_pins(int top) {
  const char *last = "";
  for (int i = 0; i < guarded_file_count; i++) {
    if (strcmp(guarded_files[i].path, last) == 0 || (!guarded_files[i].is_link && is_held_by_repository(guarded_files[i].path))) continue;
    if (place(top, &guarded_files[i], last) == 0) last = guarded_files[i].path;
    /* A file that is gone needs no guard; directories that it shares with the next guarded file are held then. */
    else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) return -1;
  }
  return 0;
}

static int is_in_a_copy(const char *path) {
  for (int i = 0; i < found_copies.count; i++) {
    const size_t length = strlen(found_copies.paths[i]);
    if (strncmp(found_copies.paths[i], path, length) == 0 && path[length] == '/') return 1;
  }
  return 0;
}

static void note_mounts(int top) {
  for (int i = 0; i < guarded_file_count; i++) {
    const int is_others = !guarded_files[i].is_link && is_held_by_repository(guarded_files[i].path);
    if (!is_others && !is_in_a_copy(guarded_files[i].path)) guarded_files[i].mount = mount_at(top, guarded_files[i].path + 1);
  }
}

/* Opens a directory below the root without following links. `path` starts with a slash. */
static int open_below(int top, const char *path) {
  struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
  return (int)syscall(SYS_openat2, top, path[0] == 0 || path[1] == 0 ? "." : path + 1, &how, sizeof how);
}

static int hold_found_copies(int top) {
  for (int i = 0; i < found_copies.count; i++) {
    char *name = strrchr(found_copies.paths[i], '/');
    *name = 0;
    int parent = open_below(top, found_copies.paths[i]);
    *name = '/';
    int result = parent < 0 ? 0 : hold_copy(parent, name + 1);
    if (parent >= 0) close(parent);
    if (result != 0 && errno != ENOENT && errno != ENOTDIR) return -1;
  }
  return 0;
}

static uint64_t own_git;

/* Holds the workspace's own git directory in place. */
static int hold_own_git(int top) {
  struct stat status;
  if (fstatat(top, ".git", &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(status.st_mode)) return 0;
  /* It is guarded as a whole, because we may not read it. */
  for (int i = 0; i < guarded_file_count; i++)
    if (strncmp(guarded_files[i].path, "/.git", 5) == 0 && (guarded_files[i].path[5] == 0 || guarded_files[i].path[5] == '/')) return 0;
  if (hold(top, ".git", 0) != 0) return -1;
  own_git = mount_at(top, ".git");
  return 0;
}

/* The rest is held by name, and by a mount as soon as a program changes its settings: a workspace with more repositories
   must still open, so that somebody can remove them. Space is left for those that programs will make. */
#define MAX_HELD_AT_START 768

static int hold_found_repositories(int top) {
  for (int i = 0, held = 0; i < found_repositories.count; i++) {
    const int is_own = strcmp(found_repositories.paths[i], "/.git") == 0;
    if (!is_own && held >= MAX_HELD_AT_START) continue;
    int directory = open_below(top, found_repositories.paths[i]);
    if (directory < 0) continue;
    int result = repository_hold(directory, is_own);
    close(directory);
    if (result != 0) return -1;
    held++;
  }
  return 0;
}

static int root_handle = -1;

int guard_control_files(const char *root) {
  if (control_files_find(root) != 0 || files_at_top_know(root) != 0) return -1;
  /* bubblewrap puts us in a user namespace below the one that owns its mounts, so we can change only mounts of our
     own namespace. */
  if (unshare(CLONE_NEWNS) != 0) return -1;
  root_handle = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root_handle < 0 || place_pins(root_handle) != 0) return -1;
  if (hold_own_git(root_handle) != 0 || hold_found_repositories(root_handle) != 0 || hold_found_copies(root_handle) != 0) return -1;
  note_mounts(root_handle);
  return 0;
}

/* Holds a file again that somebody outside replaced. A file that they removed is held when it comes back: files that
   programs create in its place are renamed. */
static int hold_file_again(struct guarded_file *guarded) {
  struct stat status;
  if (fstatat(root_handle, guarded->path + 1, &status, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? 0 : -1;
  if (guarded->is_link || guarded->is_copy || strchr(guarded->path + 1, '/') != NULL || !S_ISREG(status.st_mode)) return -1;
  if (stop_programs() != 0) return -1;
  int result = 0, tries = 0;
  do result = hold_file(root_handle, guarded->path + 1, guarded);
  while (result != 0 && is_being_replaced(&tries));
  guarded->mount = mount_at(root_handle, guarded->path + 1);
  continue_programs();
  return result;
}

int check_guarded_files(void) {
  if (own_git != 0 && is_mount_changed(root_handle, ".git", own_git)) return -1;
  for (int i = 0; i < guarded_file_count; i++)
    if (guarded_files[i].mount != 0 && is_mount_changed(root_handle, guarded_files[i].path + 1, guarded_files[i].mount) && hold_file_again(&guarded_files[i]) != 0) return -1;
  return private_check();
}

static int is_below(const char *path, const char *guarded) {
  const size_t length = strlen(guarded);
  return strncmp(path, guarded, length) == 0 && path[length] == '/';
}

/* A file at the top is a copy on another file system, or it is held as others are. */
static int is_covered_at_top(const char *path) {
  struct stat file, top;
  if (strchr(path + 1, '/') != NULL || !is_control_file(path + 1)) return 0;
  if (fstatat(root_handle, path + 1, &file, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
  return fstat(root_handle, &top) == 0 && file.st_dev != top.st_dev;
}

int is_guarded_path(const char *below, const char *name, int is_on_disk) {
  char path[2 * PATH_MAX];
  snprintf(path, sizeof path, "%s%s/%s", below[0] == 0 ? "" : "/", below, name);
  for (int i = 0; i < guarded_file_count; i++) {
    const struct guarded_file *one = &guarded_files[i];
    if (one->is_copy ? is_on_disk && is_below(path, one->path) : one->mount != 0 && (is_below(path, one->path) || strcmp(path, one->path) == 0))
      return !is_covered_at_top(path);
  }
  for (int i = 0; is_on_disk && i < found_copies.count; i++)
    if (is_below(path, found_copies.paths[i])) return 1;
  return 0;
}

int drop_privileges(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
  for (int capability = 0; capability <= 63; capability++) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return (int)syscall(SYS_capset, &header, none);
}
