#define _GNU_SOURCE
#include "attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Numbers, because headers of older systems have no names for them. */
enum { OPEN_TREE = 428, MOVE_MOUNT = 429, FSOPEN = 430, CLONE3 = 435, MOUNT_SETATTR = 442 };

static int unshare_user(char **arguments) {
  (void)arguments;
  return outcome(syscall(SYS_unshare, CLONE_NEWUSER));
}

static int leave_child(long child) {
  if (child == 0) _exit(0);
  if (child > 0) waitpid((pid_t)child, NULL, 0);
  return outcome(child);
}

static int clone_user(char **arguments) {
  (void)arguments;
  return leave_child(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
}

static int clone3_user(char **arguments) {
  (void)arguments;
  uint64_t request[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
  return leave_child(syscall(CLONE3, request, sizeof request));
}

static int mount_tmpfs(char **arguments) {
  (void)arguments;
  try_to_own(CLONE_NEWNS);
  return outcome(mount("none", "/tmp", "tmpfs", 0, ""));
}

/* The kernel answers EINVAL for a locked mount: the call got through. */
static int umount_path(char **arguments) {
  try_to_own(CLONE_NEWNS);
  return outcome_of_invalid_call(umount2(arguments[0], MNT_DETACH));
}

static int pivot(char **arguments) {
  (void)arguments;
  try_to_own(CLONE_NEWNS);
  mount("none", "/tmp", "tmpfs", 0, "");
  return outcome_of_invalid_call(syscall(SYS_pivot_root, "/tmp", "/tmp"));
}

static int change_root(char **arguments) {
  (void)arguments;
  try_to_own(0);
  return outcome(chroot("/tmp"));
}

static int enter(char **arguments) {
  (void)arguments;
  try_to_own(CLONE_NEWUTS);
  return outcome(syscall(SYS_setns, open("/proc/self/ns/uts", O_RDONLY), CLONE_NEWUTS));
}

static int copy_tree(const char *path) {
  return (int)syscall(OPEN_TREE, AT_FDCWD, path, 1 /* OPEN_TREE_CLONE */ | 0x8000 /* AT_RECURSIVE */);
}

static int open_tree_copy(char **arguments) {
  (void)arguments;
  try_to_own(CLONE_NEWNS);
  return outcome(copy_tree("/tmp"));
}

static int move_tree(char **arguments) {
  (void)arguments;
  try_to_own(CLONE_NEWNS);
  return outcome_of_invalid_call(syscall(MOVE_MOUNT, copy_tree("/tmp"), "", AT_FDCWD, "/tmp", 4 /* F_EMPTY_PATH */));
}

static int open_filesystem(char **arguments) {
  (void)arguments;
  try_to_own(CLONE_NEWNS);
  return outcome(syscall(FSOPEN, "tmpfs", 0));
}

static int change_mount(char **arguments) {
  (void)arguments;
  try_to_own(CLONE_NEWNS);
  uint64_t attributes[4] = {0x200000 /* MOUNT_ATTR_NOSYMFOLLOW */, 0, 0, 0};
  return outcome(syscall(MOUNT_SETATTR, AT_FDCWD, "/tmp", 0, attributes, sizeof attributes));
}

static int rename_host(char **arguments) {
  (void)arguments;
  try_to_own(CLONE_NEWUTS);
  return outcome(sethostname("prober", 6));
}

const struct attempt namespace_attempts[] = {
    {"unshare-user", 0, unshare_user}, {"clone-user", 0, clone_user},       {"clone3-user", 0, clone3_user},
    {"mount", 0, mount_tmpfs},         {"umount", 1, umount_path},          {"pivot-root", 0, pivot},
    {"chroot", 0, change_root},        {"setns", 0, enter},                 {"open-tree", 0, open_tree_copy},
    {"move-mount", 0, move_tree},      {"fsopen", 0, open_filesystem},      {"mount-setattr", 0, change_mount},
    {"sethostname", 0, rename_host},   {0},
};
