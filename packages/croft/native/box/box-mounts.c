#define _GNU_SOURCE
#include "box/box-mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "box/bwrap-arguments.h"
#include "box/make-box.h"
#include "box/mount-tree.h"

#define DETACH 2 /* MNT_DETACH; sys/mount.h cannot be included together with linux/mount.h */
#define HARMLESS (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

static int root = -1;

int mounts_begin(void) {
  /* Mounts made here must not propagate to the host. */
  if (tree_make_private("/") != 0) return -1;
  root = tree_new("tmpfs", (const char *const[]){"mode", "0755", NULL}, HARMLESS);
  return root < 0 ? -1 : tree_move(root, AT_FDCWD, "/");
}

int mounts_finish(void) {
  if (fchdir(root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 || syscall(SYS_umount2, ".", DETACH) != 0) return -1;
  return close(root), chdir("/");
}

static int show(const char *source, const char *path, unsigned long long attributes) {
  return tree_attach(root, path, tree_copy(source, attributes));
}

/* Mounts the directory that the descriptor refers to. The descriptor is of the host's mount namespace and cannot be
   mounted itself, so its path is mounted and compared with it. */
static int show_handle(int handle, const char *path, unsigned long long attributes) {
  char link[64], source[PATH_MAX];
  struct stat wanted, found;
  snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
  ssize_t length = readlink(link, source, sizeof source - 1);
  if (length < 0 || fstat(handle, &wanted) != 0) return -1;
  source[length] = 0;
  int tree = tree_copy(source, attributes);
  if (tree < 0 || fstat(tree, &found) != 0) return -1;
  if (found.st_dev != wanted.st_dev || found.st_ino != wanted.st_ino) return errno = ESTALE, -1;
  return tree_attach(root, path, tree);
}

static int make_tmpfs(const char *path, const char *size) {
  const char *const options[] = {"mode", "0755", size == NULL ? NULL : "size", size, NULL};
  return tree_attach(root, path, tree_new("tmpfs", options, HARMLESS));
}

static int make_link(const char *text, const char *path) {
  char name[NAME_MAX + 1];
  int directory = tree_parent(root, path, name);
  if (directory < 0) return -1;
  int result = symlinkat(text, directory, name);
  close(directory);
  return result;
}

/* /proc is mounted read-only from the start. */
static int make_proc(const char *path) {
  return tree_attach(root, path, tree_new("proc", (const char *const[]){NULL}, HARMLESS | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY));
}

static int fill_dev(int dev) {
  static const char *const devices[] = {"null", "zero", "full", "random", "urandom", "tty"};
  static const char *const links[][2] = {{"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"}, {"/proc/self/fd/2", "stderr"},
                                         {"/proc/self/fd", "fd"},      {"/proc/kcore", "core"},       {"pts/ptmx", "ptmx"}};
  static const char *const terminals[] = {"newinstance", "", "ptmxmode", "0666", "mode", "620", NULL};
  char from[64];
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    snprintf(from, sizeof from, "/dev/%s", devices[i]);
    if (tree_attach_at(dev, devices[i], tree_copy(from, MOUNT_ATTR_NOSUID)) != 0) return -1;
  }
  for (size_t i = 0; i < sizeof links / sizeof *links; i++)
    if (symlinkat(links[i][0], dev, links[i][1]) != 0) return -1;
  return tree_attach_at(dev, "pts", tree_new("devpts", terminals, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC));
}

static int make_dev(const char *path) {
  if (make_tmpfs(path, NULL) != 0) return -1;
  int dev = tree_make_directory(root, path);
  if (dev < 0) return -1;
  int result = fill_dev(dev);
  close(dev);
  return result;
}

static int make_directory(const char *path) {
  int directory = tree_make_directory(root, path);
  return directory < 0 ? -1 : close(directory);
}

static int make(enum word word, char *const *values, const char *size) {
  switch (word) {
    case WORD_SHOW:
      return show(values[0], values[1], HARMLESS | MOUNT_ATTR_RDONLY);
    case WORD_BIND:
      return show(values[0], values[1], HARMLESS);
    case WORD_BIND_HANDLE:
      return show_handle(atoi(values[0]), values[1], HARMLESS);
    case WORD_SHOW_HANDLE:
      return show_handle(atoi(values[0]), values[1], HARMLESS | MOUNT_ATTR_RDONLY);
    case WORD_TMPFS:
      return make_tmpfs(values[0], size);
    case WORD_DIRECTORY:
      return make_directory(values[0]);
    case WORD_LINK:
      return make_link(values[0], values[1]);
    case WORD_PROC:
      return make_proc(values[0]);
    case WORD_DEV:
      return make_dev(values[0]);
    case WORD_REMOUNT_READ_ONLY:
      return tree_make_read_only(root, values[0]);
    default:
      return 0;
  }
}

int mounts_make(char *const *words) {
  const char *size = NULL;
  for (char *const *values;;) {
    const enum word word = word_next(&words, &values);
    if (word == WORD_END) return 0;
    if (word == WORD_UNKNOWN) return errno = EINVAL, -1;
    if (make(word, values, size) != 0) return -1;
    /* --size applies to the next --tmpfs only. */
    size = word == WORD_SIZE ? values[0] : NULL;
  }
}
