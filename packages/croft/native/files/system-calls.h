#ifndef CROFT_SYSTEM_CALLS_H
#define CROFT_SYSTEM_CALLS_H

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Calls whose functions old C libraries lack: glibc has `fstat` and `fstatat` as functions since 2.33, musl has no
   `renameat2`. The addon of a package runs with the C library of any Node, so it calls the kernel itself. */
static inline int call_fstat(int file, struct stat *found) {
  return (int)syscall(SYS_fstat, file, found);
}

static inline int call_fstatat(int directory, const char *name, struct stat *found, int flags) {
  return (int)syscall(SYS_newfstatat, directory, name, found, flags);
}

static inline int call_renameat2(int from, const char *from_name, int to, const char *to_name, unsigned flags) {
  return (int)syscall(SYS_renameat2, from, from_name, to, to_name, flags);
}

#endif
