#define _GNU_SOURCE
#include "init/guard/judged-opens.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "init/control-files/control-names.h"
#include "init/guard/call-judge.h"
#include "init/guard/hold-by-mount.h"
#include "init/guard/hold-control-files.h"
#include "init/guard/hold-repositories.h"
#include "init/guard/misspelt-names.h"
#include "init/guard/name-meanings.h"
#include "init/guard/private-copies-of-directories.h"
#include "init/guard/private-copies-of-files.h"
#include "init/guard/set-aside-files.h"
#include "init/guard/settings-drafts.h"

#define MAX_LINKS 40
#define TMPFILE (O_TMPFILE & ~O_DIRECTORY)
/* The open must neither block this thread nor give it a terminal. */
#define SAFELY (O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

static int error_of(long result) { return result < 0 ? errno : 0; }

static int is_there(const struct parent_entry *entry) {
  return faccessat(entry->directory, entry->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int refuse_name(const struct parent_entry *entry) {
  char below[PATH_MAX], path[2 * PATH_MAX];
  if (depth_of(entry->directory, below, sizeof below) < 0) below[0] = 0;
  snprintf(path, sizeof path, "%s%s%s", below, below[0] == 0 ? "" : "/", entry->name);
  tell_held("control-file", path, "");
  return EACCES;
}

static int may_write_at(const char *path) {
  for (const char *const *one = judged_writable; *one != NULL; one++)
    if (is_path_below(path, *one)) return 1;
  return 0;
}

int may_write(int directory) {
  char path[PATH_MAX];
  path_of(directory, path, sizeof path);
  return may_write_at(path);
}

static int may_be_of_git(const struct parent_entry *entry, const char *below, mode_t mode) {
  return mode & 0111 || strstr(below, "/hooks") != NULL || strstr(entry->name, "config") != NULL || strcmp(entry->name, "hooks") == 0;
}

/* Most files need no judgement: those whose name and directory can mean nothing. */
static int is_ordinary(const struct parent_entry *entry, const char *path, mode_t mode) {
  if (has_odd_spelling(path, entry->name)) return 0;
  if (!is_path_below(path, judged_workspace)) return !may_be_of_git(entry, path, mode);
  const char *below = path + strlen(judged_workspace);
  if (strstr(below, "/.") != NULL || may_be_of_git(entry, below, mode) || is_control_file(entry->name)) return 0;
  return !is_guarded_path(below + (*below == '/'), entry->name, 1);
}

/* --- what somebody outside changed --- */

int hold_before(const struct parent_entry *entry) {
  char path[PATH_MAX];
  path_of(entry->directory, path, sizeof path);
  const char *last = strrchr(path, '/');
  int directory = -1;
  if (last != NULL && strcmp(last, "/hooks") == 0) directory = openat(entry->directory, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
  else if (strncmp(entry->name, "config", 6) == 0) directory = openat(entry->directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return 0;
  int error = 0;
  if (is_git_like(directory) && is_git_judged_in(directory)) error = error_of(repository_adopt(directory));
  if (error == 0 && repositories_check(1) != 0) error = EACCES;
  close(directory);
  return error;
}

int cover_before(pid_t thread, int from, const char *path) {
  char before[PATH_MAX];
  for (const char *at = path; *at != 0; at += strspn(at, "/")) {
    const size_t length = strcspn(at, "/");
    snprintf(before, sizeof before, "%.*s", (int)length, at);
    const int is_control = at[length] == '/' && before[0] == '.' && is_control_directory(before);
    at += length;
    if (!is_control) continue;
    struct parent_entry entry;
    snprintf(before, sizeof before, "%.*s", (int)(at - path), path);
    if (caller_parent(thread, from, before, &entry) != 0) return 0;
    const int result = is_top(entry.directory) ? private_adopt(entry.directory, entry.name) : 0;
    close(entry.directory);
    return result == 0 ? 0 : EACCES;
  }
  return 0;
}

/* --- one name --- */

/* The errno that the kernel and Landlock return where programs may not write. */
static int refusal_of(const struct parent_entry *entry, int flags) {
  if (!is_there(entry) && !(flags & O_CREAT)) return ENOENT;
  const char *name = is_there(entry) ? entry->name : ".";
  return faccessat(entry->directory, name, W_OK, AT_EACCESS) == 0 ? EACCES : errno;
}

static int is_link(const struct parent_entry *entry) {
  struct stat status;
  return fstatat(entry->directory, entry->name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

static int may_become_git(const struct parent_entry *entry) {
  if (meaning_of(entry) != COMPLETES_GIT) return 0;
  return error_of(repository_adopt(entry->directory));
}

/* Opening with O_CREAT what exists may only read. */
static int only_reads(const struct parent_entry *entry, int flags) {
  return (flags & (O_ACCMODE | O_TRUNC | TMPFILE)) == O_RDONLY && is_there(entry);
}

/* Returns 0 if a program may open this name for writing, or an errno. */
static int judge(const struct parent_entry *entry, int flags, mode_t mode) {
  if (is_misspelt(entry)) return refuse_name(entry);
  int error = hold_before(entry);
  if (error != 0) return error;
  if (is_held_name(entry)) return EROFS;
  const enum meaning meaning = meaning_of(entry);
  if (meaning == WORKTREE_SETTINGS || is_others_draft(entry)) return refuse_name(entry);
  if (meaning == FILE_AT_TOP && files_at_top_meet(entry->directory, entry->name, flags) != 0) return refuse_name(entry);
  /* git only requires `objects` and `refs` to be executable, which a plain file can be too. */
  const int makes_executable = flags & (O_CREAT | TMPFILE) && mode & 0111;
  if (!makes_executable) return 0;
  return meaning == EDITOR && !is_there(entry) ? refuse_name(entry) : may_become_git(entry);
}

/* A program's terminal under its general name, which would mean another one to this thread. */
static int open_terminal_of(pid_t thread, int flags) {
  char path[32];
  const dev_t terminal = caller_terminal(thread);
  if (terminal == 0) return errno = ENXIO, -1;
  snprintf(path, sizeof path, "/dev/pts/%u", minor(terminal));
  return open(path, flags);
}

static int is_fifo(int handle) {
  struct stat status;
  return fstat(handle, &status) == 0 && S_ISFIFO(status.st_mode);
}

/* The open would block: for a FIFO, `opened` gets a handle with which it is tried again. */
static int open_special(pid_t thread, const struct parent_entry *entry, int flags, struct opened *opened) {
  struct stat status;
  if (fstatat(entry->directory, entry->name, &status, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  if (S_ISCHR(status.st_mode) && status.st_rdev == makedev(5, 0)) {
    opened->handle = open_terminal_of(thread, flags | SAFELY);
    return error_of(opened->handle);
  }
  if (!S_ISFIFO(status.st_mode) || flags & O_NONBLOCK) return ENXIO;
  opened->handle = openat(entry->directory, entry->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  return opened->handle < 0 ? errno : is_fifo(opened->handle) ? WAITS : ENXIO;
}

/* Returns ELOOP for a link, which the caller of this function follows. */
static int open_entry(pid_t thread, const struct parent_entry *entry, int flags, mode_t mode, struct opened *opened) {
  char path[PATH_MAX];
  const int is_reader = only_reads(entry, flags);
  path_of(entry->directory, path, sizeof path);
  if (!may_write_at(path)) return is_link(entry) ? ELOOP : is_reader && !(mode & 0111) ? GO_ON : refusal_of(entry, flags);
  const int error = is_reader || is_ordinary(entry, path, mode) ? 0 : judge(entry, flags, mode);
  if (error == EROFS) {
    opened->handle = repository_make_sample(entry->directory, entry->name, flags | O_NOFOLLOW | SAFELY, mode & ~caller_umask(thread));
    if (opened->handle >= 0) return 0;
  }
  if (error != 0) return error;
  if (is_reader) flags &= ~O_CREAT;
  const int is_new = flags & O_CREAT && !is_there(entry);
  opened->handle = private_file_open(entry->directory, entry->name, flags);
  if (opened->handle >= 0) return 0;
  opened->handle = openat(entry->directory, entry->name, flags | O_NOFOLLOW | SAFELY, is_new || flags & TMPFILE ? mode & ~caller_umask(thread) : mode);
  if (opened->handle >= 0 && is_new) draft_made(entry);
  if (opened->handle < 0) return errno == ENXIO ? open_special(thread, entry, flags, opened) : errno;
  return 0;
}

/* --- one open file by its number --- */

static int judge_by_name(int handle, int flags) {
  struct parent_entry entry;
  int error = name_of_file(handle, &entry);
  if (error != 0) return EACCES;
  error = may_write(entry.directory) ? judge(&entry, flags & ~O_CREAT, 0) : refusal_of(&entry, flags);
  close(entry.directory);
  return error;
}

/* Opens `/proc/self/fd/N` and `/dev/fd/N`: the program may have opened the file for reading when it had another
   name. Closes `handle`. */
static int open_again(int handle, int flags, struct opened *opened) {
  char link[32];
  struct stat status;
  if (handle < 0) return errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
  int error = error_of(fstat(handle, &status));
  if (error == 0 && S_ISREG(status.st_mode) && status.st_nlink > 0) error = judge_by_name(handle, flags);
  if (error == 0) opened->handle = open(link, (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | SAFELY);
  if (error == 0) error = error_of(opened->handle);
  close(handle);
  return error;
}

/* --- the call --- */

/* Opens the path, and the targets of links at its end. */
static int open_path(pid_t thread, int from, const char *asked, int flags, mode_t mode, struct opened *opened) {
  char path[PATH_MAX];
  int base = -1, error = ELOOP;
  snprintf(path, sizeof path, "%s", asked);
  for (int links = 0; links < MAX_LINKS && error == ELOOP; links++) {
    struct parent_entry entry;
    const int number = caller_number(thread, path);
    if (number >= 0) {
      error = open_again(caller_handle(thread, number), flags, opened);
      break;
    }
    error = base < 0 || path[0] == '/' ? caller_parent(thread, from, path, &entry) : caller_parent(getpid(), base, path, &entry);
    if (error != 0) break;
    error = open_entry(thread, &entry, flags, mode, opened);
    /* A link: continue from its target. */
    const ssize_t length = error == ELOOP && !(flags & O_NOFOLLOW) ? readlinkat(entry.directory, entry.name, path, sizeof path - 1) : -1;
    if (base >= 0) close(base);
    base = entry.directory;
    if (length < 0) break;
    path[length] = 0;
  }
  if (base >= 0) close(base);
  return error;
}

int judged_open(pid_t thread, int from, const char *path, int flags, mode_t mode, struct opened *opened) {
  opened->flags = flags;
  int error = cover_before(thread, from, path);
  if (error == 0) error = open_path(thread, from, path, flags, mode, opened);
  if (error == 0 && !(flags & O_NONBLOCK)) fcntl(opened->handle, F_SETFL, flags);
  return error;
}

int judged_truncate(pid_t thread, int from, const char *path, off_t length) {
  struct opened opened = {-1, 0};
  int error = judged_open(thread, from, path, O_WRONLY | O_NONBLOCK, 0, &opened);
  if (error == 0) error = error_of(ftruncate(opened.handle, length));
  if (opened.handle >= 0) close(opened.handle);
  return error;
}
