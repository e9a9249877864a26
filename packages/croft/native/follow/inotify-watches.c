#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/inotify.h>

#include "follow/followed-tree.h"

#define OF_DIRECTORY                                                                                             \
  (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_EXCL_UNLINK | \
   IN_ONLYDIR)
/* Events of a file, by whichever name it is changed, even one outside the tree. */
#define OF_FILE (IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVE_SELF | IN_DONT_FOLLOW)

int inotify = -1;

static struct watch **buckets;
static size_t bucket_count, watch_count, max_watches;

void watches_prepare(unsigned long max) {
  max_watches = max;
  /* A user has few inotify instances, and editors take many. Without one, every scan is a full scan. */
  inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
}

static void put(struct watch *watch) {
  struct watch **bucket = &buckets[(size_t)watch->number & (bucket_count - 1)];
  watch->same_bucket = *bucket;
  *bucket = watch;
}

static int make_room(void) {
  if (watch_count < bucket_count) return 0;
  struct watch **old = buckets;
  const size_t old_count = bucket_count;
  struct watch **more = calloc(old_count == 0 ? 64 : old_count * 2, sizeof *more);
  if (more == NULL) return -1;
  buckets = more;
  bucket_count = old_count == 0 ? 64 : old_count * 2;
  for (size_t i = 0; i < old_count; i++)
    for (struct watch *watch = old[i], *next; watch != NULL; watch = next) next = watch->same_bucket, put(watch);
  free(old);
  return 0;
}

struct watch *watch_find(int number) {
  struct watch *watch = bucket_count == 0 ? NULL : buckets[(size_t)number & (bucket_count - 1)];
  while (watch != NULL && watch->number != number) watch = watch->same_bucket;
  return watch;
}

static struct watch *add(int number) {
  struct watch *watch = make_room() != 0 ? NULL : calloc(1, sizeof *watch);
  if (watch == NULL) return NULL;
  watch->number = number;
  watch_count++;
  put(watch);
  return watch;
}

static void drop(struct watch *watch) {
  struct watch **at = &buckets[(size_t)watch->number & (bucket_count - 1)];
  while (*at != watch) at = &(*at)->same_bucket;
  *at = watch->same_bucket;
  watch_count--;
  free(watch);
}

static void leave_watch(struct node *node) {
  if (node->next_watched != NULL) node->next_watched->previous_watched = node->previous_watched;
  if (node->previous_watched != NULL) node->previous_watched->next_watched = node->next_watched;
  else node->watch->nodes = node->next_watched;
  node->watch = NULL;
  node->next_watched = node->previous_watched = NULL;
}

void node_unwatch(struct node *node) {
  struct watch *watch = node->watch;
  if (watch == NULL) return;
  leave_watch(node);
  if (watch->nodes != NULL) return;
  inotify_rm_watch(inotify, watch->number);
  drop(watch);
}

void watch_forget(struct watch *watch) {
  while (watch->nodes != NULL) {
    watch->nodes->is_dead = 1;
    leave_watch(watch->nodes);
  }
  drop(watch);
}

/* A directory has one path: the node that had the watch before stands for the old path. */
static void take_over(struct watch *watch, const struct node *by) {
  for (struct node *node = watch->nodes, *next; node != NULL; node = next) {
    next = node->next_watched;
    if (node == by || !node->is_directory || node->tree != by->tree) continue;
    node->is_dead = 1;
    leave_watch(node);
  }
}

static void join(struct node *node, struct watch *watch) {
  node->watch = watch;
  watch->heard = 0;
  node->next_watched = watch->nodes;
  if (watch->nodes != NULL) watch->nodes->previous_watched = node;
  watch->nodes = node;
}

int watch_node(struct node *node, const char *path) {
  const int number = inotify_add_watch(inotify, path, node->is_directory ? OF_DIRECTORY : OF_FILE);
  if (number < 0) return -1;
  struct watch *watch = watch_find(number);
  if (watch == NULL && (watch_count >= max_watches || (watch = add(number)) == NULL)) {
    inotify_rm_watch(inotify, number);
    errno = ENOSPC;
    return -1;
  }
  if (node->watch == watch) return 0;
  node_unwatch(node);
  if (node->is_directory) take_over(watch, node);
  join(node, watch);
  return 0;
}
