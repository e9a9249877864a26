/* Directories that the user's editors and agents obey. Programs in the sandbox work on a copy, so that git and
   others work as usual and the user's directory does not change. */
#ifndef CROFT_PRIVATE_DIRECTORIES_H
#define CROFT_PRIVATE_DIRECTORIES_H

/* Covers the directory at `name` by a copy. Returns 0, or -1 with errno: EFBIG if it is too large to copy. */
int private_cover(int parent, const char *name);

/* Creates the directory, empty and covered, while all programs are stopped. Returns 0, or -1 with errno. */
int private_make(int parent, const char *name);

/* Covers a directory that somebody outside created, if it is not covered yet. Returns 0, or -1 if a program may be
   in it. */
int private_adopt(int parent, const char *name);

/* Removes a directory of private_make if the copy and the original are empty. Returns whether there is one; then
   `result` is 0 or -1. */
int private_remove(int parent, const char *name, int *result);

/* Checks that all are still covered: replacing a directory from outside removes the mount. The new directory is
   covered again. Returns -1 if a program may have entered it before. */
int private_check(void);

/* Reports what programs changed in their copies since the last report. */
void private_tell(void);

#endif
