/* Files that become the settings of a repository by a rename, such as git's own `config.lock`. The user's git and
   editors create them too: then no program in the sandbox may change, replace or link them. */
#ifndef CROFT_SETTINGS_DRAFTS_H
#define CROFT_SETTINGS_DRAFTS_H

#include "init/guard/read-caller.h"

/* Whether somebody outside created the file a moment ago. What is older was left behind by a git that ended. */
int is_others_draft(const struct parent_entry *entry);

/* A program has created this file, or moved it here. */
void draft_made(const struct parent_entry *entry);

#endif
