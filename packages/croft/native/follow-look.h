/* Looks at what may have changed in a tree. */
#ifndef CROFT_FOLLOW_LOOK_H
#define CROFT_FOLLOW_LOOK_H

#include "follow-tree.h"

/* Says what changed since the last look, by follow-out.h. Answers whether it said everything there is, or -1 with errno. */
int look_at(struct tree *tree);

/* Handles along the way to a directory, each opened from the one above it. WAY_FAILED is told by errno. */
enum { WAY_LOST = -1, WAY_FORBIDDEN = -2, WAY_FOREIGN = -3, WAY_FAILED = -4 };
int way_to(struct node *node);
void way_close(void);

#endif
