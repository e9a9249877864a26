/* Scans a tree for changes. */
#ifndef CROFT_SCAN_TREE_H
#define CROFT_SCAN_TREE_H

#include "follow/followed-tree.h"

/* Reports what changed since the last scan, through follow-output.h. Returns whether it reported the whole tree, or
   -1 with errno. */
int scan_tree(struct tree *tree);

/* Opens the directory of a node, each directory from the one above it, and keeps the descriptors for the next call.
   DIRECTORY_FAILED sets errno. */
enum { DIRECTORY_GONE = -1, DIRECTORY_FORBIDDEN = -2, DIRECTORY_FOREIGN = -3, DIRECTORY_FAILED = -4 };
int open_node_directory(struct node *node);
void way_close(void);

#endif
