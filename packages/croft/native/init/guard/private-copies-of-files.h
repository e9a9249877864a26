/* Existing files at the top of the workspace that the user's agents and shells obey. Programs in the sandbox work on
   a copy, as with the directories of private-copies-of-directories.h. */
#ifndef CROFT_PRIVATE_FILES_H
#define CROFT_PRIVATE_FILES_H

/* Covers the file at `name` by a copy. Returns 0, or -1 with errno: EFBIG if it is too large to copy. */
int private_file_cover(int top, const char *name);

/* Whether a file is covered under this name now. */
int is_private_file(int directory, const char *name);

/* Removes the copy as far as possible: a mounted file cannot be hidden, so it is emptied and may be created again.
   Returns 0, or -1 with errno. */
int private_file_remove(int directory, const char *name);

/* Copies content and mode of another file into the copy and removes that file, like a rename. With `is_new` only if
   a program removed the copy before. Returns 0, or -1 with errno. */
int private_file_replace(int directory, const char *name, int from, const char *from_name, int is_new);

/* Opens a copy that a program removed, as a new file. Returns the open file, or -1 if the program must make the call
   itself. */
int private_file_open(int directory, const char *name, int flags);

/* Reports which copies programs changed since the last report. */
void private_files_tell(void);

#endif
