/* Holds a file or a directory in place by a mount. After the start only the judging thread uses these functions. */
#ifndef CROFT_HOLD_BY_MOUNT_H
#define CROFT_HOLD_BY_MOUNT_H

#include <stdint.h>
#include <sys/types.h>

/* Mounts `name` over itself, so that nobody can rename, remove or replace it. Returns 0, or -1 with errno. */
int hold(int directory, const char *name, int read_only);

/* Mounts the directory or file `instead` over the one at `name`. Returns 0, or -1 with errno. */
int cover(int directory, const char *name, int instead);

/* Returns whether the last call failed because somebody outside is replacing a held file, and waits a moment before
   another try. The kernel removes the mount some milliseconds before the new file has the name, and mounts nothing
   there until then. `tries` starts at 0. */
int is_being_replaced(int *tries);

/* Removes a mount of hold or cover. */
int remove_mount(int directory, const char *name);

/* Returns the id of the mount at `name`, or 0 if nothing is there. The id changes when somebody outside replaces
   what was held, because the kernel then removes the mount. */
uint64_t mount_at(int directory, const char *name);

/* Whether another mount, or none, is at `name` now. A path that we may not search cannot have changed. */
int is_mount_changed(int directory, const char *name, uint64_t mount);

/* Writes the path of an open file in the sandbox, or an empty text. */
void path_of(int handle, char *path, size_t size);

/* Returns how many names below the workspace an open directory is, or -1 if it is not in the workspace. `below` gets
   its path from the workspace. */
int depth_of(int directory, char *below, size_t size);

/* The same for git directories, which are judged wherever programs may write: a `.git` file in the workspace can lead the
   user's git to one in the package caches, and a link through `/proc/PID/root` to one in /tmp. Outside the workspace
   `below` gets the whole path. */
int git_depth_of(int directory, char *below, size_t size);

/* Whether the path is `top` or below it. */
int is_path_below(const char *path, const char *top);

/* Reports to the server that something in the workspace was held back or refused. The same text is reported once per
   command. */
void tell_held(const char *rule, const char *path, const char *detail);

#endif
