/* Names that only a file system which ignores case takes for a name that programs outside the sandbox obey: `.GIT`,
   `.VSCODE`. What other files of this folder judge is the exact name. */
#ifndef CROFT_MISSPELT_NAMES_H
#define CROFT_MISSPELT_NAMES_H

#include "init/guard/read-caller.h"

/* Whether the name, or a directory on the way to it, is another spelling of an obeyed name: an existing file that has both
   names, or a new one. */
int is_misspelt(const struct parent_entry *entry);

/* Whether the path, or the name below it, has such a spelling at all. Asks no file system. */
int has_odd_spelling(const char *path, const char *name);

#endif
