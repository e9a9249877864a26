/* Files with several names (hard links), some of which may be unknown. */
#ifndef CROFT_HARD_LINKS_H
#define CROFT_HARD_LINKS_H

#include <sys/types.h>

#include "follow/followed-tree.h"

void suspects_add(struct node *node, nlink_t links);
/* Whether all names of these files are known. Forgets the list. */
int suspects_are_complete(void);

#endif
