/* Mounts that are nowhere yet, and places for them below a root, beyond which no path and no link leads. */
#ifndef CROFT_BOX_TREE_H
#define CROFT_BOX_TREE_H

#include <linux/mount.h>

/* A new file system. Options are names and values in turn; one without a value has an empty one. */
int tree_new(const char *type, const char *const *options, unsigned long long attributes);

/* What is at a path of the machine with all that is mounted below it. */
int tree_copy(const char *source, unsigned long long attributes);

/* What is mounted at a path of the machine or below it from now on is not seen outside. */
int tree_keep_to_ourselves(const char *path);

int tree_move(int tree, int directory, const char *path);

/* Makes the place for it if there is none. `tree` is closed, and may be the -1 of one that could not be had. */
int tree_attach(int root, const char *path, int tree);

/* The same at a name of a directory, where there must be nothing yet. */
int tree_attach_at(int directory, const char *name, int tree);

/* Makes a mount that is there read-only. */
int tree_hold(int root, const char *path);

/* A directory, made if it is not there. */
int tree_place(int root, const char *path);

/* The directory that a path is in, made if it is not there, and its last name. */
int tree_parent(int root, const char *path, char *name);

#endif
