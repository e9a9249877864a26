/* A second layer below the mounts: what may be written even if a mount were not what it should be. */
#ifndef CROFT_LANDLOCK_H
#define CROFT_LANDLOCK_H

/* Everything may be read and run; only what is below `writable`, which ends in NULL, may be changed. Outside this
   sandbox no abstract socket can be reached and no signal sent. 0, also on a kernel that has none of it; -1 with errno. */
int landlock_restrict(const char *const *writable);

#endif
