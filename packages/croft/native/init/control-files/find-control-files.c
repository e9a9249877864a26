#define _GNU_SOURCE
#include "init/control-files/find-control-files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init/control-files/control-file-links.h"
#include "init/control-files/control-names.h"
#include "init/control-files/git-control-files.h"

#define MAX_DEPTH 256
#define MAX_ENTRIES 4000000

/* Names in a git directory that git obeys. */
static const char *const git_names[] = {"hooks", "config", "config.worktree", "commondir", "gitdir"};

struct finds found_copies, found_repositories;

static long entries_left = MAX_ENTRIES;

static int is_one_of(const char *name, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(name, names[i]) == 0) return 1;
  return 0;
}

#define IS_ONE_OF(name, names) is_one_of(name, names, sizeof names / sizeof *names)

static unsigned char type_of(int directory, const struct dirent *entry) {
  if (entry->d_type != DT_UNKNOWN) return entry->d_type;
  struct stat status;
  if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return (unsigned char)IFTODT(status.st_mode);
}

static int search(int directory, char *path, size_t length, int depth);

static int is_our_own(int directory, const char *name) {
  struct stat status;
  return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_uid == geteuid();
}

static int descend(int directory, const char *name, char *path, size_t length, int depth) {
  int child = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (child >= 0 && faccessat(child, ".", X_OK, 0) == 0) return search(child, path, length, depth + 1);
  int error = errno;
  if (child >= 0) close(child);
  if (error == EMFILE || error == ENFILE) return errno = error, -1;
  /* A directory that we may not read but own: a program could chmod it and change its content before we look, so it
     is guarded. A directory that is gone, was swapped or belongs to another user cannot be guarded. */
  return error == EACCES && is_our_own(directory, name) ? add_guarded_file(path) : 0;
}

int add_find(struct finds *finds, const char *path) {
  if (finds->count == MAX_FINDS) return errno = E2BIG, -1;
  finds->paths[finds->count] = strdup(path);
  return finds->paths[finds->count++] == NULL ? -1 : 0;
}

/* Whether the directory is the top of the workspace or of a repository in it. */
static int is_top(int directory, int depth) {
  return depth == 0 || faccessat(directory, ".git", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Whether git takes the directory for a repository, or would with one more name in it: the same as `is_git_like` of
   hold-repositories.h. */
static int is_repository(int directory, const char *path, size_t length) {
  return is_dot_git(path, length) || (faccessat(directory, "objects", F_OK, AT_SYMLINK_NOFOLLOW) == 0 && faccessat(directory, "refs", F_OK, AT_SYMLINK_NOFOLLOW) == 0);
}

/* Plain `config` files and `hooks` directories are held with their repository. git obeys config.worktree only if the
   repository enables it. */
static int judge_in_git(const char *name, unsigned char type, const char *path) {
  const int is_hooks = strcmp(name, "hooks") == 0, is_config = strcmp(name, "config") == 0;
  if (type == DT_LNK && (is_hooks || is_config)) return add_chain(path, is_hooks);
  if ((is_hooks && type == DT_DIR) || (is_config && type == DT_REG)) return 0;
  if (is_hooks || is_config || (strcmp(name, "config.worktree") == 0 && has_worktree_settings)) return add_guarded_file(path);
  return is_own_git(path) ? add_guarded_file(path) : 0;
}

static int add_attributes(int git, char *path, size_t length) {
  if (!has(git, "info/attributes", S_IFREG)) return 0;
  memcpy(path + length, "/attributes", sizeof "/attributes");
  int result = add_guarded_file(path);
  path[length] = 0;
  return result;
}

static int judge_at_top(const char *name, unsigned char type, const char *path, int depth) {
  if (is_control_directory(name)) return type == DT_LNK ? add_chain(path, 1) : type == DT_DIR ? add_find(&found_copies, path) : 0;
  if (depth > 0 || !is_control_file(name)) return 0;
  return type == DT_LNK ? add_chain(path, 0) : add_guarded_file(path);
}

static int judge(int directory, const struct dirent *entry, int in_git, char *path, size_t length, int depth) {
  const char *name = entry->d_name;
  const unsigned char type = type_of(directory, entry);
  if (in_git && IS_ONE_OF(name, git_names)) return judge_in_git(name, type, path);
  if ((is_control_directory(name) || is_control_file(name)) && is_top(directory, depth)) return judge_at_top(name, type, path, depth);
  if (strcmp(name, ".git") == 0 && type != DT_DIR) {
    if (depth == 0 && (type == DT_LNK ? add_chain(path, 0) : add_guarded_file(path)) != 0) return -1;
    return add_git_file(path);
  }
  if (type != DT_DIR) return 0;
  if (in_git && strcmp(path, "/.git/info") == 0 && add_attributes(directory, path, length) != 0) return -1;
  /* Objects, refs and logs hold no settings, and there are many of them. */
  static const char *const bulk[] = {"objects", "refs", "logs", "lfs", "info"};
  if (is_dot_git(path, length - strlen(name) - 1) && IS_ONE_OF(name, bulk)) return 0;
  return descend(directory, name, path, length, depth);
}

/* If nothing can be created in a git directory now, a program could change that later, so the whole directory is
   guarded. */
static int prepare(int git, const char *path, size_t length) {
  if (is_repository(git, path, length) && add_find(&found_repositories, path) != 0) return -1;
  if (has_worktree_settings && add_worktree_settings(git) != 0 && errno != EACCES) return -1;
  if (!is_dot_git(path, length) || length != 5 || add_missing(git) == 0) return 0;
  if (errno != EACCES) return -1;
  return is_our_own(git, ".") ? add_guarded_file(path) : 0;
}

/* Closes `directory`. */
static int search(int directory, char *path, size_t length, int depth) {
  DIR *entries = fdopendir(directory);
  if (entries == NULL) return close(directory), -1;
  const int in_git = is_git_directory(directory, path, length);
  if (in_git && (add_git_directory(path, length) != 0 || prepare(directory, path, length) != 0)) return closedir(entries), -1;
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

static int by_path(const void *a, const void *b) {
  return strcmp(((const struct guarded_file *)a)->path, ((const struct guarded_file *)b)->path);
}

int control_files_find(const char *root) {
  static char path[PATH_MAX];
  top = root;
  int directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0 || search(directory, path, 0, 0) != 0) return -1;
  qsort(guarded_files, (size_t)guarded_file_count, sizeof *guarded_files, by_path);
  return 0;
}
