/* Scans a tree for changes. */
#ifndef CROFT_SCAN_TREE_H
#define CROFT_SCAN_TREE_H

#include "follow/followed-tree.h"

/* Reports what changed since the last scan, through follow-output.h. Returns whether it reported the whole tree, or
   -1 with errno. */
int look_at(struct tree *tree);

/* Opens the directory of a node, each directory from the one above it, and keeps the descriptors for the next call.
   WAY_FAILED sets errno. */
enum { WAY_LOST = -1, WAY_FORBIDDEN = -2, WAY_FOREIGN = -3, WAY_FAILED = -4 };
int way_to(struct node *node);
void way_close(void);

#endif
