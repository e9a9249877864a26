/* Does in a container what bubblewrap does in a sandbox and a container engine does not. */
#ifndef CROFT_ENTER_CONTAINER_H
#define CROFT_ENTER_CONTAINER_H

/* Connects to the server at `path` twice: as SOCKET, and as standard error. Returns 0, or -1 with errno. */
int container_dial(const char *path);

/* Enters a user namespace, so that control files can be held without privileges outside, makes /proc, /dev and /run
   read-only and covers /sys. `identity` is "device:inode" of the workspace, because an engine mounts it by name
   only. Returns 0, or -1 with errno: ESTALE if another directory has that name. */
int container_enter(const char *workspace, const char *identity);

#endif
