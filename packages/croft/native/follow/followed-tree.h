/* The state of the followed trees: all directories, but only files with several names. */
#ifndef CROFT_FOLLOWED_TREE_H
#define CROFT_FOLLOWED_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Deeper directories, and those with a longer path, are listed but not entered. */
#define MAX_DEPTH 1000
#define MAX_PATH_BYTES (16 * 1024)

struct tree;

/* A directory, or a file with several names. A node never moves: a moved directory gets a new node, which takes over
   the watch. */
struct node {
  struct tree *tree;
  struct node *parent;
  struct node *children, *next, *previous; /* siblings */
  struct node *same_bucket;
  struct node *next_to_do; /* list of nodes to list, or to free */
  struct watch *watch;
  struct node *next_watched, *previous_watched; /* other nodes with the same watch */
  ino_t inode;
  uint32_t listed, seen; /* number of the scan */
  uint32_t links;        /* link count of a file when all of its names were known */
  uint32_t depth, path_length;
  uint64_t digest;       /* digest of the entries when last listed; 0: unknown */
  uint8_t is_directory;
  uint8_t is_dead;    /* what it stood for is gone, whatever has its name now */
  uint8_t is_unread;  /* something in it could not be read */
  uint8_t is_to_drop;
  uint8_t is_unwatched; /* this directory, or a file with several names in it, has no watch */
  uint8_t length;
  char name[];
};

/* One inotify watch, which belongs to an inode. */
struct watch {
  int number;
  uint32_t heard; /* the scan before which all names of a file were last marked dirty */
  struct watch *same_bucket;
  struct node *nodes;
};

/* A name that may have changed. */
struct dirty {
  struct node *directory;
  struct dirty *same_bucket;
  uint8_t length;
  char name[];
};

struct dirty_set {
  struct dirty **buckets, **entries;
  size_t count, capacity; /* of buckets and entries */
};

struct tree {
  struct tree *next;
  uint32_t id;
  int handle;
  dev_t device;
  struct node *root;
  struct dirty_set dirty;
  uint8_t is_everything_dirty; /* everything may have changed; `dirty` is ignored */
  uint8_t is_unwatched;        /* some directories have no watch */
  uint8_t wants_notice, is_noticed;
};

/* Does not find nodes that are about to be freed. */
struct node *node_find(const struct node *parent, const char *name, size_t length);
/* Returns NULL if memory is exhausted. */
struct node *node_add(struct tree *tree, struct node *parent, const char *name, size_t length);
/* Frees a node, everything below it, and their watches. */
void node_drop(struct node *node);
void node_unwatch(struct node *node);

/* Returns the next node of a tree, parents before children. */
struct node *node_after(struct node *node);

/* Writes the path from the root, `path_length` bytes without a NUL. */
void node_path(const struct node *node, char *path);

extern uint32_t scan_number; /* number of the current or last scan */
extern int inotify;
void watches_prepare(unsigned long max);
/* Watches a node. Returns 0, or -1 with errno: ENOSPC if no watches are left. Another directory node of the same
   tree with the same watch becomes dead. */
int watch_node(struct node *node, const char *path);
struct watch *watch_find(int number);
/* Called when the kernel removed the watch. */
void watch_forget(struct watch *watch);

/* Returns -1 if there are too many. */
int dirty_add(struct dirty_set *set, size_t max, struct node *directory, const char *name, size_t length);
void dirty_sort(struct dirty_set *set);
void dirty_free(struct dirty_set *set);

#endif
