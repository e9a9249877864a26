#define _GNU_SOURCE
#include "follow/scan-tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "follow/directory-entries.h"
#include "follow/follow-output.h"
#include "follow/hard-links.h"
#include "follow/low-priority.h"
#include "init/server-socket.h"

uint32_t scan_number;
static int is_whole;      /* this scan lists everything, so removals need no record */
static int is_not_enough; /* the changes cannot be found by scanning the dirty names alone */
static int failure;       /* errno */
static int is_short;      /* this scan found that no watches are left */
static int is_polling;    /* subdirectories that are already known are not listed again */
static struct node *to_list, *to_drop;

/* Nodes are freed after the scan: until then other nodes may take over their watches. */
static void drop_later(struct node *node) {
  node->is_to_drop = 1;
  if (!node->is_directory) node_unwatch(node);
  node->next_to_do = to_drop;
  to_drop = node;
}

static void list_later(struct node *node) {
  node->listed = scan_number;
  node->next_to_do = to_list;
  to_list = node;
}

/* Marks a directory for scanning every time, because it, or one of its files with several names, has no watch. */
static void leave_unwatched(struct node *node) {
  struct node *directory = node->is_directory ? node : node->parent;
  if (node->is_directory) node->is_dead = 0;
  directory->is_unwatched = 1;
  directory->tree->is_unwatched = 1;
}

static void watch(struct node *node, int directory, const char *name) {
  char path[32 + NAME_MAX];
  if (node->is_directory) node->is_unwatched = 0;
  if (is_short && node->watch == NULL) return leave_unwatched(node);
  snprintf(path, sizeof path, name == NULL ? "/proc/self/fd/%d" : "/proc/self/fd/%d/%s", directory, name);
  if (watch_node(node, path) == 0) node->is_dead = 0;
  /* ENOENT: the removal has been reported or will be. A file that we may not read has no watch of its own. */
  else if (errno != ENOENT && (errno != EACCES || name == NULL)) {
    is_short = 1;
    leave_unwatched(node);
  }
}

/* --- one name --- */

static struct node *add_node(struct node *directory, const char *name, size_t length, const struct stat *status) {
  struct node *node = node_add(directory->tree, directory, name, length);
  if (node == NULL) die("memory");
  node->inode = status->st_ino;
  node->is_directory = S_ISDIR(status->st_mode);
  return node;
}

/* A file with several names has a watch of its own: its directory gets no event for changes by another name. */
static void see_links(struct node *directory, struct node *known, const char *name, size_t length, const struct stat *status, int handle) {
  if (known != NULL && known->inode != status->st_ino) {
    drop_later(known);
    known = NULL;
  }
  struct node *node = known != NULL ? known : add_node(directory, name, length, status);
  node->seen = scan_number;
  /* While this file was not watched, changes by its other names were missed, unless the directories of all names are
     scanned. */
  if (node->watch == NULL && !directory->is_unwatched) node->links = 0;
  watch(node, handle, name);
  if (is_whole) node->links = (uint32_t)status->st_nlink;
  else if (node->links != status->st_nlink) suspects_add(node, status->st_nlink);
}

static int is_same(const struct node *known, const struct stat *status) {
  return known->is_directory && !known->is_dead && known->inode == status->st_ino;
}

static int can_enter(const struct node *directory, size_t length, const struct stat *status) {
  return directory->depth < MAX_DEPTH && length <= NAME_MAX && directory->path_length + 1 + length <= MAX_PATH_BYTES &&
         status->st_dev == directory->tree->device;
}

static void see_directory(struct node *directory, struct node *known, const char *name, size_t length, const struct stat *status) {
  if (!can_enter(directory, length, status)) return;
  if (known != NULL && !is_same(known, status)) known = NULL;
  if (known == NULL) known = add_node(directory, name, length, status);
  const int is_listed = known->listed != 0 && !known->is_unread;
  known->seen = scan_number;
  if (!is_polling || !is_listed) list_later(known);
}

/* Records what is at a name of the directory that is being listed. */
static void see(struct node *directory, const char *name, size_t length, const struct stat *status, int handle) {
  struct node *known = node_find(directory, name, length);
  /* A full scan needs no record of removals. */
  if (is_polling && known != NULL && known->is_directory && !is_same(known, status)) out_sighting(directory, name, length, NULL);
  out_sighting(directory, name, length, status);
  if (S_ISDIR(status->st_mode)) return see_directory(directory, known, name, length, status);
  if (known != NULL && known->is_directory) known = NULL;
  if (status->st_nlink > 1 && length <= NAME_MAX) see_links(directory, known, name, length, status, handle);
}

/* --- whole directories --- */

static void read_entry(struct node *directory, int handle, const char *name) {
  struct stat status;
  const size_t length = strlen(name);
  if (fstatat(handle, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
    digest_add(name, length, &status);
    return see(directory, name, length, &status, handle);
  }
  if (errno != ENOENT) directory->is_unread = 1;
}

static void digest_entry(struct node *directory, int handle, const char *name) {
  struct stat status;
  const size_t length = strlen(name);
  if (fstatat(handle, name, &status, AT_SYMLINK_NOFOLLOW) == 0) return digest_add(name, length, &status);
  if (errno != ENOENT) directory->digest = 0;
}

static void drop_unseen(struct node *directory) {
  for (struct node *child = directory->children; child != NULL; child = child->next)
    if (child->seen != scan_number && !child->is_to_drop) drop_later(child);
}

/* The watch is added before the listing, so that changes during the listing cause events. */
static void list(struct node *directory) {
  const int handle = open_node_directory(directory);
  directory->is_unread = handle == DIRECTORY_FORBIDDEN;
  if (handle == DIRECTORY_GONE) directory->is_dead = 1;
  if (handle == DIRECTORY_FAILED) failure = errno;
  if (handle >= 0) {
    watch(directory, handle, NULL);
    if (read_entries(directory, handle, read_entry) != 0) failure = errno;
    directory->digest = directory->is_unread ? 0 : digest;
  }
  drop_unseen(directory);
}

static void list_all(void) {
  while (to_list != NULL) {
    struct node *node = to_list;
    to_list = node->next_to_do;
    if (failure == 0) list(node);
  }
}

/* --- changed names --- */

/* Forgets a node whose name now belongs to something else. */
static void forget(struct node *known, const struct stat *status) {
  const int is_other = known->inode != status->st_ino || S_ISDIR(status->st_mode) || status->st_nlink < 2;
  if (known->is_directory) out_sighting(known->parent, known->name, known->length, NULL);
  if (known->is_directory || is_other) drop_later(known);
}

static void scan_name(struct node *directory, const char *name, size_t length, int handle) {
  struct node *known = node_find(directory, name, length);
  struct stat status;
  if (fstatat(handle, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno != ENOENT) is_not_enough = 1;
    out_sighting(directory, name, length, NULL);
    if (known != NULL) drop_later(known);
    return;
  }
  if (known != NULL && is_same(known, &status) && !known->is_unread) return out_sighting(directory, name, length, &status);
  if (known != NULL) forget(known, &status);
  see(directory, name, length, &status, handle);
  list_all();
}

static void scan_dirty(const struct dirty_set *dirty) {
  for (size_t i = 0; i < dirty->count && !is_not_enough && failure == 0; i++) {
    const struct dirty *entry = dirty->entries[i];
    struct node *directory = entry->directory;
    /* A moved directory is listed completely at its new path, in this scan or when its event comes. */
    if (directory->is_dead || directory->is_to_drop || directory->listed == scan_number) continue;
    const int handle = open_node_directory(directory);
    if (handle == DIRECTORY_FAILED) failure = errno;
    if (handle == DIRECTORY_FORBIDDEN) is_not_enough = 1;
    if (handle >= 0) scan_name(directory, entry->name, entry->length, handle);
  }
}

/* --- directories without a watch --- */

/* Whether the directory is unchanged since it was last listed. Tries to watch it again first: another program may
   have freed a watch. */
static int is_as_listed(struct node *directory, int handle) {
  const uint64_t known = directory->digest;
  if (directory->watch == NULL && !is_short) {
    watch(directory, handle, NULL);
    /* Its files may need watches too, so it is listed. */
    if (!directory->is_unwatched) return 0;
  }
  if (read_entries(directory, handle, digest_entry) != 0) failure = errno;
  return known != 0 && directory->digest == known && digest == known;
}

static void poll_directory(struct node *directory) {
  const int handle = open_node_directory(directory);
  if (handle == DIRECTORY_FAILED) failure = errno;
  if (handle < 0 || is_as_listed(directory, handle)) return;
  out_listed(directory);
  directory->listed = scan_number;
  is_polling = 1;
  list(directory);
  is_polling = 0;
  list_all();
}

static void poll_unwatched(struct tree *tree) {
  tree->is_unwatched = 0;
  for (struct node *node = tree->root; node != NULL && !is_not_enough && failure == 0; node = node_after(node)) {
    if (!node->is_directory || !node->is_unwatched) continue;
    if (!node->is_dead && !node->is_to_drop && node->listed != scan_number) poll_directory(node);
    if (node->is_unwatched) tree->is_unwatched = 1;
  }
}

/* --- the scan --- */

static int has_left(const struct node *node) {
  while (node != NULL && !node->is_to_drop) node = node->parent;
  return node != NULL;
}

/* Drops events of directories that are about to be freed. */
static void forget_dirty(struct tree *tree) {
  struct dirty_set kept = {0};
  for (size_t i = 0; i < tree->dirty.count; i++) {
    const struct dirty *entry = tree->dirty.entries[i];
    if (has_left(entry->directory)) continue;
    if (dirty_add(&kept, SIZE_MAX, entry->directory, entry->name, entry->length) != 0) tree->is_everything_dirty = 1;
  }
  dirty_free(&tree->dirty);
  tree->dirty = kept;
}

/* Frees the topmost nodes; the nodes below go with them. */
static void drop_all(struct tree *tree) {
  struct node *topmost = NULL;
  if (to_drop != NULL) forget_dirty(tree);
  for (struct node *node = to_drop, *next; node != NULL; node = next) {
    next = node->next_to_do;
    if (has_left(node->parent)) continue;
    node->next_to_do = topmost;
    topmost = node;
  }
  for (struct node *node = topmost, *next; node != NULL; node = next) next = node->next_to_do, node_drop(node);
  to_drop = NULL;
}

static void scan_everything(struct tree *tree) {
  const int is_first = tree->root->listed == 0;
  scan_number++;
  is_whole = 1;
  tree->is_unwatched = 0;
  list_later(tree->root);
  /* Calls go on during the first scan of a tree. */
  is_first ? run_with_low_priority(list_all) : list_all();
}

static void scan_changed(struct tree *tree, struct dirty_set *dirty) {
  dirty_sort(dirty);
  scan_dirty(dirty);
  if (tree->is_unwatched) poll_unwatched(tree);
  if (!suspects_are_complete()) is_not_enough = 1;
  if (is_not_enough) out_restart();
}

int scan_tree(struct tree *tree) {
  struct dirty_set dirty = tree->dirty;
  tree->dirty = (struct dirty_set){0};
  scan_number++;
  is_whole = failure = is_short = 0;
  is_not_enough = tree->is_everything_dirty;
  tree->is_everything_dirty = tree->is_noticed = 0;
  if (!is_not_enough) scan_changed(tree, &dirty);
  if (is_not_enough && failure == 0) scan_everything(tree);
  dirty_free(&dirty);
  way_close();
  drop_all(tree);
  if (failure != 0) tree->is_everything_dirty = 1;
  return failure != 0 ? (errno = failure, -1) : is_whole;
}
