#ifndef CROFT_OPEN_BENEATH_H
#define CROFT_OPEN_BENEATH_H

#include <sys/types.h>

/* Both functions return a descriptor, or a negated errno. */

/*
 * Opens `path` below an open directory. The kernel follows no link and does not leave the directory, whatever other
 * processes change meanwhile. Returns -ELOOP for a link on the way.
 */
int open_beneath(int directory, const char *path, int flags, mode_t mode);

/* Opens the file that an O_PATH descriptor refers to. */
int reopen_path_fd(int path_fd, int flags);

#endif
