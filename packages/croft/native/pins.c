#define _GNU_SOURCE
#include "pins.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

#define MAX_PINS 4096
#define MAX_DEPTH 256
#define MAX_ENTRIES 4000000

/* In any directory. */
static const char *const control_names[] = {
    ".mcp.json", ".vscode", ".idea", ".zed", ".cursor", ".cursorrules", ".windsurf", ".claude", ".codex", ".gemini",
    ".continue", ".aider.conf.yml", ".devcontainer", ".husky", ".envrc", ".bashrc", ".bash_profile", ".bash_login",
    ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".inputrc", ".gitconfig", ".gitmodules",
    ".ripgreprc", ".vimrc", ".exrc", ".nvimrc", ".emacs", ".dir-locals.el", ".gdbinit", ".lldbinit",
};

/* In a git directory, whose own name may be anything. */
static const char *const git_names[] = {"hooks", "config", "config.worktree", "commondir", "gitdir"};

static char *pins[MAX_PINS];
static int pin_count;
static long entries_left = MAX_ENTRIES;

static int is_one_of(const char *name, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(name, names[i]) == 0) return 1;
  return 0;
}

#define IS_ONE_OF(name, names) is_one_of(name, names, sizeof names / sizeof *names)

static int add_pin(const char *path) {
  if (pin_count == MAX_PINS) return errno = E2BIG, -1;
  pins[pin_count] = strdup(path);
  return pins[pin_count++] == NULL ? -1 : 0;
}

static int has(int directory, const char *name, mode_t kind) {
  struct stat status;
  return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && (status.st_mode & S_IFMT) == kind;
}

/* Links count: git follows them. */
static int is_there(int directory, const char *name) {
  return faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int is_git_directory(int directory) {
  return is_there(directory, "HEAD") && (is_there(directory, "objects") || is_there(directory, "commondir"));
}

/* What git obeys as soon as it is there must be there to be held. Empty hooks and a common directory that is this one
   change nothing. */
static int add_missing(int directory) {
  if (mkdirat(directory, "hooks", 0755) != 0 && errno != EEXIST && errno != EROFS) return -1;
  int file = openat(directory, "commondir", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file < 0) return errno == EEXIST || errno == EROFS ? 0 : -1;
  int result = write(file, ".\n", 2) == 2 ? 0 : -1;
  close(file);
  return result;
}

static unsigned char type_of(int directory, const struct dirent *entry) {
  if (entry->d_type != DT_UNKNOWN) return entry->d_type;
  struct stat status;
  if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return (unsigned char)IFTODT(status.st_mode);
}

static int search(int directory, char *path, size_t length, int depth);

static int descend(int directory, const char *name, char *path, size_t length, int depth) {
  int child = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  /* Gone, swapped or not ours to read: then it is nothing a pin could hold either. */
  if (child < 0) return errno == EMFILE || errno == ENFILE ? -1 : 0;
  return search(child, path, length, depth + 1);
}

static int judge(int directory, const struct dirent *entry, int in_git, char *path, size_t length, int depth) {
  const char *name = entry->d_name;
  const unsigned char type = type_of(directory, entry);
  const int in_info = in_git && strcmp(name, "info") == 0 && type == DT_DIR;
  /* A link cannot be held in place; what it leads to is held where it is. */
  if (type == DT_LNK) return 0;
  if (in_git ? IS_ONE_OF(name, git_names) : IS_ONE_OF(name, control_names)) return add_pin(path);
  if (!in_git && strcmp(name, ".git") == 0 && type == DT_REG) return add_pin(path);
  if (in_info) {
    int info = openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int found = info >= 0 && has(info, "attributes", S_IFREG);
    if (info >= 0) close(info);
    if (found) memcpy(path + length, "/attributes", sizeof "/attributes");
    return found ? add_pin(path) : 0;
  }
  if (type != DT_DIR) return 0;
  /* What git keeps by hash or as a name of a branch is no setting, and there is much of it. */
  static const char *const bulk[] = {"objects", "refs", "logs", "lfs", "info"};
  if (in_git && IS_ONE_OF(name, bulk)) return 0;
  return descend(directory, name, path, length, depth);
}

/* Closes `directory`. */
static int search(int directory, char *path, size_t length, int depth) {
  DIR *entries = fdopendir(directory);
  if (entries == NULL) return close(directory), -1;
  const int in_git = is_git_directory(directory);
  if (in_git && add_missing(directory) != 0) return closedir(entries), -1;
  int result = 0;
  for (struct dirent *entry; result == 0 && (entry = readdir(entries)) != NULL;) {
    const char *name = entry->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
    size_t size = strlen(name);
    if (depth > MAX_DEPTH || length + size + 32 > PATH_MAX) continue;
    if (--entries_left < 0) result = (errno = E2BIG, -1);
    path[length] = '/';
    memcpy(path + length + 1, name, size + 1);
    if (result == 0) result = judge(directory, entry, in_git, path, length + 1 + size, depth);
  }
  closedir(entries);
  return result;
}

/* Mounts what is at `name` over itself, so that its name cannot be taken from it. */
static int hold(int directory, const char *name, int read_only) {
  int copy = (int)syscall(SYS_open_tree, directory, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW);
  if (copy < 0) return -1;
  struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
  int result = 0;
  if (read_only) result = (int)syscall(SYS_mount_setattr, copy, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes);
  if (result == 0) result = (int)syscall(SYS_move_mount, copy, "", directory, name, MOVE_MOUNT_F_EMPTY_PATH);
  int error = errno;
  close(copy);
  errno = error;
  return result;
}

/* How much of the path is directories that the last pin already held. */
static size_t shared_directories(const char *path, const char *last) {
  size_t shared = 0;
  for (size_t i = 0; path[i] != 0 && path[i] == last[i]; i++)
    if (path[i] == '/') shared = i;
  return shared;
}

/* Walks down by handles: what others swap meanwhile is at worst another place in the same workspace. */
static int place(int root, char *path, const char *last) {
  const size_t held = shared_directories(path, last);
  int directory = dup(root);
  for (char *name = path + 1, *end; directory >= 0; name = end + 1) {
    end = strchr(name, '/');
    if (end != NULL) *end = 0;
    const int is_new = end == NULL || (size_t)(end - path) > held;
    int result = is_new ? hold(directory, name, end == NULL) : 0;
    int next = result == 0 && end != NULL ? openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    int error = errno;
    close(directory);
    if (end != NULL) *end = '/';
    errno = error;
    if (end == NULL || result != 0) return result;
    directory = next;
  }
  return -1;
}

static int by_path(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

int pins_place(const char *root) {
  static char path[PATH_MAX];
  /* bubblewrap ends in a user namespace below the one that owns its mounts: ours to change are only our own. */
  if (unshare(CLONE_NEWNS) != 0) return -1;
  int directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0 || top < 0 || search(directory, path, 0, 0) != 0) return -1;
  qsort(pins, (size_t)pin_count, sizeof *pins, by_path);
  const char *last = "";
  for (int i = 0; i < pin_count; i++) {
    if (place(top, pins[i], last) == 0) last = pins[i];
    /* One that went away meanwhile needs no holding; what it shares with the next is held again then. */
    else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) return -1;
  }
  close(top);
  return 0;
}

int pins_drop_privileges(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
  for (int capability = 0; capability <= 63; capability++) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return (int)syscall(SYS_capset, &header, none);
}
