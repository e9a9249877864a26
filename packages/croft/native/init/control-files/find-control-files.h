/* Finds control files: files that programs outside the sandbox obey later, such as hooks and settings of git,
   editors, shells and agents. */
#ifndef CROFT_FIND_CONTROL_FILES_H
#define CROFT_FIND_CONTROL_FILES_H

#include <stdint.h>

#define MAX_GUARDED_FILES 4096

struct guarded_file {
  char *path; /* from the root, with a slash before each name */
  int is_link;
  int is_copy; /* a directory of which programs get a copy */
  uint64_t mount;
};

#define MAX_FINDS 2048

struct finds {
  char *paths[MAX_FINDS];
  int count;
};

/* Directories of editors and agents, of which programs get a copy, and git directories: the first of each. */
extern struct finds found_copies, found_repositories;

extern struct guarded_file guarded_files[MAX_GUARDED_FILES];
extern int guarded_file_count;

/* Finds the control files below `root` and sorts them by path. Returns 0, or -1 with errno. */
int control_files_find(const char *root);

#endif
