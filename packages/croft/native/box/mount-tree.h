/* Detached mounts, and attaching them below a root that no path and no link can leave. */
#ifndef CROFT_MOUNT_TREE_H
#define CROFT_MOUNT_TREE_H

#include <linux/mount.h>

/* Creates a detached mount of a new file system. `options` holds names and values in turn; a flag has an empty
   value. */
int tree_new(const char *type, const char *const *options, unsigned long long attributes);

/* Copies what is mounted at a path of the host, with everything mounted below it. */
int tree_copy(const char *source, unsigned long long attributes);

/* Stops mounts made at or below a path from propagating to the host. */
int tree_make_private(const char *path);

int tree_move(int tree, int directory, const char *path);

/* Attaches `tree` at `path`, and creates the mount point if it is missing. Closes `tree`, which may be the -1 of a
   failed call. */
int tree_attach(int root, const char *path, int tree);

/* The same for a name in an open directory, which must not exist yet. */
int tree_attach_at(int directory, const char *name, int tree);

/* Makes an existing mount read-only. */
int tree_make_read_only(int root, const char *path);

/* Opens a directory, and creates it if it is missing. */
int tree_make_directory(int root, const char *path);

/* Opens the parent directory of `path`, created if it is missing, and copies the last name of `path` to `name`. */
int tree_parent(int root, const char *path, char *name);

#endif
