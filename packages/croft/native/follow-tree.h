/* What a follower keeps of the trees it follows: their directories, and of files only those with several names. */
#ifndef CROFT_FOLLOW_TREE_H
#define CROFT_FOLLOW_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Deeper directories, and those with a longer path, are listed and not entered. */
#define MAX_DEPTH 1000
#define MAX_PATH_BYTES (16 * 1024)

struct tree;

/* A directory stays where it was found: one that was moved is found anew at its other place, and takes over the watch. */
struct node {
  struct tree *tree;
  struct node *parent;
  struct node *children, *next, *previous; /* siblings */
  struct node *same_bucket;
  struct node *next_to_do; /* to be listed, or to be dropped */
  struct watch *watch;
  struct node *next_watched, *previous_watched; /* others with the same watch */
  ino_t inode;
  uint32_t listed, seen; /* in which look */
  uint32_t links;        /* of a file, all of whose names in the tree are known */
  uint32_t depth, path_length;
  uint8_t is_directory;
  uint8_t is_dead;    /* what it stands for is not there any more, whatever is at its place now */
  uint8_t is_unread;  /* something in it could not be looked at */
  uint8_t is_to_drop;
  uint8_t length;
  char name[];
};

/* One of the kernel, of an inode. */
struct watch {
  int number;
  uint32_t heard; /* before which look all names of a file were last said to be dirty */
  struct watch *same_bucket;
  struct node *nodes;
};

/* A name in a directory that may have changed. */
struct dirty {
  struct node *directory;
  struct dirty *same_bucket;
  uint8_t length;
  char name[];
};

struct dirty_set {
  struct dirty **buckets, **entries;
  size_t count, room; /* of both */
};

struct tree {
  struct tree *next;
  uint32_t id;
  int handle;
  dev_t device;
  struct node *root;
  struct dirty_set dirty;
  uint8_t is_everything_dirty; /* nothing of `dirty` counts */
  uint8_t is_unwatched;        /* there are no watches left for it */
  uint8_t wants_notice, is_noticed;
};

/* One that is to be dropped is not found. */
struct node *node_find(const struct node *parent, const char *name, size_t length);
/* NULL without memory. */
struct node *node_add(struct tree *tree, struct node *parent, const char *name, size_t length);
/* With everything below it, and their watches. */
void node_drop(struct node *node);
void node_unwatch(struct node *node);

/* Its path from the root without a NUL; its length is `path_length`. */
void node_path(const struct node *node, char *path);

extern uint32_t look; /* which one this is, or was the last */
extern int inotify;
void watches_prepare(unsigned long max);
/* 0, or -1 with errno: ENOSPC when there are none left. A directory of the same tree that had it is dead then. */
int watch_node(struct node *node, const char *path);
struct watch *watch_find(int number);
/* The kernel gave it up. */
void watch_forget(struct watch *watch);

/* -1 when there are too many. */
int dirty_add(struct dirty_set *set, size_t max, struct node *directory, const char *name, size_t length);
void dirty_sort(struct dirty_set *set);
void dirty_free(struct dirty_set *set);

#endif
