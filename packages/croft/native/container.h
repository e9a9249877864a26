/* What bubblewrap does elsewhere and an engine for containers does not. */
#ifndef CROFT_CONTAINER_H
#define CROFT_CONTAINER_H

/* Connects to the server at `path`: once as SOCKET, and once for the words that are for people. 0, or -1 with errno. */
int container_dial(const char *path);

/* Enters a user namespace of its own, so that the control files can be held without a privilege outside, makes
   /proc, /dev and /run read-only and covers /sys. `identity` is "device:inode" of the workspace, which an engine mounts by its name only.
   0, or -1 with errno: ESTALE if another directory has that name. */
int container_enter(const char *workspace, const char *identity);

#endif
