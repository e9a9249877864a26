/* What git obeys besides the files of its own directory: where its settings lead. All paths are below the root. */
#ifndef CROFT_CONTROL_GIT_H
#define CROFT_CONTROL_GIT_H

#include <stddef.h>
#include <sys/types.h>

/* Whether it is of this kind, and no link. */
int has(int directory, const char *name, mode_t kind);

/* Whether the path ends in `.git`. */
int is_dot_git(const char *path, size_t length);

/* By its name, or by what is in it: also if all that can be taken away from it has been, because what is held stays. */
int is_git_directory(int directory, const char *path, size_t length);

/* What git obeys as soon as it is there must be there to be held. Empty hooks and settings change nothing, nor does a
   common directory that is this one. */
int add_missing(int directory);

/* A file in place of the directory says where that is. Settings that are elsewhere are then for this working tree. */
int add_git_file(const char *path);

/* `path` is a directory of git's, which usually lies at the top of its working tree. */
int add_git_directory(const char *path, size_t length);

#endif
