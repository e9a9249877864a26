/* Reads from the program that made a system call: its memory, its working directory, its descriptors. */
#ifndef CROFT_READ_CALLER_H
#define CROFT_READ_CALLER_H

#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A name in an open directory. */
struct parent_entry {
  int directory;
  char name[NAME_MAX + 2]; /* may end in a slash, as the caller wrote it */
};

/* Reads a path from the memory of a thread into `path`, which has room for PATH_MAX. Returns 0 or an errno. */
int caller_path(pid_t thread, uint64_t address, char *path);

/* Opens the parent directory of a path as the caller sees it. Returns 0 or an errno. The caller of this function
   closes entry->directory. */
int caller_parent(pid_t thread, int from, const char *path, struct parent_entry *entry);

/* Opens with O_PATH what a path of the calling program leads to. Returns a descriptor, or -1 with errno. */
int caller_open(pid_t thread, int from, const char *path, int flags);

/* Opens with O_PATH what a descriptor of the calling program refers to. */
int caller_handle(pid_t thread, int handle);

mode_t caller_umask(pid_t thread);

#endif
