#define _GNU_SOURCE
#include "search/search.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init/seccomp-policy.h"

#define FAILED 126
/* Longer than any path that the kernel accepts. */
#define INBOX (64 * 1024)
#define OUTBOX (32 * 1024)
#define LONGEST_TIME 24
/* In seconds. Times further away are clamped. */
#define FURTHEST 900000000000LL

static char inbox[INBOX], outbox[OUTBOX];
static size_t outbox_length;

static const char *suffix;
static size_t suffix_length;

/* The directory of the last path; opened for the second path in it. */
static char directory[INBOX];
static size_t directory_length;
static int directory_handle = -1;

int search(char **arguments) {
  if (seccomp_load_for_search() == 0) execv(arguments[0], arguments);
  fprintf(stderr, "croft-init: the search cannot be started: %s\n", strerror(errno));
  return FAILED;
}

static int flush(void) {
  for (size_t from = 0; from < outbox_length;) {
    ssize_t written = write(1, outbox + from, outbox_length - from);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return -1;
    from += (size_t)written;
  }
  outbox_length = 0;
  return 0;
}

static int print(const char *bytes, size_t length) {
  while (length > 0) {
    if (outbox_length == OUTBOX && flush() != 0) return -1;
    size_t part = length < OUTBOX - outbox_length ? length : OUTBOX - outbox_length;
    memcpy(outbox + outbox_length, bytes, part);
    outbox_length += part;
    bytes += part;
    length -= part;
  }
  return 0;
}

/* Formatted by hand: for many thousands of times, printf takes longer than the kernel does to read them. */
static int print_time(int64_t time) {
  char text[LONGEST_TIME], *at = text + sizeof text;
  uint64_t rest = time < 0 ? 0 - (uint64_t)time : (uint64_t)time;
  *--at = ' ';
  do *--at = (char)('0' + rest % 10);
  while ((rest /= 10) > 0);
  if (time < 0) *--at = '-';
  return print(at, (size_t)(text + sizeof text - at));
}

static int64_t to_time(const struct stat *found) {
  int64_t seconds = found->st_mtim.tv_sec;
  if (seconds > FURTHEST) seconds = FURTHEST;
  if (seconds < -FURTHEST) seconds = -FURTHEST;
  return seconds * 10000000 + found->st_mtim.tv_nsec / 100;
}

static void enter(const char *path, size_t length) {
  if (directory_handle >= 0) close(directory_handle);
  directory_handle = -1;
  memcpy(directory, path, length);
  directory[directory_length = length] = 0;
}

/* Paths arrive directory by directory. A lookup in an open directory saves the way down to it. */
static int64_t time_of(const char *path) {
  const char *slash = strrchr(path, '/');
  size_t length = slash == NULL ? 0 : (size_t)(slash + 1 - path);
  struct stat found;
  if (length != directory_length || memcmp(path, directory, length) != 0) enter(path, length);
  else if (length > 0 && directory_handle < 0) directory_handle = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  int result = directory_handle < 0 ? lstat(path, &found)
                                    : fstatat(directory_handle, path + length, &found, AT_SYMLINK_NOFOLLOW);
  return result == 0 ? to_time(&found) : 0;
}

static int print_path(const char *path, size_t length) {
  if (length < suffix_length || memcmp(path + length - suffix_length, suffix, suffix_length) != 0) return 0;
  return print_time(time_of(path)) != 0 || print(path, length + 1) != 0 ? -1 : 0;
}

/* Prints all complete paths. Returns how many bytes these were, or -1. */
static ssize_t print_all(const char *bytes, size_t length) {
  const char *at = bytes;
  for (const char *end; (end = memchr(at, 0, length - (size_t)(at - bytes))) != NULL; at = end + 1)
    if (print_path(at, (size_t)(end - at)) != 0) return -1;
  return at - bytes;
}

static int carry(int paths) {
  for (size_t length = 0;;) {
    ssize_t added = read(paths, inbox + length, sizeof inbox - length);
    if (added < 0 && errno == EINTR) continue;
    /* `read` returns 0 for a full buffer too, if one path fills all of it. */
    if (added <= 0) return added < 0 || length == sizeof inbox ? -1 : flush();
    length += (size_t)added;
    ssize_t whole = print_all(inbox, length);
    if (whole < 0) return -1;
    length -= (size_t)whole;
    memmove(inbox, inbox + whole, length);
  }
}

static int start_below(char **arguments, int output) {
  /* ripgrep ends with this process. */
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || dup2(output, 1) < 0) return FAILED;
  return search(arguments);
}

int search_with_times(const char *ending, char **arguments) {
  suffix = ending;
  suffix_length = strlen(ending);
  int ends[2], status;
  if (pipe2(ends, O_CLOEXEC) != 0) return FAILED;
  pid_t program = fork();
  if (program == 0) _exit(start_below(arguments, ends[1]));
  close(ends[1]);
  if (program < 0 || carry(ends[0]) != 0) return FAILED;
  while (waitpid(program, &status, 0) < 0)
    if (errno != EINTR) return FAILED;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
