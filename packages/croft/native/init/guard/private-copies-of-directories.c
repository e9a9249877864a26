#define _GNU_SOURCE
#include "init/guard/private-copies-of-directories.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init/guard/copy-tree.h"
#include "init/guard/hold-by-mount.h"
#include "init/guard/hooks-directory.h"
#include "init/guard/stop-programs.h"

#define HOME "/tmp/.croft-private"
#define MAX_COPIES 256

struct copy {
  int real, own; /* descriptors of both directories */
  int parent;
  char name[NAME_MAX + 1], below[PATH_MAX];
  uint64_t mount, told; /* fingerprint of the copy when it was last reported */
};

static struct copy copies[MAX_COPIES];
static int copy_count;

static struct copy *find(int parent, const char *name) {
  struct stat asked, known;
  if (fstat(parent, &asked) != 0) return NULL;
  for (struct copy *one = copies; one < copies + copy_count; one++)
    if (one->parent >= 0 && strcmp(one->name, name) == 0 && fstat(one->parent, &known) == 0 && asked.st_ino == known.st_ino &&
        asked.st_dev == known.st_dev)
      return one;
  return NULL;
}

static int make_home(int number) {
  char path[sizeof HOME + 16];
  snprintf(path, sizeof path, HOME "/%d", number);
  if (mkdir(HOME, 0700) != 0 && errno != EEXIST) return -1;
  if (mkdir(path, 0755) != 0) return -1;
  return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void forget(struct copy *one) {
  if (one->real >= 0) close(one->real);
  if (one->own >= 0) close(one->own);
  if (one->parent >= 0) close(one->parent);
  one->real = one->own = one->parent = -1;
}

static int fill(struct copy *one, int parent, const char *name) {
  char below[PATH_MAX];
  if (depth_of(parent, below, sizeof below) < 0) return errno = EINVAL, -1;
  if (snprintf(one->below, sizeof one->below, "%s%s%s", below, below[0] == 0 ? "" : "/", name) >= PATH_MAX) return -1;
  snprintf(one->name, sizeof one->name, "%s", name);
  one->parent = openat(parent, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  one->real = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  one->own = one->parent < 0 || one->real < 0 ? -1 : make_home(copy_count);
  if (one->own < 0 || copy_tree(one->real, one->own) != 0) return -1;
  one->told = tree_mark(one->own);
  if (cover(one->parent, name, one->own) != 0) return -1;
  one->mount = mount_at(one->parent, name);
  return 0;
}

int private_cover(int parent, const char *name) {
  if (copy_count == MAX_COPIES) return errno = EMFILE, -1;
  struct copy *one = &copies[copy_count];
  *one = (struct copy){.real = -1, .own = -1, .parent = -1};
  if (fill(one, parent, name) == 0) return copy_count++, 0;
  int error = errno;
  forget(one);
  copy_count++; /* the directory of the copy exists */
  errno = error;
  return -1;
}

int private_make(int parent, const char *name) {
  if (stop_programs() != 0) return errno = EACCES, -1;
  int result = mkdirat(parent, name, 0755);
  if (result == 0 && private_cover(parent, name) != 0) result = (unlinkat(parent, name, AT_REMOVEDIR), errno = EACCES, -1);
  int error = errno;
  continue_programs();
  errno = error;
  return result;
}

int private_remove(int parent, const char *name, int *result) {
  static const char *const nothing[] = {".", ".."};
  struct copy *one = find(parent, name);
  if (one == NULL) return 0;
  *result = -1;
  if (!lists_only(one->own, nothing, 2)) return errno = ENOTEMPTY, 1;
  if (!lists_only(one->real, nothing, 2)) return errno = EBUSY, 1;
  if (remove_mount(one->parent, name) != 0) return 1;
  *result = unlinkat(one->parent, name, AT_REMOVEDIR);
  forget(one);
  return 1;
}

static int cover_if_there(int parent, const char *name, const char *below) {
  struct stat status;
  if (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(status.st_mode)) return 0;
  return is_anybody_below(below) ? (errno = EBUSY, -1) : private_cover(parent, name);
}

static int cover_again(int parent, const char *name, const char *below) {
  if (stop_programs() != 0) return -1;
  int result = 0, tries = 0;
  do result = cover_if_there(parent, name, below);
  while (result != 0 && is_being_replaced(&tries));
  continue_programs();
  return result;
}

int private_adopt(int parent, const char *name) {
  char below[PATH_MAX], whole[2 * PATH_MAX];
  const struct copy *one = find(parent, name);
  if (one != NULL && !is_mount_changed(one->parent, one->name, one->mount)) return 0;
  if (one != NULL) return private_check();
  if (depth_of(parent, below, sizeof below) < 0) return 0;
  snprintf(whole, sizeof whole, "%s%s%s", below, below[0] == 0 ? "" : "/", name);
  return cover_again(parent, name, whole);
}

int private_check(void) {
  for (int i = 0, count = copy_count; i < count; i++) {
    struct copy *one = &copies[i];
    if (one->parent < 0 || !is_mount_changed(one->parent, one->name, one->mount)) continue;
    int parent = dup(one->parent);
    forget(one);
    int result = parent < 0 ? -1 : cover_again(parent, one->name, one->below);
    if (parent >= 0) close(parent);
    if (result != 0) return -1;
  }
  return 0;
}

static void tell_difference(void *context, const char *path) {
  const struct copy *one = context;
  char whole[2 * PATH_MAX];
  snprintf(whole, sizeof whole, "%s/%s", one->below, path);
  tell_held("held-back", whole, "");
}

void private_tell(void) {
  for (struct copy *one = copies; one < copies + copy_count; one++) {
    if (one->parent < 0) continue;
    const uint64_t mark = tree_mark(one->own);
    if (mark == one->told) continue;
    one->told = mark;
    compare_trees(one->own, one->real, tell_difference, one);
  }
}
