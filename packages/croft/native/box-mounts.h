/* The tree that a sandbox sees, put together of mounts. All answer 0, or -1 with errno. */
#ifndef CROFT_BOX_MOUNTS_H
#define CROFT_BOX_MOUNTS_H

/* An empty tree of its own above everything. What is named by a path from now on is still the machine's. */
int mounts_begin(void);

/* From here on nothing of the machine is to be seen but what was put into the tree. */
int mounts_finish(void);

/* What the words say of mounts, in their order. */
int mounts_make(char *const *words);

#endif
