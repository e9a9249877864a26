/* Builds the file tree of a sandbox from mounts. All functions return 0, or -1 with errno. */
#ifndef CROFT_BOX_MOUNTS_H
#define CROFT_BOX_MOUNTS_H

/* Creates an empty root for the sandbox. Paths still name files of the host until mounts_finish. */
int mounts_begin(void);

/* Makes the new root the root of this process. Nothing of the host is visible any more but what was mounted into it. */
int mounts_finish(void);

/* Makes the mounts that the bwrap arguments ask for, in their order. */
int mounts_make(char *const *words);

#endif
