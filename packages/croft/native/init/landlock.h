/* A second layer below the mounts: limits what may be written even if a mount is wrong. */
#ifndef CROFT_LANDLOCK_H
#define CROFT_LANDLOCK_H

/* Everything may be read and executed; only files below `writable`, which ends in NULL, may be changed. No abstract
   socket outside the sandbox can be reached, and no process outside can be signalled. Returns 0, also on a kernel
   without Landlock, or -1 with errno. */
int landlock_restrict(const char *const *writable);

#endif
