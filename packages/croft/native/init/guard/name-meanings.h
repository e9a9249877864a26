/* What names in the workspace mean to the user's programs, judged by the names alone. The kernel removes the mount
   over a held file as soon as somebody outside replaces that file; its name is still held then. */
#ifndef CROFT_NAME_MEANINGS_H
#define CROFT_NAME_MEANINGS_H

#include "init/guard/read-caller.h"

/* What a new name means. */
enum meaning {
  NOTHING,
  COMPLETES_GIT,     /* the directory becomes a git directory */
  SETTINGS,          /* settings of a git directory */
  WORKTREE_SETTINGS, /* git obeys them even in a directory that becomes a git directory under any name */
  HOOKS,
  EDITOR, /* directory of an editor or an agent */
  FILE_AT_TOP,
};

enum meaning meaning_of(const struct parent_entry *entry);

int is_in_workspace(int directory);

/* Whether git directories are judged there: wherever programs may write. */
int is_git_judged_in(int directory);

/* Whether the directory is the top of the workspace or of a repository in it. */
int is_top(int directory);

/* Whether it is a held file, or below one, or in a directory that a private copy should cover. */
int is_held_file(const struct parent_entry *entry);

/* Whether the name is below one that is held: in a directory of hooks, or in one that a private copy should cover. */
int is_held_above(const struct parent_entry *entry);

/* Whether programs may not change what has this name. */
int is_held_name(const struct parent_entry *entry);

#endif
