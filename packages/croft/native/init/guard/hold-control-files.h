/* Holds control files in place: files that programs outside the sandbox obey later, such as hooks and settings of
   git, editors, shells and agents. */
#ifndef CROFT_HOLD_CONTROL_FILES_H
#define CROFT_HOLD_CONTROL_FILES_H

/* Makes every control file below `root` read-only and impossible to replace or rename, together with the directories
   above it. Needs CAP_SYS_ADMIN. Returns 0, or -1 with errno. */
int guard_control_files(const char *root);

/* Checks that everything is still held: replacing a file from outside removes its mount. Returns 0 or -1. */
int check_guarded_files(void);

/* Whether the name, in the directory `below` the workspace, is one of the held files or below one. Copies count only
   if the directory is not in the copy but `is_on_disk`. */
int is_guarded_path(const char *below, const char *name, int is_on_disk);

/* Gives up every capability forever. Returns 0, or -1 with errno. */
int drop_privileges(void);

#endif
