/* The git directories of the workspace, and of every other directory in which programs may write. git obeys their settings
   and hooks wherever they are and whoever created them, so both are held: settings change only as
   `git-config-changes.h` allows, hooks not at all. */
#ifndef CROFT_HOLD_REPOSITORIES_H
#define CROFT_HOLD_REPOSITORIES_H

/* Whether git takes the directory for a git directory, or would with one more name in it. */
int is_git_like(int directory);

/* Whether its settings and hooks are held; and whether they are, or git takes the directory for a git directory. */
int is_known_repository(int directory);
int is_repository(int directory);

/* Whether the directory becomes a git directory when `name` is added. */
int completes_git(int directory, const char *name);

/* Holds a git directory that existed before any program ran. The workspace's own one (`is_own`) cannot be removed.
   Returns 0 or -1. */
int repository_hold(int directory, int is_own);

/* Holds a directory that is about to become a git directory, while all programs are stopped. Returns 0, or -1 with
   errno: EACCES if it has settings or hooks that git would execute. */
int repository_adopt(int directory);

/* Called after each judged call. Another sandbox of the same workspace judges a directory only once it is a git
   directory, so its programs can open the new settings, and put hooks into the new directory, until the call has been
   made. Both are made anew then. Returns -1 if that failed. */
int repositories_settle(void);

/* Copies another file into the settings, if that is safe, and removes that file, like a rename. Returns 0, or -1
   with errno. */
int repository_change(int directory, int from, const char *name);

/* The same for `config.worktree`, which git obeys in any git directory where `extensions.worktreeConfig` is set. */
int worktree_settings_change(int directory, int from, const char *name);

/* Removal of a git directory: its settings and hooks seem to be removed with the rest, and really are when the
   directory itself is. Return whether the call was handled here; then `result` is 0 or -1 with errno. */
int repository_unlink(int directory, const char *name, int *result);
int repository_unlink_hook(int directory, const char *name, int flags, int *result);

/* Opens a new `*.sample` file in a directory of hooks: git executes none, and libgit2 creates one in each repository.
   Returns a descriptor, or -1 with errno. */
int repository_make_sample(int directory, const char *name, int flags, unsigned mode);
int repository_remove(int parent, const char *name, int *result);

/* Changes the mode of held settings. Returns whether the open file is such a file. */
int repository_chmod(int handle, unsigned mode, int *result);

/* Checks that everything is still held. Replacing settings from outside removes the mount: then they are held again.
   While programs run, what one of them may have written meanwhile is undone. Returns -1 if that is impossible. */
int repositories_check(int is_anybody_inside);

/* Handles an event of a directory that repositories_watch watches. */
void repositories_noticed(int watch, const char *name, unsigned events);
/* Called when the event queue overflowed: anything may have been written. */
void repositories_missed(void);
void repositories_watch(int notices);

#endif
