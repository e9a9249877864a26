#define _GNU_SOURCE
#include "init/guard/copy-tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 32
#define MAX_FILES 2000
#define MAX_BYTES (16L * 1024 * 1024)
#define MAX_TOLD 8
#define MAX_MARKED 20000
#define PART (64 * 1024)

#define IN_PLACE (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

/* One name below a directory. A visitor that returns other than 0 ends the walk. */
struct visit {
  int depth;
  const char *path; /* path from the top */
  int directory;
  const char *name;
  struct stat status;
};

typedef int (*visitor)(void *context, const struct visit *visit);

static int visit_all(int directory, const char *path, int depth, visitor visitor, void *context) {
  int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = copy < 0 ? NULL : fdopendir(copy);
  if (entries == NULL) {
    if (copy >= 0) close(copy);
    return -1;
  }
  int result = 0;
  char below[PATH_MAX];
  for (struct dirent *entry; result == 0 && (entry = readdir(entries)) != NULL;) {
    struct visit visit = {depth, below, copy, entry->d_name, {0}};
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (depth == MAX_DEPTH || snprintf(below, sizeof below, "%s%s%s", path, *path == 0 ? "" : "/", entry->d_name) >= PATH_MAX)
      result = (errno = EFBIG, -1);
    else if (fstatat(copy, entry->d_name, &visit.status, AT_SYMLINK_NOFOLLOW) == 0) result = visitor(context, &visit);
    if (result != 0 || !S_ISDIR(visit.status.st_mode)) continue;
    int child = openat(copy, entry->d_name, IN_PLACE | O_DIRECTORY);
    if (child < 0) continue;
    result = visit_all(child, below, depth + 1, visitor, context);
    close(child);
  }
  int error = errno;
  closedir(entries);
  errno = error;
  return result;
}

/* --- copying --- */

struct copying {
  int to;
  long files, bytes;
};

static int copy_bytes(int from, int to) {
  static char part[PART];
  for (ssize_t length; (length = read(from, part, sizeof part)) != 0;)
    if (length < 0 || write(to, part, (size_t)length) != length) return -1;
  return 0;
}

static int copy_file(const struct visit *visit, int to) {
  int from = openat(visit->directory, visit->name, IN_PLACE);
  if (from < 0) return errno == EACCES ? 0 : -1;
  int file = openat(to, visit->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, visit->status.st_mode & 0777);
  int result = file < 0 ? -1 : copy_bytes(from, file);
  if (result == 0) result = futimens(file, (struct timespec[]){visit->status.st_atim, visit->status.st_mtim});
  if (file >= 0) close(file);
  close(from);
  return result;
}

static int copy_link(const struct visit *visit, int to) {
  char target[PATH_MAX];
  const ssize_t length = readlinkat(visit->directory, visit->name, target, sizeof target - 1);
  if (length < 0) return -1;
  target[length] = 0;
  return symlinkat(target, to, visit->path);
}

static int copy_one(void *context, const struct visit *visit) {
  struct copying *copying = context;
  if (++copying->files > MAX_FILES || (copying->bytes += visit->status.st_size) > MAX_BYTES) return errno = EFBIG, -1;
  if (S_ISDIR(visit->status.st_mode)) return mkdirat(copying->to, visit->path, 0755);
  if (S_ISLNK(visit->status.st_mode)) return copy_link(visit, copying->to);
  return S_ISREG(visit->status.st_mode) ? copy_file(visit, copying->to) : 0;
}

int copy_tree(int from, int to) {
  struct copying copying = {to, 0, 0};
  return visit_all(from, "", 0, copy_one, &copying);
}

/* --- fingerprints --- */

static uint64_t mix(uint64_t mark, uint64_t value) { return (mark ^ value) * 0x100000001b3ULL; }

struct marking {
  uint64_t mark;
  long count;
};

static int mark_one(void *context, const struct visit *visit) {
  struct marking *marking = context;
  uint64_t one = 0xcbf29ce484222325ULL;
  for (const char *at = visit->path; *at != 0; at++) one = mix(one, (unsigned char)*at);
  one = mix(mix(one, visit->status.st_mode), (uint64_t)visit->status.st_size);
  one = mix(mix(one, (uint64_t)visit->status.st_mtim.tv_sec), (uint64_t)visit->status.st_mtim.tv_nsec);
  /* A sum, so that the order of listing does not matter. */
  marking->mark += S_ISDIR(visit->status.st_mode) ? 0 : one;
  return ++marking->count > MAX_MARKED;
}

uint64_t tree_mark(int directory) {
  struct marking marking = {1, 0};
  visit_all(directory, "", 0, mark_one, &marking);
  return marking.mark;
}

/* --- comparing --- */

struct comparing {
  int other, told, by_name;
  void (*tell)(void *context, const char *path);
  void *context;
};

static int has_same_bytes(int one, int other) {
  static char a[PART], b[PART];
  for (;;) {
    const ssize_t got = read(one, a, sizeof a), also = read(other, b, sizeof b);
    if (got != also || got < 0 || memcmp(a, b, (size_t)got) != 0) return 0;
    if (got == 0) return 1;
  }
}

static int is_same(const struct visit *visit, int other) {
  int one = openat(visit->directory, visit->name, IN_PLACE);
  int two = openat(other, visit->path, IN_PLACE);
  const int result = one >= 0 && two >= 0 && has_same_bytes(one, two);
  if (one >= 0) close(one);
  if (two >= 0) close(two);
  return result;
}

static int compare_one(void *context, const struct visit *visit) {
  struct comparing *comparing = context;
  if (S_ISDIR(visit->status.st_mode)) return 0;
  const int is_there = faccessat(comparing->other, visit->path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  const int is_other = comparing->by_name ? !is_there : !S_ISREG(visit->status.st_mode) ? !is_there : !is_same(visit, comparing->other);
  if (is_other) comparing->tell(comparing->context, visit->path);
  return is_other && ++comparing->told == MAX_TOLD ? 1 : 0;
}

void compare_trees(int one, int other, void (*tell)(void *context, const char *path), void *context) {
  struct comparing comparing = {other, 0, 0, tell, context};
  if (visit_all(one, "", 0, compare_one, &comparing) != 0) return;
  comparing.other = one;
  comparing.by_name = 1;
  visit_all(other, "", 0, compare_one, &comparing);
}
