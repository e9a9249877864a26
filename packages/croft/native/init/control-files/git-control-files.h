/* Finds the control files that git settings lead to. All paths are from the root of the workspace. */
#ifndef CROFT_GIT_CONTROL_FILES_H
#define CROFT_GIT_CONTROL_FILES_H

#include <stddef.h>
#include <sys/types.h>

/* Whether `name` is of this kind and no link. */
int has(int directory, const char *name, mode_t kind);

/* Whether the path ends in `.git`. */
int is_dot_git(const char *path, size_t length);

/* Whether the path is directly in the workspace's own git directory. */
int is_own_git(const char *path);

/* Whether the directory is a git directory, by its name or by its content. Also if programs removed everything that
   they can remove: what is held stays. */
int is_git_directory(int directory, const char *path, size_t length);

/* Creates missing hooks and settings, because only what exists can be held. Empty ones change nothing. */
int add_missing(int directory);

/* Whether a repository of the workspace has settings for single worktrees. */
extern int has_worktree_settings;

int add_worktree_settings(int directory);

/* Reads a `.git` file, which names the git directory, and adds the settings of that directory for this working tree. */
int add_git_file(const char *path);

/* Adds the settings of a git directory. Its parent is its working tree if it is named `.git`. */
int add_git_directory(const char *path, size_t length);

#endif
