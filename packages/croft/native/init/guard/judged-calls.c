#define _GNU_SOURCE
#include "init/guard/judged-calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init/control-files/control-names.h"
#include "init/guard/call-judge.h"
#include "init/guard/hold-by-mount.h"
#include "init/guard/hold-repositories.h"
#include "init/guard/private-directories.h"
#include "init/guard/private-files.h"
#include "init/guard/read-caller.h"
#include "init/guard/set-aside-files.h"

#define MAX_LINKS 40

/* What a new name means to the user's programs. */
enum meaning {
  NOTHING,
  COMPLETES_GIT, /* the directory becomes a git directory */
  SETTINGS,      /* settings of a git directory */
  WORKTREE_SETTINGS, /* git obeys them even in a directory that becomes a git directory under any name */
  HOOKS,
  EDITOR, /* directory of an editor or an agent */
  FILE_AT_TOP,
};

static int is_in_workspace(int directory) {
  char below[PATH_MAX];
  return depth_of(directory, below, sizeof below) >= 0;
}

/* Whether the directory is the top of the workspace or of a repository in it. */
static int is_top(int directory) {
  char below[PATH_MAX];
  const int depth = depth_of(directory, below, sizeof below);
  return depth == 0 || (depth > 0 && faccessat(directory, ".git", F_OK, AT_SYMLINK_NOFOLLOW) == 0);
}

static enum meaning meaning_of_dotted(int directory, const char *name) {
  if (is_control_directory(name)) return is_top(directory) ? EDITOR : NOTHING;
  return is_control_file(name) && is_top(directory) ? FILE_AT_TOP : NOTHING;
}

static enum meaning meaning_of(const struct parent_entry *entry) {
  char name[NAME_MAX + 2];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(entry->name, "/"), entry->name);
  switch (name[0]) {
    case 'o':
    case 'r': return completes_git(entry->directory, name) && is_in_workspace(entry->directory) ? COMPLETES_GIT : NOTHING;
    case 'c':
    case 'h': {
      const int is_settings = strcmp(name, "config") == 0;
      const int is_hooks = strcmp(name, "hooks") == 0;
      if (strcmp(name, "config.worktree") == 0)
        return !is_allowed(".git/config") && is_in_workspace(entry->directory) ? WORKTREE_SETTINGS : NOTHING;
      if (!is_settings && !is_hooks) break;
      if (is_allowed(is_hooks ? ".git/hooks" : ".git/config") || !is_git_like(entry->directory) || !is_in_workspace(entry->directory)) return NOTHING;
      return is_settings ? SETTINGS : HOOKS;
    }
    case '.': return meaning_of_dotted(entry->directory, name);
  }
  return is_control_file(name) && is_top(entry->directory) ? FILE_AT_TOP : NOTHING;
}

static int refuse(const struct parent_entry *entry) {
  char below[PATH_MAX], path[2 * PATH_MAX];
  if (depth_of(entry->directory, below, sizeof below) < 0) below[0] = 0;
  snprintf(path, sizeof path, "%s%s%s", below, below[0] == 0 ? "" : "/", entry->name);
  tell_held("control-file", path, "");
  return EACCES;
}

static int error_of(long result) { return result < 0 ? errno : 0; }

/* --- making --- */

static int make_directory(const struct parent_entry *entry, mode_t mode) {
  struct stat status;
  const enum meaning meaning = meaning_of(entry);
  const int is_new = fstatat(entry->directory, entry->name, &status, AT_SYMLINK_NOFOLLOW) != 0;
  if (is_new && meaning == EDITOR) {
    char name[NAME_MAX + 2];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(entry->name, "/"), entry->name);
    return error_of(private_make(entry->directory, name));
  }
  if (is_new && meaning == COMPLETES_GIT && repository_adopt(entry->directory) != 0) return errno;
  return error_of(mkdirat(entry->directory, entry->name, mode));
}

/* Checks a new name before a call creates it. Settings, hooks and directories of editors have calls of their own and
   are refused here. Returns 0 or an errno. */
static int may_become(const struct parent_entry *entry) {
  switch (meaning_of(entry)) {
    case NOTHING: return 0;
    case COMPLETES_GIT: return error_of(repository_adopt(entry->directory));
    default: return refuse(entry);
  }
}

static int make_link(const char *target, const struct parent_entry *entry) {
  const int error = may_become(entry);
  return error != 0 ? error : error_of(symlinkat(target, entry->directory, entry->name));
}

static int make_name(const struct parent_entry *from, const struct parent_entry *to, int flags) {
  int error = may_become(to);
  if (error == 0) error = error_of(linkat(from->directory, from->name, to->directory, to->name, flags));
  /* The private copy of an editor's directory is on another file system, which the program cannot know: report it. */
  if (error == EXDEV && is_in_workspace(from->directory) && is_in_workspace(to->directory)) refuse(to);
  return error;
}

static int make_node(const struct parent_entry *entry, mode_t mode, dev_t device) {
  const int error = may_become(entry);
  return error != 0 ? error : error_of(syscall(SYS_mknodat, entry->directory, entry->name, mode, device));
}

static int move(const struct parent_entry *from, const struct parent_entry *to, unsigned flags) {
  if (flags & RENAME_EXCHANGE) {
    const int error = may_become(from);
    if (error != 0) return error;
  }
  if (!(flags & RENAME_EXCHANGE) && is_private_file(to->directory, to->name))
    return error_of(private_file_replace(to->directory, to->name, from->directory, from->name, (int)(flags & RENAME_NOREPLACE)));
  if (meaning_of(to) == SETTINGS && flags == 0 && meaning_of(from) != SETTINGS)
    return error_of(repository_change(to->directory, from->directory, from->name));
  if (meaning_of(to) == WORKTREE_SETTINGS && flags == 0)
    return error_of(worktree_settings_change(to->directory, from->directory, from->name));
  const int error = may_become(to);
  return error != 0 ? error : error_of(syscall(SYS_renameat2, from->directory, from->name, to->directory, to->name, flags));
}

/* --- removing --- */

static int remove_name(const struct parent_entry *entry, int flags) {
  int result = unlinkat(entry->directory, entry->name, flags);
  if (result == 0 || (errno != EBUSY && errno != ENOTEMPTY && errno != EROFS)) return error_of(result);
  const int error = errno;
  if (error == EROFS) return repository_unlink_hook(entry->directory, entry->name, flags, &result) ? error_of(result) : EROFS;
  char name[NAME_MAX + 2];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(entry->name, "/"), entry->name);
  if (repository_unlink(entry->directory, name, &result)) return error_of(result);
  if (flags == 0 && is_private_file(entry->directory, name)) return error_of(private_file_remove(entry->directory, name));
  if (!(flags & AT_REMOVEDIR)) return error;
  if (private_remove(entry->directory, name, &result)) return error_of(result);
  return repository_remove(entry->directory, name, &result) ? error_of(result) : error;
}

/* --- opening and modes --- */

/* Whether a path may lead to settings or hooks of a repository, or to a control file, judged by its text alone. */
static int is_of_interest(const char *path) {
  const char *name = strrchr(path, '/');
  name = name == NULL ? path : name + 1;
  return strncmp(name, "config", 6) == 0 || strstr(path, "hooks") != NULL || is_control_file(name);
}

/* Holds a repository that somebody outside created, or whose settings they replaced, since the last check. */
static int hold_before(const struct parent_entry *entry) {
  char path[PATH_MAX];
  path_of(entry->directory, path, sizeof path);
  const char *last = strrchr(path, '/');
  int directory = -1;
  if (last != NULL && strcmp(last, "/hooks") == 0) directory = openat(entry->directory, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
  else if (strncmp(entry->name, "config", 6) == 0) directory = openat(entry->directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return 0;
  int error = 0;
  if (is_git_like(directory) && is_in_workspace(directory)) error = error_of(repository_adopt(directory));
  if (error == 0 && repositories_check(1) != 0) error = EACCES;
  close(directory);
  return error;
}

/* Covers an editor's directory that somebody outside created or replaced since the last check. */
static int cover_before(pid_t thread, int from, const char *path) {
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

/* Checks a path before the program opens it itself. By then the program may have written another path to its memory.
   That path leads to a file that is already held, or to a repository that no program has used yet. */
static int look_before(pid_t thread, int from, const char *path, int flags, struct opened *opened) {
  struct parent_entry entry;
  int error = cover_before(thread, from, path);
  if (error != 0) return error;
  if (!is_of_interest(path) || caller_parent(thread, from, path, &entry) != 0) return GO_ON;
  error = hold_before(&entry);
  if (error == 0 && meaning_of(&entry) == FILE_AT_TOP && files_at_top_meet(entry.directory, entry.name, flags) != 0) error = refuse(&entry);
  if (error == 0 && meaning_of(&entry) == WORKTREE_SETTINGS) error = refuse(&entry);
  if (error == 0) opened->handle = private_file_open(entry.directory, entry.name, flags);
  opened->flags = (unsigned)flags & O_CLOEXEC;
  close(entry.directory);
  return error == 0 && opened->handle < 0 ? GO_ON : error;
}

/* git only requires `objects` and `refs` to be executable, which a plain file can be too. */
static int change_mode(int handle, mode_t mode) {
  char path[PATH_MAX], link[32];
  if (handle < 0) return errno;
  path_of(handle, path, sizeof path);
  snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
  char *name = strrchr(path, '/');
  int error = 0, result = 0;
  if (name != NULL && mode & 0111 && (strcmp(name, "/objects") == 0 || strcmp(name, "/refs") == 0)) {
    struct parent_entry entry;
    snprintf(entry.name, sizeof entry.name, "%.255s", name + 1);
    *name = 0;
    entry.directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    error = entry.directory < 0 ? errno : may_become(&entry);
    if (entry.directory >= 0) close(entry.directory);
  }
  if (error == 0) error = error_of(chmod(link, mode));
  /* git tests on its own settings whether modes are kept. */
  if (error == EROFS && name != NULL && repository_chmod(handle, mode, &result)) error = error_of(result);
  close(handle);
  return error;
}

/* Landlock restricts programs but not this thread, so this thread must not do for them what Landlock forbids. */
static int may_write(int directory) {
  char path[PATH_MAX];
  path_of(directory, path, sizeof path);
  for (const char *const *one = judged_writable; *one != NULL; one++) {
    const size_t length = strlen(*one);
    if (strncmp(path, *one, length) == 0 && (path[length] == '/' || path[length] == 0)) return 1;
  }
  return 0;
}

static int open_new(pid_t thread, int from, const char *asked, int flags, mode_t mode, struct opened *opened) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s", asked);
  int base = -1, error = ELOOP;
  for (int links = 0; links < MAX_LINKS && error == ELOOP; links++) {
    struct parent_entry entry;
    error = base < 0 || path[0] == '/' ? caller_parent(thread, from, path, &entry) : caller_parent(getpid(), base, path, &entry);
    if (base >= 0) close(base);
    base = -1;
    if (error != 0) return error;
    if (!may_write(entry.directory)) return close(entry.directory), EROFS;
    const int is_there = faccessat(entry.directory, entry.name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    error = hold_before(&entry);
    if (error == 0) error = is_there && !completes_git(entry.directory, entry.name) ? 0 : may_become(&entry);
    if (error == 0) {
      opened->handle = openat(entry.directory, entry.name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode);
      error = error_of(opened->handle);
    }
    /* A link: continue from its target. */
    const ssize_t length = error == ELOOP && !(flags & O_NOFOLLOW) ? readlinkat(entry.directory, entry.name, path, sizeof path - 1) : -1;
    if (length < 0) {
      close(entry.directory);
      break;
    }
    path[length] = 0;
    base = entry.directory;
  }
  if (base >= 0) close(base);
  if (error == 0 && !(flags & O_NONBLOCK)) fcntl(opened->handle, F_SETFL, fcntl(opened->handle, F_GETFL) & ~O_NONBLOCK);
  opened->flags = (unsigned)flags & O_CLOEXEC;
  return error;
}

/* --- reading calls --- */

/* A path argument of a call, and the directory it starts from. */
struct where {
  int from;
  uint64_t path;
};

enum deed { MAKES, REMOVES, REPLACES };

/* The errno that the kernel returns for a directory without write access. */
static int refusal_of(const struct parent_entry *entry, enum deed deed) {
  const int is_there = faccessat(entry->directory, entry->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  return deed == MAKES && is_there ? EEXIST : deed == REMOVES && !is_there ? ENOENT : EROFS;
}

static int find_spot(pid_t thread, struct where where, struct parent_entry *entry, enum deed deed) {
  char path[PATH_MAX];
  entry->directory = -1;
  int error = caller_path(thread, where.path, path);
  if (error == 0) error = cover_before(thread, where.from, path);
  if (error == 0) error = caller_parent(thread, where.from, path, entry);
  return error == 0 && !may_write(entry->directory) ? refusal_of(entry, deed) : error;
}

static int do_directory(pid_t thread, struct where where, mode_t mode) {
  struct parent_entry entry;
  int error = find_spot(thread, where, &entry, MAKES);
  if (error == 0) error = make_directory(&entry, mode & 01777 & ~caller_umask(thread));
  if (entry.directory >= 0) close(entry.directory);
  return error;
}

static int do_node(pid_t thread, struct where where, mode_t mode, dev_t device) {
  struct parent_entry entry;
  int error = find_spot(thread, where, &entry, MAKES);
  if (error == 0) error = make_node(&entry, mode & ~caller_umask(thread), device);
  if (entry.directory >= 0) close(entry.directory);
  return error;
}

static int do_remove(pid_t thread, struct where where, int flags) {
  struct parent_entry entry;
  int error = find_spot(thread, where, &entry, REMOVES);
  if (error == 0) error = remove_name(&entry, flags);
  if (entry.directory >= 0) close(entry.directory);
  return error;
}

static int do_symlink(pid_t thread, uint64_t target, struct where where) {
  char text[PATH_MAX];
  struct parent_entry entry = {.directory = -1};
  int error = caller_path(thread, target, text);
  if (error == 0) error = find_spot(thread, where, &entry, MAKES);
  if (error == 0) error = make_link(text, &entry);
  if (entry.directory >= 0) close(entry.directory);
  return error;
}

static int do_two(pid_t thread, struct where one, struct where other, int flags, int is_link) {
  struct parent_entry from, to = {.directory = -1};
  int error = find_spot(thread, one, &from, REMOVES);
  if (error == EROFS && is_link) error = 0;
  if (error == 0) error = find_spot(thread, other, &to, is_link ? MAKES : REPLACES);
  if (error == 0) error = is_link ? make_name(&from, &to, flags) : move(&from, &to, (unsigned)flags);
  if (from.directory >= 0) close(from.directory);
  if (to.directory >= 0) close(to.directory);
  return error;
}

static int do_mode(pid_t thread, struct where where, mode_t mode, int flags) {
  char path[PATH_MAX];
  const int error = caller_path(thread, where.path, path);
  if (error != 0) return error;
  if (path[0] == 0 && !(flags & AT_EMPTY_PATH)) return ENOENT;
  return change_mode(caller_open(thread, where.from, path, flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0), mode);
}

static int do_open(pid_t thread, struct where where, int flags, mode_t mode, struct opened *opened) {
  char path[PATH_MAX];
  const int error = caller_path(thread, where.path, path);
  if (error != 0) return error;
  const int makes_executable = flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) && mode & 0111;
  if (!makes_executable) return look_before(thread, where.from, path, flags, opened);
  return open_new(thread, where.from, path, flags, mode & ~caller_umask(thread), opened);
}

static int do_truncate(pid_t thread, struct where where) {
  char path[PATH_MAX];
  struct opened none = {-1, 0};
  const int error = caller_path(thread, where.path, path);
  return error != 0 ? error : look_before(thread, where.from, path, O_WRONLY, &none);
}

#define HERE(index) ((struct where){AT_FDCWD, arguments[index]})
#define AT(index) ((struct where){(int)arguments[index], arguments[(index) + 1]})

int judged_do(const struct seccomp_notif *asked, struct opened *opened) {
  const uint64_t *arguments = (const uint64_t *)asked->data.args;
  const pid_t thread = (pid_t)asked->pid;
  switch (asked->data.nr) {
    case SYS_mkdirat: return do_directory(thread, AT(0), (mode_t)arguments[2]);
    case SYS_mknodat: return do_node(thread, AT(0), (mode_t)arguments[2], (dev_t)arguments[3]);
    case SYS_unlinkat: return do_remove(thread, AT(0), (int)arguments[2]);
    case SYS_symlinkat: return do_symlink(thread, arguments[0], AT(1));
    case SYS_linkat: return do_two(thread, AT(0), AT(2), (int)arguments[4], 1);
    case SYS_renameat: return do_two(thread, AT(0), AT(2), 0, 0);
    case SYS_renameat2: return do_two(thread, AT(0), AT(2), (int)arguments[4], 0);
    case SYS_fchmodat: return do_mode(thread, AT(0), (mode_t)arguments[2], 0);
    case 452 /* fchmodat2 */: return do_mode(thread, AT(0), (mode_t)arguments[2], (int)arguments[3]);
    case SYS_truncate: return do_truncate(thread, HERE(0));
    case SYS_fchmod: return change_mode(caller_handle(thread, (int)arguments[0]), (mode_t)arguments[1]);
    case SYS_openat: return do_open(thread, AT(0), (int)arguments[2], (mode_t)arguments[3], opened);
#if defined(__x86_64__)
    case SYS_mkdir: return do_directory(thread, HERE(0), (mode_t)arguments[1]);
    case SYS_mknod: return do_node(thread, HERE(0), (mode_t)arguments[1], (dev_t)arguments[2]);
    case SYS_unlink: return do_remove(thread, HERE(0), 0);
    case SYS_rmdir: return do_remove(thread, HERE(0), AT_REMOVEDIR);
    case SYS_symlink: return do_symlink(thread, arguments[0], HERE(1));
    case SYS_link: return do_two(thread, HERE(0), HERE(1), 0, 1);
    case SYS_rename: return do_two(thread, HERE(0), HERE(1), 0, 0);
    case SYS_chmod: return do_mode(thread, HERE(0), (mode_t)arguments[1], 0);
    case SYS_open: return do_open(thread, HERE(0), (int)arguments[1], (mode_t)arguments[2], opened);
    case SYS_creat: return do_open(thread, HERE(0), O_CREAT | O_WRONLY | O_TRUNC, (mode_t)arguments[1], opened);
#endif
    default: return EPERM;
  }
}
