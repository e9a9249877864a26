#define _GNU_SOURCE
#include "init/guard/read-caller.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
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

int caller_read(pid_t thread, uint64_t address, void *bytes, size_t length) {
  struct iovec ours = {bytes, length}, theirs = {(void *)(uintptr_t)address, length};
  return process_vm_readv(thread, &ours, 1, &theirs, 1, 0) == (ssize_t)length ? 0 : -1;
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

/* Whether the path starts with the caller's own process by its number. */
static size_t begins_at_process(pid_t thread, const char *path) {
  char task[64], *end;
  if (strncmp(path, "/proc/", 6) != 0) return 0;
  const long process = strtol(path + 6, &end, 10);
  if (process <= 1 || *end != '/') return 0;
  snprintf(task, sizeof task, "/proc/%d/task/%ld", thread, process);
  return access(task, F_OK) == 0 ? (size_t)(end + 1 - path) : 0;
}

int caller_number(pid_t thread, const char *path) {
  size_t start = begins_at_self(path);
  if (start == 0) start = begins_at_process(thread, path);
  if (start == 0 || strncmp(path + start, "fd/", 3) != 0) return -1;
  const char *digits = path + start + 3;
  const size_t length = strspn(digits, "0123456789");
  return length > 0 && length < 8 && digits[length] == 0 ? atoi(digits) : -1;
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

static int is_same_file(int handle, const struct parent_entry *entry) {
  struct stat one, other;
  if (fstat(handle, &one) != 0 || fstatat(entry->directory, entry->name, &other, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  return one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

int name_of_file(int handle, struct parent_entry *entry) {
  char link[32], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0 || path[0] != '/') return ENOENT;
  path[length] = 0;
  const int error = caller_parent(getpid(), AT_FDCWD, path, entry);
  if (error != 0) return error;
  if (is_same_file(handle, entry)) return 0;
  close(entry->directory);
  return entry->directory = -1, ENOENT;
}

int find_target(const struct parent_entry *from, struct parent_entry *target) {
  int handle = openat(from->directory, from->name, O_PATH | O_CLOEXEC);
  if (handle < 0) return errno;
  const int error = name_of_file(handle, target);
  close(handle);
  return error;
}

/* Reads a small file in the caller's directory in /proc. */
static int read_proc(pid_t thread, const char *name, char *text, size_t size) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/%s", thread, name);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t length = read(file, text, size - 1);
  close(file);
  text[length < 0 ? 0 : length] = 0;
  return 0;
}

/* Reads a number after its name in the caller's status. */
static long read_status(pid_t thread, const char *name, int base, long otherwise) {
  char text[512];
  const char *found = read_proc(thread, "status", text, sizeof text) == 0 ? strstr(text, name) : NULL;
  return found == NULL ? otherwise : strtol(found + strlen(name), NULL, base);
}

mode_t caller_umask(pid_t thread) { return (mode_t)read_status(thread, "\nUmask:\t", 8, 022); }

pid_t caller_process(pid_t thread) { return (pid_t)read_status(thread, "\nTgid:\t", 10, -1); }

dev_t caller_terminal(pid_t thread) {
  char text[512], state;
  int parent, group, session, terminal;
  const char *after = read_proc(thread, "stat", text, sizeof text) == 0 ? strrchr(text, ')') : NULL;
  if (after == NULL || sscanf(after, ") %c %d %d %d %d", &state, &parent, &group, &session, &terminal) != 5) return 0;
  /* The number of a pseudo terminal is in the low 8 and the high 12 bits. */
  const unsigned device = (unsigned)terminal;
  return makedev((device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00));
}
