#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "follow/scan-tree.h"

/* The open directories from below the root to the last one asked for. */
static struct {
  struct node *node;
  int handle;
} way[MAX_DEPTH];
static size_t length;

static void shorten(size_t to) {
  while (length > to) close(way[--length].handle);
}

void way_close(void) {
  shorten(0);
}

/* Opens one name, no link, and no other mount. If openat2 is forbidden, the check of the device finds most mounts. */
static int open_in(int handle, const char *name) {
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  const struct open_how how = {.flags = flags, .resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS};
  const int opened = (int)syscall(SYS_openat2, handle, name, &how, sizeof how);
  return opened < 0 && (errno == ENOSYS || errno == EPERM) ? openat(handle, name, flags) : opened;
}

static int fail(int error) {
  if (error == EXDEV) return DIRECTORY_FOREIGN;
  if (error == EACCES || error == EPERM) return DIRECTORY_FORBIDDEN;
  if (error == ENOENT || error == ENOTDIR || error == ELOOP) return DIRECTORY_GONE;
  /* For example without free descriptors: then nothing is known, and "gone" would be false. */
  return DIRECTORY_FAILED;
}

static int enter(int above, struct node *node) {
  struct stat status;
  int handle = open_in(above, node->name);
  if (handle < 0) return fail(errno);
  if (fstat(handle, &status) != 0 || status.st_ino != node->inode) return close(handle), DIRECTORY_GONE;
  if (status.st_dev != node->tree->device) return close(handle), DIRECTORY_FOREIGN;
  way[length].node = node;
  way[length++].handle = handle;
  return handle;
}

/* Collects the ancestors by depth, without the root. */
static int find_ancestors(struct node *node, struct node **found) {
  for (; node->parent != NULL; node = node->parent) {
    if (node->is_to_drop || node->depth > MAX_DEPTH) return -1;
    found[node->depth - 1] = node;
  }
  return 0;
}

int open_node_directory(struct node *node) {
  static struct node *ancestors[MAX_DEPTH];
  if (find_ancestors(node, ancestors) != 0) return DIRECTORY_GONE;
  size_t common = 0;
  while (common < length && common < node->depth && way[common].node == ancestors[common]) common++;
  shorten(common);
  int handle = common == 0 ? node->tree->handle : way[common - 1].handle;
  for (size_t i = common; i < node->depth && handle >= 0; i++) handle = enter(handle, ancestors[i]);
  return handle;
}
