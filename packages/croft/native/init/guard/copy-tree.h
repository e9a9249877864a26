/* Copies, fingerprints and compares small trees of files. No link is followed. */
#ifndef CROFT_COPY_TREE_H
#define CROFT_COPY_TREE_H

#include <stdint.h>

/* Copies files, directories and links with modes and times. Returns 0, or -1 with errno: EFBIG beyond the limits. */
int copy_tree(int from, int to);

/* Returns a fingerprint that changes when anything in the tree changes. */
uint64_t tree_mark(int directory);

/* Calls `tell` with the path of each file that differs between the trees, MAX_TOLD times at most. */
void compare_trees(int one, int other, void (*tell)(void *context, const char *path), void *context);

#endif
