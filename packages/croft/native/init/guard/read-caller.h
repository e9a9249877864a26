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

/* Reads bytes from the memory of a thread. Returns 0 or -1. */
int caller_read(pid_t thread, uint64_t address, void *bytes, size_t length);

/* Opens the parent directory of a path as the caller sees it. Returns 0 or an errno. The caller of this function
   closes entry->directory. */
int caller_parent(pid_t thread, int from, const char *path, struct parent_entry *entry);

/* Opens with O_PATH what a path of the calling program leads to. Returns a descriptor, or -1 with errno. */
int caller_open(pid_t thread, int from, const char *path, int flags);

/* Opens with O_PATH what a descriptor of the calling program refers to. */
int caller_handle(pid_t thread, int handle);

/* Finds the name that an open file has now. Returns 0, or ENOENT if it has none. The caller of this function closes
   entry->directory. */
int name_of_file(int handle, struct parent_entry *entry);

/* Finds the name of what the entry leads to, if it is a link. */
int find_target(const struct parent_entry *from, struct parent_entry *target);

/* Returns the number of a descriptor that the path names, such as `/proc/self/fd/5`, or -1. */
int caller_number(pid_t thread, const char *path);

mode_t caller_umask(pid_t thread);

/* Returns the process of a thread, or -1. */
pid_t caller_process(pid_t thread);

/* Returns the device of the caller's terminal, or 0. */
dev_t caller_terminal(pid_t thread);

#endif
