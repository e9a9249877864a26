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

#include "init/guard/call-judge.h"
#include "init/guard/hold-by-mount.h"
#include "init/guard/hold-repositories.h"
#include "init/guard/judged-binds.h"
#include "init/guard/judged-opens.h"
#include "init/guard/misspelt-names.h"
#include "init/guard/name-meanings.h"
#include "init/guard/private-copies-of-directories.h"
#include "init/guard/private-copies-of-files.h"
#include "init/guard/read-caller.h"
#include "init/guard/settings-drafts.h"

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
    default: return refuse_name(entry);
  }
}

static int make_link(const char *target, const struct parent_entry *entry) {
  const int error = may_become(entry);
  return error != 0 ? error : error_of(symlinkat(target, entry->directory, entry->name));
}

/* A link would be a second name, under which what is held could be changed. Returns 0 or an errno. */
static int judge_source(const struct parent_entry *from, int flags) {
  if (flags & AT_SYMLINK_FOLLOW) {
    struct parent_entry target;
    const int error = find_target(from, &target);
    if (error != 0) return error == ENOENT ? 0 : error;
    const int result = judge_source(&target, 0);
    close(target.directory);
    return result;
  }
  if (is_others_draft(from) || is_misspelt(from)) return refuse_name(from);
  return is_held_name(from) ? EXDEV : 0;
}

static int make_name(const struct parent_entry *from, const struct parent_entry *to, int flags) {
  /* libgit2 tries to link before it renames. */
  const int is_there = faccessat(to->directory, to->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  int error = is_there ? EEXIST : may_become(to);
  if (error == 0) error = judge_source(from, flags);
  if (error == 0) error = error_of(linkat(from->directory, from->name, to->directory, to->name, flags));
  if (error == 0) draft_made(to);
  /* The private copy of an editor's directory is on another file system, which the program cannot know: report it. */
  if (error == EXDEV && is_in_workspace(from->directory) && is_in_workspace(to->directory)) refuse_name(to);
  return error;
}

static int make_node(const struct parent_entry *entry, mode_t mode, dev_t device) {
  int error = may_become(entry);
  if (error == 0) error = error_of(syscall(SYS_mknodat, entry->directory, entry->name, mode, device));
  if (error == 0) draft_made(entry);
  return error;
}

/* Whether it is held, with or without a mount over it. The settings of a repository that nobody has used yet may be
   removed with it. */
static int must_stay(const struct parent_entry *entry) {
  const enum meaning meaning = meaning_of(entry);
  return ((meaning == SETTINGS || meaning == HOOKS) && is_known_repository(entry->directory)) || is_held_file(entry) ||
         (is_misspelt(entry) && faccessat(entry->directory, entry->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
}

static int move_name(const struct parent_entry *from, const struct parent_entry *to, unsigned flags) {
  int error = may_become(to);
  if (error == 0) error = error_of(syscall(SYS_renameat2, from->directory, from->name, to->directory, to->name, flags));
  if (error == 0) draft_made(to);
  return error;
}

static int move(const struct parent_entry *from, const struct parent_entry *to, unsigned flags) {
  if (is_others_draft(from)) return refuse_name(from);
  if (is_others_draft(to)) return refuse_name(to);
  if (must_stay(from)) return EBUSY;
  if (flags & RENAME_EXCHANGE) {
    const int error = is_held_name(from) ? EROFS : may_become(from);
    if (error != 0) return error;
  }
  if (!(flags & RENAME_EXCHANGE) && is_private_file(to->directory, to->name))
    return error_of(private_file_replace(to->directory, to->name, from->directory, from->name, (int)(flags & RENAME_NOREPLACE)));
  if (meaning_of(to) == SETTINGS && flags == 0 && meaning_of(from) != SETTINGS)
    return error_of(repository_change(to->directory, from->directory, from->name));
  if (meaning_of(to) == WORKTREE_SETTINGS && flags == 0)
    return error_of(worktree_settings_change(to->directory, from->directory, from->name));
  return move_name(from, to, flags);
}

/* --- removing --- */

static int remove_name(const struct parent_entry *entry, int flags) {
  if (is_others_draft(entry)) return refuse_name(entry);
  int result = must_stay(entry) ? (errno = EBUSY, -1) : unlinkat(entry->directory, entry->name, flags);
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

/* --- modes --- */

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
  if (error == 0 && deed != REMOVES && is_misspelt(entry)) return refuse_name(entry);
  const int is_refused = error == 0 && (!may_write(entry->directory) || (deed != REMOVES && is_held_above(entry)));
  return is_refused ? refusal_of(entry, deed) : error;
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
  if (flags & O_PATH) return GO_ON;
  const int error = caller_path(thread, where.path, path);
  return error != 0 ? error : judged_open(thread, where.from, path, flags, mode & 01777, opened);
}

static int do_truncate(pid_t thread, struct where where, off_t length) {
  char path[PATH_MAX];
  const int error = caller_path(thread, where.path, path);
  return error != 0 ? error : judged_truncate(thread, where.from, path, length);
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
    case SYS_truncate: return do_truncate(thread, HERE(0), (off_t)arguments[1]);
    case SYS_fchmod: return change_mode(caller_handle(thread, (int)arguments[0]), (mode_t)arguments[1]);
    case SYS_bind: return judged_bind(thread, (int)arguments[0], arguments[1], arguments[2]);
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
