#ifndef OPEN_H
#define OPEN_H

#include <sys/types.h>

/* Both answer a handle, or the errno of what failed, negated. */

/*
 * Opens `path` in an open directory. The kernel goes there without following a link and without leaving the directory,
 * whatever others do to it meanwhile; -ELOOP for a link on the way.
 */
int open_beneath(int directory, const char *path, int flags, mode_t mode);

/* Opens the very file that a handle of O_PATH names. */
int reopen_place(int place, int flags);

#endif
