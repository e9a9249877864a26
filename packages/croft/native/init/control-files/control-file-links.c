#define _GNU_SOURCE
#include "init/control-files/control-file-links.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init/control-files/find-control-files.h"

struct guarded_file guarded_files[MAX_GUARDED_FILES];
int guarded_file_count;
const char *top, *own_git;

static int add(const char *path, int is_link, int is_copy) {
  for (int i = 0; i < guarded_file_count; i++)
    if (strcmp(guarded_files[i].path, path) == 0) return 0;
  if (guarded_file_count == MAX_GUARDED_FILES) return errno = E2BIG, -1;
  guarded_files[guarded_file_count] = (struct guarded_file){strdup(path), is_link, is_copy, 0};
  return guarded_files[guarded_file_count++].path == NULL ? -1 : 0;
}

int add_guarded_file(const char *path) { return add(path, 0, 0); }

static int cannot_hold(const char *path) {
  fprintf(stderr, "croft-init: %s is a link to a directory and cannot be held in place; put the directory there itself\n", path + 1);
  return errno = EMLINK, -1;
}

/* A control file may be a link, and so may its target: a program that can change one of them changes what is obeyed.
   So every link is held, unless it leads to a directory that programs need. */
static int add_hop(const char *path, const char *whole, int is_last) {
  struct stat status;
  const int is_directory = stat(whole, &status) == 0 && S_ISDIR(status.st_mode);
  const char *name = strrchr(path, '/') + 1;
  if (is_directory && (!is_last || strcmp(name, ".git") == 0)) return cannot_hold(path);
  return add(path, 1, 0);
}

/* Moves the first name of `rest` to `done`. Returns 0 at the end, -1 when the path leaves the workspace. */
static int step(char *done, char *rest) {
  char name[NAME_MAX + 1];
  const char *from = rest + strspn(rest, "/");
  const size_t length = strcspn(from, "/"), so_far = strlen(done);
  if (length == 0) return 0;
  if (length > NAME_MAX || so_far + length + 2 > PATH_MAX) return -1;
  memcpy(name, from, length);
  name[length] = 0;
  memmove(rest, from + length, strlen(from + length) + 1);
  if (strcmp(name, ".") == 0) return 1;
  if (strcmp(name, "..") != 0) return sprintf(done + so_far, "/%s", name);
  char *parent = strrchr(done, '/');
  if (parent == NULL) return -1;
  *parent = 0;
  return 1;
}

/* Removes the root from an absolute path. Returns -1 if the path leads elsewhere. */
static int enter(char *rest) {
  char done[PATH_MAX] = "";
  for (int more; (more = step(done, rest)) > 0;)
    if (strcmp(done, top) == 0) return 0;
  return -1;
}

/* Handles a path that leaves the root by `..` and may enter it again by its name. */
static int come_back(char *rest) {
  char whole[PATH_MAX];
  const int parent = (int)(strrchr(top, '/') - top);
  if (snprintf(whole, sizeof whole, "%.*s/%s", parent, top, rest) >= (int)sizeof whole) return -1;
  strcpy(rest, whole);
  return enter(rest);
}

/* Replaces a link by its target in `rest`. Returns -1 if the target is not in the workspace. */
static int follow(const char *whole, char *done, char *rest) {
  char target[PATH_MAX], after[PATH_MAX];
  ssize_t length = readlink(whole, target, sizeof target - 1);
  if (length < 0) return -1;
  target[length] = 0;
  strcpy(after, rest);
  if (snprintf(rest, PATH_MAX, "%s/%s", target, after) >= PATH_MAX) return -1;
  if (target[0] != '/') return 0;
  done[0] = 0;
  return enter(rest);
}

/* Whether we may create a file at this path. The settings of one repository must not make us create files in another
   one's git directory. */
static int may_make(const char *path) {
  const size_t length = own_git == NULL ? 0 : strlen(own_git);
  return strstr(path, "/.git/") == NULL || (length > 0 && strncmp(path, own_git, length) == 0 && path[length] == '/');
}

enum found { FAILED = -1, NOTHING, PLAIN, LINK };

/* Creates a file or directory that would be obeyed as soon as it exists. Otherwise a program could create it first. */
static enum found make_missing(const char *whole, int is_directory) {
  int made = is_directory ? mkdir(whole, 0755) : open(whole, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (!is_directory && made >= 0) close(made);
  if (made >= 0 || errno == EEXIST) return PLAIN;
  return errno == ENOSPC || errno == EDQUOT ? FAILED : NOTHING;
}

static enum found find_or_make(const char *whole, const char *path, int is_directory) {
  struct stat status;
  if (lstat(whole, &status) == 0) return S_ISLNK(status.st_mode) ? LINK : PLAIN;
  return errno == ENOENT && may_make(path) ? make_missing(whole, is_directory) : NOTHING;
}

int add_chain(const char *path, int is_directory) {
  char done[PATH_MAX] = "", rest[PATH_MAX], whole[2 * PATH_MAX];
  if (snprintf(rest, sizeof rest, "%s", path) >= (int)sizeof rest) return 0;
  for (int hops = 0, more; (more = step(done, rest)) != 0;) {
    if (more < 0 && done[0] == 0 && come_back(rest) == 0) continue;
    if (more < 0) return 0;
    snprintf(whole, sizeof whole, "%s%s", top, done);
    const int is_last = rest[strspn(rest, "/")] == 0;
    const enum found found = find_or_make(whole, done, is_directory || !is_last);
    if (found == PLAIN) continue;
    if (found != LINK) return found == FAILED ? -1 : 0;
    if (add_hop(done, whole, is_last) != 0) return -1;
    *strrchr(done, '/') = 0;
    if (++hops > 40 || follow(whole, done, rest) != 0) return 0;
  }
  /* Directories outside of .git get a copy, because people keep them under version control. Directories in .git are
     git's own. */
  return done[0] == 0 ? 0 : add(done, 0, is_directory && strstr(done, "/.git/") == NULL);
}

/* Returns the part of a `~` path below the root. The home may be any directory above the root. */
static const char *below_home(const char *name) {
  const char *rest = strchr(name, '/');
  for (const char *tail = strchr(top, '/'); rest != NULL && tail != NULL; tail = strchr(tail + 1, '/')) {
    const size_t length = strlen(tail);
    if (strncmp(rest, tail, length) == 0 && rest[length] == '/') return rest + length;
  }
  return NULL;
}

int locate(char *path, const char *from, const char *value) {
  if (value[0] == 0) return -1;
  const char *rest = value[0] == '~' ? below_home(value) : value;
  const int is_whole = value[0] == '/' || value[0] == '~';
  if (rest == NULL) return -1;
  if (snprintf(path, PATH_MAX, "%s%s%s", is_whole ? "" : from, is_whole ? "" : "/", rest) >= PATH_MAX) return -1;
  return value[0] == '/' ? enter(path) : 0;
}
