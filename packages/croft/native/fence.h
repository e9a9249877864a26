/* What no process in a sandbox may ask of the kernel. Loaded once, inherited by all, never undone. */
#ifndef CROFT_FENCE_H
#define CROFT_FENCE_H

/* 0, or -1 with errno. Needs no privilege: sets no_new_privs first. `listener` becomes readable when a call waits to be
   refused, or is -1 where the kernel refuses by itself. */
int fence_load(int *listener);

/* The fence of one search, which others run beside and after: 0, or -1 with errno. */
int fence_load_for_search(void);

/* Refuses the call that waits. Its name, or NULL if whoever made it is gone. */
const char *fence_refuse(int listener);

#endif
