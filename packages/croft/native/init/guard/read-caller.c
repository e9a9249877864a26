#define _GNU_SOURCE
#include "init/guard/read-caller.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096UL

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

/* Reads page by page: the page after the path may not be mapped. */
int caller_path(pid_t thread, uint64_t address, char *path) {
  for (size_t length = 0; length < PATH_MAX;) {
    size_t part = PAGE - (address + length) % PAGE;
    if (part > PATH_MAX - length) part = PATH_MAX - length;
    struct iovec ours = {path + length, part}, theirs = {(void *)(uintptr_t)(address + length), part};
    const ssize_t got = process_vm_readv(thread, &ours, 1, &theirs, 1, 0);
    if (got <= 0) return got < 0 && errno == EPERM ? EPERM : EFAULT;
    if (memchr(path + length, 0, (size_t)got) != NULL) return 0;
    length += (size_t)got;
  }
  return ENAMETOOLONG;
}

static int open_within(int from, const char *path, int flags) {
  struct open_how how = {.flags = (uint64_t)(O_PATH | O_CLOEXEC | flags), .resolve = RESOLVE_NO_MAGICLINKS};
  return (int)syscall(SYS_openat2, from, path, &how, sizeof how);
}

static int open_proc(pid_t thread, const char *what) {
  char path[128];
  snprintf(path, sizeof path, "/proc/%d/%s", thread, what);
  return open(path, O_PATH | O_CLOEXEC);
}

int caller_handle(pid_t thread, int handle) {
  char what[32];
  snprintf(what, sizeof what, "fd/%d", handle);
  const int copy = open_proc(thread, what);
  return copy < 0 && errno == ENOENT ? (errno = EBADF, -1) : copy;
}

/* `self` in /proc would be this process. Returns the length of the prefix that names the caller, or 0. */
static size_t begins_at_self(const char *path) {
  static const char *const selves[] = {"/proc/self/", "/proc/thread-self/", "/dev/fd/"};
  for (size_t i = 0; i < 3; i++)
    if (strncmp(path, selves[i], strlen(selves[i])) == 0) return strlen(selves[i]) - (i == 2 ? 3 : 0);
  return 0;
}

/* Opens `fd/N/rest`, `cwd/rest` or `root/rest` of the caller. */
static int open_of_self(pid_t thread, const char *rest, int flags) {
  char what[64];
  const size_t length = strncmp(rest, "fd/", 3) == 0 ? 3 + strcspn(rest + 3, "/") : strcspn(rest, "/");
  if (length >= sizeof what) return errno = ENOENT, -1;
  snprintf(what, sizeof what, "%.*s", (int)length, rest);
  rest += length + strspn(rest + length, "/");
  int first = open_proc(thread, what);
  if (first < 0 || *rest == 0) return first;
  int found = open_within(first, rest, flags);
  int error = errno;
  close(first);
  errno = error;
  return found;
}

int caller_open(pid_t thread, int from, const char *path, int flags) {
  const size_t self = begins_at_self(path);
  if (self > 0) return open_of_self(thread, path + self, flags);
  if (path[0] == '/') return open_within(AT_FDCWD, path, flags);
  int base = from == AT_FDCWD ? open_proc(thread, "cwd") : caller_handle(thread, from);
  if (base < 0 || path[0] == 0) return base;
  int found = open_within(base, path, flags);
  int error = errno;
  close(base);
  errno = error;
  return found;
}

int caller_parent(pid_t thread, int from, const char *path, struct parent_entry *entry) {
  char parent[PATH_MAX];
  size_t end = strlen(path);
  if (end == 0) return ENOENT;
  while (end > 0 && path[end - 1] == '/') end--;
  size_t begin = end;
  while (begin > 0 && path[begin - 1] != '/') begin--;
  if (end - begin > NAME_MAX) return ENAMETOOLONG;
  /* One trailing slash is kept: it means the same as several. */
  snprintf(entry->name, sizeof entry->name, "%.*s%s", (int)(end - begin), path + begin, end == begin ? "." : path[end] == '/' ? "/" : "");
  snprintf(parent, sizeof parent, "%.*s", (int)begin, path);
  entry->directory = caller_open(thread, from, parent, O_DIRECTORY);
  return entry->directory < 0 ? errno : 0;
}

mode_t caller_umask(pid_t thread) {
  char path[32], text[256];
  snprintf(path, sizeof path, "/proc/%d/status", thread);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 022;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[length < 0 ? 0 : length] = 0;
  const char *found = strstr(text, "\nUmask:\t");
  return found == NULL ? 022 : (mode_t)strtoul(found + 8, NULL, 8);
}
