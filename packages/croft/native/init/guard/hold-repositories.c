#define _GNU_SOURCE
#include "init/guard/hold-repositories.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "init/control-files/control-names.h"
#include "init/control-files/git-config-changes.h"
#include "init/guard/call-judge.h"
#include "init/guard/hold-by-mount.h"
#include "init/guard/hooks-directory.h"
#include "init/guard/stop-programs.h"

#define MAX_REPOSITORIES 1024
#define TEMPORARY "config.croft"
#define SET_ASIDE "config.held-by-croft"

struct repository {
  int handle; /* the git directory */
  int config; /* its settings and its hooks, opened below the mounts */
  int hooks;
  dev_t device;
  ino_t inode;
  uint64_t config_mount, hooks_mount;
  char *known; /* the settings when last judged */
  size_t known_length;
  int is_own, watch;
  int is_modified; /* written to since the events were last read, and not replaced */
  int is_replaced, is_touched; /* replaced from outside; and written to around that moment */
  int is_emptied, is_unhooked; /* a program removed its settings; or its hooks */
};

static struct repository repositories[MAX_REPOSITORIES];
static int repository_count, notices = -1;

/* --- finding --- */

static int is_there(int directory, const char *name) {
  return faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int is_of_kind(int directory, const char *name, mode_t kind) {
  struct stat status;
  return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && (status.st_mode & S_IFMT) == kind;
}

int is_git_like(int directory) {
  char path[PATH_MAX];
  path_of(directory, path, sizeof path);
  const char *name = strrchr(path, '/');
  return (name != NULL && strcmp(name, "/.git") == 0) || (is_there(directory, "objects") && is_there(directory, "refs"));
}

int completes_git(int directory, const char *name) {
  if (strcmp(name, "objects") == 0) return is_there(directory, "refs");
  return strcmp(name, "refs") == 0 && is_there(directory, "objects");
}

static struct repository *find(int directory) {
  struct stat status;
  if (fstat(directory, &status) != 0) return NULL;
  for (struct repository *one = repositories; one < repositories + repository_count; one++)
    if (one->handle >= 0 && one->inode == status.st_ino && one->device == status.st_dev) return one;
  return NULL;
}

int is_known_repository(int directory) { return find(directory) != NULL; }

int is_repository(int directory) { return is_git_like(directory) || is_known_repository(directory); }

/* Reads a small plain file into memory that the caller frees. Returns NULL on failure. */
static char *read_small(int directory, const char *name, size_t *length) {
  struct stat status;
  char *text = NULL;
  int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return NULL;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > MAX_CONFIG) errno = EFBIG;
  else if ((text = malloc(MAX_CONFIG + 1)) != NULL) {
    const ssize_t got = read(file, text, MAX_CONFIG + 1);
    if (got >= 0 && got <= MAX_CONFIG) *length = (size_t)got;
    else free(text), text = NULL, errno = EFBIG;
  }
  int error = errno;
  close(file);
  errno = error;
  return text;
}

/* --- holding --- */

static void know(struct repository *one, char *text, size_t length) {
  free(one->known);
  one->known = text;
  one->known_length = length;
}

static int hold_config(struct repository *one) {
  size_t length = 0;
  char *text = read_small(one->handle, "config", &length);
  if (text != NULL) know(one, text, length);
  one->config = openat(one->handle, "config", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (one->config < 0 && errno != EACCES && errno != EROFS && errno != EPERM) return -1;
  if (!is_allowed(".git/config") && hold(one->handle, "config", 1) != 0) return -1;
  one->config_mount = mount_at(one->handle, "config");
  return 0;
}

static int hold_settings(struct repository *one) {
  one->hooks = openat(one->handle, "hooks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (hold_config(one) != 0) return -1;
  if (!is_allowed(".git/hooks") && hold(one->handle, "hooks", 1) != 0) return -1;
  one->hooks_mount = mount_at(one->handle, "hooks");
  return 0;
}

static void forget(struct repository *one) {
  know(one, NULL, 0);
  if (one->config >= 0) close(one->config);
  if (one->hooks >= 0) close(one->hooks);
  if (one->handle >= 0) close(one->handle);
  one->handle = one->config = one->hooks = -1;
}

static struct repository *free_place(void) {
  for (struct repository *one = repositories; one < repositories + repository_count; one++)
    if (one->handle < 0) return one;
  return repository_count == MAX_REPOSITORIES ? (errno = E2BIG, NULL) : &repositories[repository_count++];
}

static void watch(struct repository *one) {
  char path[32];
  if (notices < 0 || one->watch >= 0) return;
  snprintf(path, sizeof path, "/proc/self/fd/%d", one->handle);
  one->watch = inotify_add_watch(notices, path, IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_MODIFY);
}

static int remember(int directory, int is_own) {
  struct stat status;
  struct repository *one = free_place();
  if (one == NULL) return -1;
  *one = (struct repository){.handle = -1, .config = -1, .hooks = -1, .is_own = is_own, .watch = -1};
  if (fstat(directory, &status) != 0) return -1;
  one->device = status.st_dev;
  one->inode = status.st_ino;
  one->handle = openat(directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (one->handle >= 0 && hold_settings(one) == 0) return watch(one), 0;
  int error = errno;
  forget(one);
  errno = error;
  return -1;
}

static int make_file(int directory, const char *name, const char *text, size_t length) {
  int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file < 0) return -1;
  const int result = write(file, text, length) == (ssize_t)length ? 0 : -1;
  int error = errno;
  close(file);
  errno = error;
  return result;
}

int repository_hold(int directory, int is_own) {
  if (find(directory) != NULL) return 0;
  if (!is_there(directory, "config") && make_file(directory, "config", "", 0) != 0 && errno != EROFS) return -1;
  if (!is_there(directory, "hooks") && mkdirat(directory, "hooks", 0755) != 0 && errno != EROFS) return -1;
  /* Links are held by their targets: see control-file-links.c. */
  if (!is_of_kind(directory, "config", S_IFREG) || !is_of_kind(directory, "hooks", S_IFDIR)) return 0;
  return remember(directory, is_own);
}

static int refuse(int directory, const char *detail) {
  char below[PATH_MAX];
  if (git_depth_of(directory, below, sizeof below) < 0) strcpy(below, "?");
  tell_held("repository", below, detail);
  return errno = EACCES, -1;
}

/* Replaces the file by a new one, so that programs that have the old one open cannot change the settings. */
static int renew_config(int directory) {
  char key[MAX_FULL_KEY], below[PATH_MAX];
  size_t length = 0;
  if (!is_there(directory, "config")) return make_file(directory, "config", "", 0);
  char *text = read_small(directory, "config", &length);
  if (text == NULL) return refuse(directory, "config is no plain file");
  const int is_safe = is_safe_change("", 0, text, length, git_depth_of(directory, below, sizeof below), key);
  if (is_safe) unlinkat(directory, TEMPORARY, 0);
  int result = is_safe ? make_file(directory, TEMPORARY, text, length) : refuse(directory, key);
  if (result == 0) result = renameat(directory, TEMPORARY, directory, "config");
  int error = errno;
  free(text);
  errno = error;
  return result;
}

static int adopt_still(int directory) {
  if (!is_allowed(".git/config") && renew_config(directory) != 0) return -1;
  if (!is_allowed(".git/hooks") && hooks_renew(directory) != 0) return refuse(directory, "hooks");
  return remember(directory, 0);
}

/* The directories that the call in progress makes git directories: a call has at most two paths. */
static int unsettled[2] = {-1, -1};

static void settle_later(int directory) {
  for (int i = 0; i < 2; i++) {
    if (unsettled[i] >= 0) continue;
    unsettled[i] = openat(directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return;
  }
}

int repository_adopt(int directory) {
  char below[PATH_MAX];
  if (find(directory) != NULL || git_depth_of(directory, below, sizeof below) < 0) return 0;
  if (stop_programs() != 0) return errno = EACCES, -1;
  const int is_new = !is_git_like(directory);
  int result = adopt_still(directory);
  int error = errno;
  continue_programs();
  if (result == 0 && is_new) settle_later(directory);
  if (result != 0 && error != EACCES) tell_held("repository", below, strerror(error));
  return errno = result == 0 ? 0 : EACCES, result;
}

static int renew_without_settings(int directory) {
  refuse(directory, "written from another sandbox");
  unlinkat(directory, TEMPORARY, 0);
  return make_file(directory, TEMPORARY, "", 0) != 0 ? -1 : renameat(directory, TEMPORARY, directory, "config");
}

static int renew_without_hooks(int directory) {
  char name[64];
  refuse(directory, "hooks from another sandbox");
  snprintf(name, sizeof name, "hooks.held-by-croft-%lld", (long long)time(NULL));
  return renameat(directory, "hooks", directory, name) != 0 ? -1 : mkdirat(directory, "hooks", 0755);
}

static int settle_still(struct repository *one, int directory) {
  remove_mount(directory, "config");
  remove_mount(directory, "hooks");
  forget(one);
  if (!is_allowed(".git/config") && renew_config(directory) != 0 && renew_without_settings(directory) != 0) return -1;
  if (!is_allowed(".git/hooks") && hooks_renew(directory) != 0 && renew_without_hooks(directory) != 0) return -1;
  return remember(directory, 0);
}

static int settle(int directory) {
  struct repository *one = find(directory);
  if (one == NULL || !is_git_like(directory)) return 0;
  if (stop_programs() != 0) return -1;
  const int result = settle_still(one, directory);
  continue_programs();
  return result;
}

int repositories_settle(void) {
  int result = 0;
  for (int i = 0; i < 2; i++) {
    if (unsettled[i] < 0) continue;
    if (settle(unsettled[i]) != 0) result = -1;
    close(unsettled[i]);
    unsettled[i] = -1;
  }
  return result;
}

/* --- settings --- */

/* Writes in place: a rename would remove the mount in every sandbox. */
static int overwrite(int file, const char *text, size_t length) {
  if (file < 0) return errno = EACCES, -1;
  for (size_t at = 0; at < length;) {
    const ssize_t written = pwrite(file, text + at, length - at, (off_t)at);
    if (written <= 0) return -1;
    at += (size_t)written;
  }
  return ftruncate(file, (off_t)length);
}

static int change(struct repository *one, const char *text, size_t length) {
  char key[MAX_FULL_KEY], below[PATH_MAX];
  size_t old_length = 0;
  char *old = read_small(one->handle, "config", &old_length);
  const int depth = git_depth_of(one->handle, below, sizeof below);
  const int is_safe = old != NULL && depth >= 0 && is_safe_change(old, old_length, text, length, depth, key);
  int result = is_safe ? overwrite(one->config, text, length) : -1;
  if (!is_safe && old != NULL && depth >= 0) {
    strncat(below, "/config", sizeof below - strlen(below) - 1);
    tell_held("git-setting", below, key);
  }
  free(old);
  if (result != 0) return errno = EACCES, -1;
  char *copy = malloc(length + 1);
  if (copy != NULL) know(one, memcpy(copy, text, length), length);
  one->is_emptied = 0;
  return 0;
}

int repository_change(int directory, int from, const char *name) {
  size_t length = 0;
  if (find(directory) == NULL && repository_adopt(directory) != 0) return -1;
  if (repositories_check(1) != 0) return errno = EACCES, -1;
  struct repository *one = find(directory);
  if (one == NULL) return errno = EACCES, -1;
  char *text = read_small(from, name, &length);
  if (text == NULL) return errno = errno == ENOENT ? ENOENT : EACCES, -1;
  int result = change(one, text, length);
  free(text);
  if (result == 0) unlinkat(from, name, 0);
  else errno = EACCES;
  return result;
}

/* Creates a new file, because a program may have the old one open. */
int worktree_settings_change(int directory, int from, const char *name) {
  char key[MAX_FULL_KEY], below[PATH_MAX];
  size_t length = 0, old_length = 0;
  char *text = read_small(from, name, &length);
  if (text == NULL) return errno = errno == ENOENT ? ENOENT : EACCES, -1;
  char *old = read_small(directory, "config.worktree", &old_length);
  const int depth = git_depth_of(directory, below, sizeof below);
  const int is_safe = is_safe_change(old == NULL ? "" : old, old_length, text, length, depth, key);
  if (!is_safe) tell_held("git-setting", strncat(below, "/config.worktree", sizeof below - strlen(below) - 1), key);
  if (is_safe) unlinkat(directory, TEMPORARY, 0);
  int result = is_safe ? make_file(directory, TEMPORARY, text, length) : (errno = EACCES, -1);
  if (result == 0) result = renameat(directory, TEMPORARY, directory, "config.worktree");
  if (result == 0) result = unlinkat(from, name, 0);
  int error = errno;
  free(old);
  free(text);
  errno = error;
  return result;
}

/* --- removing --- */

int repository_unlink(int directory, const char *name, int *result) {
  if (strcmp(name, "config") != 0 && strcmp(name, "hooks") != 0) return 0;
  struct repository *one = find(directory);
  if (one == NULL || one->is_own) return 0;
  int *is_gone = strcmp(name, "hooks") == 0 ? &one->is_unhooked : &one->is_emptied;
  /* A second removal fails, so that a program that creates it, fails and removes it again does not loop forever. */
  if (*is_gone) return *result = -1, errno = EBUSY, 1;
  *is_gone = 1;
  *result = is_gone == &one->is_unhooked ? 0 : one->config < 0 ? (errno = EACCES, -1) : ftruncate(one->config, 0);
  return 1;
}

/* Finds the repository, other than the workspace's own one, that has this directory of hooks. */
static struct repository *find_by_hooks(int directory) {
  struct stat asked, known;
  if (fstat(directory, &asked) != 0) return NULL;
  for (struct repository *one = repositories; one < repositories + repository_count; one++) {
    if (one->handle < 0 || one->is_own || fstat(one->hooks, &known) != 0) continue;
    if (known.st_ino == asked.st_ino && known.st_dev == asked.st_dev) return one;
  }
  return NULL;
}

/* Removing a hook is safe: git executes less. */
int repository_unlink_hook(int directory, const char *name, int flags, int *result) {
  struct repository *one = find_by_hooks(directory);
  if (one == NULL) return 0;
  *result = unlinkat(one->hooks, name, flags);
  return 1;
}

int repository_make_sample(int directory, const char *name, int flags, unsigned mode) {
  struct repository *one = flags & O_CREAT && is_sample(name) ? find_by_hooks(directory) : NULL;
  return one == NULL ? (errno = EROFS, -1) : openat(one->hooks, name, flags, mode);
}

int repository_chmod(int handle, unsigned mode, int *result) {
  struct stat asked, known;
  if (fstat(handle, &asked) != 0) return 0;
  for (struct repository *one = repositories; one < repositories + repository_count; one++) {
    if (one->handle < 0 || one->is_own || one->config < 0 || fstat(one->config, &known) != 0) continue;
    if (known.st_ino != asked.st_ino || known.st_dev != asked.st_dev) continue;
    *result = fchmod(one->config, mode);
    return 1;
  }
  return 0;
}

static int holds_nothing_else(int directory) {
  static const char *const ours[] = {".", "..", "config", "hooks"};
  return lists_only(directory, ours, sizeof ours / sizeof *ours);
}

int repository_remove(int parent, const char *name, int *result) {
  int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return 0;
  struct repository *one = find(directory);
  const int is_ours = one != NULL && !one->is_own && holds_nothing_else(directory);
  if (is_ours && stop_programs() == 0) {
    remove_mount(one->handle, "config");
    remove_mount(one->handle, "hooks");
    unlinkat(directory, "config", 0);
    unlinkat(directory, "hooks", AT_REMOVEDIR);
    *result = unlinkat(parent, name, AT_REMOVEDIR);
    int error = errno;
    forget(one);
    if (*result != 0) adopt_still(directory);
    continue_programs();
    errno = error;
  } else if (is_ours) *result = (errno = EBUSY, -1);
  close(directory);
  return is_ours;
}

/* --- changes from outside --- */

void repositories_watch(int by) {
  notices = by;
  for (struct repository *one = repositories; one < repositories + repository_count; one++) {
    if (by < 0) one->watch = -1;
    else if (one->handle >= 0) watch(one);
  }
}

void repositories_noticed(int watch, const char *name, unsigned events) {
  if (strcmp(name, "config") != 0) return;
  for (struct repository *one = repositories; one < repositories + repository_count; one++) {
    if (one->handle < 0 || one->watch != watch) continue;
    /* A program that has the new file open may write to it before the kernel reports the replacement. */
    if (events & (IN_MOVED_TO | IN_CREATE)) one->is_replaced = 1, one->is_touched = one->is_modified;
    else if (events & IN_MODIFY && one->is_replaced) one->is_touched = 1;
    else if (events & IN_MODIFY) one->is_modified = 1;
  }
}

void repositories_missed(void) {
  for (struct repository *one = repositories; one < repositories + repository_count; one++) one->is_replaced = one->is_touched = 1;
}

/* Whether no program has the file open for writing: only then does the kernel grant this lease. It grants none for
   another user's file, which no program in the sandbox could have opened for writing. */
static int is_nobodys(int directory) {
  int file = openat(directory, "config", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return 0;
  int result = fcntl(file, F_SETLEASE, F_RDLCK) == 0 || errno == EINVAL;
  if (!result && errno == EACCES) result = faccessat(directory, "config", W_OK, AT_EACCESS) != 0;
  fcntl(file, F_SETLEASE, F_UNLCK);
  close(file);
  return result;
}

/* A program may have written to the file that somebody outside had just put there. Restores the last known settings
   and keeps the other content beside them. */
static int repair(struct repository *one) {
  char key[MAX_FULL_KEY], below[PATH_MAX];
  size_t length = 0;
  const int depth = git_depth_of(one->handle, below, sizeof below);
  char *text = read_small(one->handle, "config", &length);
  const char *known = one->known == NULL ? "" : one->known;
  const int is_safe = text != NULL && is_safe_change(known, one->known_length, text, length, depth, key);
  int result = 0;
  if (!is_safe) {
    tell_held("git-setting", below, "written from inside while it was replaced from outside");
    unlinkat(one->handle, SET_ASIDE, 0);
    if (text != NULL) make_file(one->handle, SET_ASIDE, text, length);
    int file = openat(one->handle, "config", O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    result = overwrite(file, known, one->known_length);
    if (file >= 0) close(file);
  }
  free(text);
  return result;
}

static int pin_again(struct repository *one, int is_anybody_inside) {
  if (one->config >= 0) close(one->config);
  one->config = -1;
  if (!is_nobodys(one->handle)) return -1;
  judge_hear();
  if (is_anybody_inside && (one->is_touched || one->watch < 0) && repair(one) != 0) return -1;
  return hold_config(one);
}

static int hold_again(struct repository *one, int is_anybody_inside) {
  int result = 0, tries = 0;
  if (stop_programs() != 0) return -1;
  do result = pin_again(one, is_anybody_inside);
  while (result != 0 && is_being_replaced(&tries));
  one->is_modified = one->is_replaced = one->is_touched = 0;
  continue_programs();
  return result;
}

int repositories_check(int is_anybody_inside) {
  for (struct repository *one = repositories; one < repositories + repository_count; one++) {
    if (one->handle < 0) continue;
    const int is_hooks_lost = is_mount_changed(one->handle, "hooks", one->hooks_mount);
    if (!is_hooks_lost && !is_mount_changed(one->handle, "config", one->config_mount)) {
      one->is_modified = 0;
      continue;
    }
    struct stat status;
    /* Somebody outside removed the whole directory. */
    if (fstat(one->handle, &status) == 0 && status.st_nlink == 0) {
      forget(one);
      continue;
    }
    if (is_hooks_lost || !is_of_kind(one->handle, "config", S_IFREG)) return errno = ESTALE, -1;
    if (hold_again(one, is_anybody_inside) != 0) return -1;
  }
  return 0;
}
