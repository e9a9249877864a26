/* What no process in a sandbox may ask of the kernel. Loaded once, inherited by all, never undone. */
#ifndef CROFT_FENCE_H
#define CROFT_FENCE_H

/* 0, or -1 with errno. Needs no privilege: sets no_new_privs first. */
int fence_load(void);

#endif
