#define _GNU_SOURCE
#include "follow-look.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "follow-out.h"
#include "server.h"

uint32_t look;
static int is_whole;      /* everything is said, so nothing needs to be said to be gone */
static int is_not_enough; /* what changed cannot be told by looking at what changed */
static int failure;       /* errno */
static struct node *to_list, *to_drop;
/* Files whose other names may not be known. */
static struct suspect {
  struct node *node;
  uint32_t links;
} *suspects;
static size_t suspect_count, suspect_room;

/* Only when the look is over: until then others may take over what it has. */
static void drop_later(struct node *node) {
  node->is_to_drop = 1;
  if (!node->is_directory) node_unwatch(node);
  node->next_to_do = to_drop;
  to_drop = node;
}

static void list_later(struct node *node) {
  node->listed = look;
  node->next_to_do = to_list;
  to_list = node;
}

/* Without watches, each look is at everything. */
static void watch(struct node *node, int directory, const char *name) {
  char path[32 + NAME_MAX];
  if (node->tree->is_unwatched) return;
  snprintf(path, sizeof path, name == NULL ? "/proc/self/fd/%d" : "/proc/self/fd/%d/%s", directory, name);
  if (watch_node(node, path) == 0) node->is_dead = 0;
  /* What is not there any more has been told of, or will be. A file that we may not read is not watched by itself. */
  else if (errno != ENOENT && (errno != EACCES || name == NULL)) node->tree->is_unwatched = 1;
}

/* --- one name --- */

static struct node *add_node(struct node *directory, const char *name, size_t length, const struct stat *status) {
  struct node *node = node_add(directory->tree, directory, name, length);
  if (node == NULL) die("memory");
  node->inode = status->st_ino;
  node->is_directory = S_ISDIR(status->st_mode);
  return node;
}

static void suspect(struct node *node, nlink_t links) {
  if (suspect_count == suspect_room) {
    suspect_room = suspect_room == 0 ? 64 : suspect_room * 2;
    if ((suspects = realloc(suspects, suspect_room * sizeof *suspects)) == NULL) die("memory");
  }
  suspects[suspect_count++] = (struct suspect){node, (uint32_t)links};
}

/* A file of several names is watched itself: its directory does not hear of what is done by another name. */
static void see_links(struct node *directory, struct node *known, const char *name, size_t length, const struct stat *status, int handle) {
  if (known != NULL && known->inode != status->st_ino) {
    drop_later(known);
    known = NULL;
  }
  struct node *node = known != NULL ? known : add_node(directory, name, length, status);
  node->seen = look;
  /* Nobody told of the others as long as this was not watched. */
  if (node->watch == NULL) node->links = 0;
  watch(node, handle, name);
  if (is_whole) node->links = (uint32_t)status->st_nlink;
  else if (node->links != status->st_nlink) suspect(node, status->st_nlink);
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
  known->seen = look;
  list_later(known);
}

/* What stands at a name of a directory that is being listed. */
static void see(struct node *directory, const char *name, size_t length, const struct stat *status, int handle) {
  struct node *known = node_find(directory, name, length);
  out_sighting(directory, name, length, status);
  if (S_ISDIR(status->st_mode)) return see_directory(directory, known, name, length, status);
  if (known != NULL && known->is_directory) known = NULL;
  if (status->st_nlink > 1 && length <= NAME_MAX) see_links(directory, known, name, length, status, handle);
}

/* --- whole directories --- */

static void read_entry(struct node *directory, int handle, const char *name) {
  struct stat status;
  const size_t length = strlen(name);
  if (name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.'))) return;
  if (fstatat(handle, name, &status, AT_SYMLINK_NOFOLLOW) == 0) return see(directory, name, length, &status, handle);
  if (errno != ENOENT) directory->is_unread = 1;
}

/* As the kernel has it. */
struct entry {
  uint64_t inode;
  int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[];
};

static void read_entries(struct node *directory, int handle) {
  static _Alignas(struct entry) char entries[32 * 1024];
  long got;
  lseek(handle, 0, SEEK_SET);
  while ((got = syscall(SYS_getdents64, handle, entries, sizeof entries)) > 0)
    for (long at = 0; at < got;) {
      const struct entry *entry = (struct entry *)(entries + at);
      at += entry->size;
      read_entry(directory, handle, entry->name);
    }
  if (got < 0 && errno != ENOENT) failure = errno;
}

static void drop_unseen(struct node *directory) {
  for (struct node *child = directory->children; child != NULL; child = child->next)
    if (child->seen != look && !child->is_to_drop) drop_later(child);
}

/* The watch comes first, so that what changes while this reads is told of later. */
static void list(struct node *directory) {
  const int handle = way_to(directory);
  directory->is_unread = handle == WAY_FORBIDDEN;
  if (handle == WAY_LOST) directory->is_dead = 1;
  if (handle == WAY_FAILED) failure = errno;
  if (handle >= 0) {
    watch(directory, handle, NULL);
    read_entries(directory, handle);
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

/* --- what changed --- */

/* Where something else stands now. */
static void forget(struct node *known, const struct stat *status) {
  const int is_other = known->inode != status->st_ino || S_ISDIR(status->st_mode) || status->st_nlink < 2;
  if (known->is_directory) out_sighting(known->parent, known->name, known->length, NULL);
  if (known->is_directory || is_other) drop_later(known);
}

static void look_at_name(struct node *directory, const char *name, size_t length, int handle) {
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

static void look_at_dirty(const struct dirty_set *dirty) {
  for (size_t i = 0; i < dirty->count && !is_not_enough && failure == 0; i++) {
    const struct dirty *entry = dirty->entries[i];
    struct node *directory = entry->directory;
    /* Where it is now it is listed whole, now or when that is told of. */
    if (directory->is_dead || directory->is_to_drop || directory->listed == look) continue;
    const int handle = way_to(directory);
    if (handle == WAY_FAILED) failure = errno;
    if (handle == WAY_FORBIDDEN) is_not_enough = 1;
    if (handle >= 0) look_at_name(directory, entry->name, entry->length, handle);
  }
}

/* Whether all of its names are in the tree and known. Once for all of them: there may be many. */
static int is_complete(const struct suspect *suspect) {
  const struct node *file = suspect->node;
  if (file->is_to_drop || file->watch == NULL || file->links == suspect->links) return 1;
  uint32_t found = 0;
  for (struct node *node = file->watch->nodes; node != NULL; node = node->next_watched)
    if (node->tree == file->tree) found++;
  if (found < suspect->links) return 0;
  for (struct node *node = file->watch->nodes; node != NULL; node = node->next_watched)
    if (node->tree == file->tree) node->links = suspect->links;
  return 1;
}

static void look_at_suspects(void) {
  for (size_t i = 0; i < suspect_count && !is_not_enough; i++) is_not_enough = !is_complete(&suspects[i]);
  free(suspects);
  suspects = NULL;
  suspect_count = suspect_room = 0;
}

/* --- the look --- */

static int has_left(const struct node *node) {
  while (node != NULL && !node->is_to_drop) node = node->parent;
  return node != NULL;
}

/* What was heard in the meantime of directories that are dropped. */
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

/* Those below another go with it. */
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

static void look_at_all(struct tree *tree) {
  look++;
  is_whole = 1;
  list_later(tree->root);
  list_all();
}

/* Others may have the watches. */
static void give_up(struct tree *tree) {
  dirty_free(&tree->dirty);
  while (tree->root->children != NULL) node_drop(tree->root->children);
  node_unwatch(tree->root);
}

static void look_at_some(const struct tree *tree, struct dirty_set *dirty) {
  dirty_sort(dirty);
  look_at_dirty(dirty);
  look_at_suspects();
  /* By now, other names of a file may be what nobody watches. */
  if (tree->is_unwatched) is_not_enough = 1;
  if (is_not_enough) out_restart();
}

int look_at(struct tree *tree) {
  struct dirty_set dirty = tree->dirty;
  tree->dirty = (struct dirty_set){0};
  look++;
  is_whole = failure = 0;
  is_not_enough = tree->is_everything_dirty || tree->is_unwatched;
  tree->is_everything_dirty = tree->is_noticed = 0;
  if (!is_not_enough) look_at_some(tree, &dirty);
  if (is_not_enough && failure == 0) look_at_all(tree);
  dirty_free(&dirty);
  way_close();
  drop_all(tree);
  if (failure != 0) tree->is_everything_dirty = 1;
  if (tree->is_unwatched) give_up(tree);
  return failure != 0 ? (errno = failure, -1) : is_whole;
}
