/* Adds control files that links or settings lead to. All paths are from the root of the workspace. */
#ifndef CROFT_CONTROL_FILE_LINKS_H
#define CROFT_CONTROL_FILE_LINKS_H

extern const char *top;     /* absolute path of the workspace */
extern const char *own_git; /* the git directory whose settings are being read, or NULL */

int add_guarded_file(const char *path);

/* Guards what is at `path` and every link on the way to it. Creates it if it is missing. */
int add_chain(const char *path, int is_directory);

/* Resolves the path `value` of a setting, relative to `from`, to a path in the workspace. Returns -1 if it is
   elsewhere. `path` has PATH_MAX bytes. */
int locate(char *path, const char *from, const char *value);

#endif
