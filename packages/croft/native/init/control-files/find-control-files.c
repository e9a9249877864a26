#define _GNU_SOURCE
#include "init/control-files/find-control-files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init/control-files/control-file-links.h"
#include "init/control-files/control-names.h"
#include "init/control-files/git-control-files.h"
#include "init/control-files/parallel-search.h"

#define MAX_DEPTH 256
#define MAX_ENTRIES 4000000
#define MAX_UNREADABLE 1024

/* Names in a git directory that git obeys. */
static const char *const git_names[] = {"hooks", "config", "config.worktree", "commondir", "gitdir"};

struct finds found_copies, found_repositories;

static atomic_long entries_left = MAX_ENTRIES;

static int unreadable_count;

/* Held by the thread that judges a name which matters: what was found is shared. */
static pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;

static int is_one_of(const char *name, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(name, names[i]) == 0) return 1;
  return 0;
}

#define IS_ONE_OF(name, names) is_one_of(name, names, sizeof names / sizeof *names)

/* The record of getdents64. */
struct entry {
  uint64_t inode;
  int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[];
};

static unsigned char type_of(int directory, const struct entry *entry) {
  if (entry->type != DT_UNKNOWN) return entry->type;
  struct stat status;
  if (fstatat(directory, entry->name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return (unsigned char)IFTODT(status.st_mode);
}

static int search(int directory, char *path, size_t length, int depth);

static int is_our_own(int directory, const char *name) {
  struct stat status;
  return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_uid == geteuid();
}

/* Programs can make any number of such directories. Those above the limit have no mount of their own, so that a
   sandbox still opens in which they can be removed: what is in them is held by its name (name-meanings.h). */
static int add_unreadable(const char *path) {
  pthread_mutex_lock(&finding);
  const int result = unreadable_count++ < MAX_UNREADABLE ? add_guarded_file(path) : 0;
  pthread_mutex_unlock(&finding);
  return result;
}

static int descend(int directory, const char *name, char *path, size_t length, int depth) {
  int child = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (child >= 0 && faccessat(child, ".", X_OK, 0) == 0)
    return offer_directory(child, path, length, depth + 1) ? 0 : search(child, path, length, depth + 1);
  int error = errno;
  if (child >= 0) close(child);
  if (error == EMFILE || error == ENFILE) return errno = error, -1;
  /* A directory that we may not read but own: a program could chmod it and change its content before we look, so it
     is guarded. A directory that is gone, was swapped or belongs to another user cannot be guarded. */
  return error == EACCES && is_our_own(directory, name) ? add_unreadable(path) : 0;
}

/* Finds above the limit are left out, but never the workspace's own git directory: they are held by their names. */
int add_find(struct finds *finds, const char *path) {
  if (finds->count == MAX_FINDS && strcmp(path, "/.git") != 0) return 0;
  if (finds->count == MAX_FINDS) free(finds->paths[--finds->count]);
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

#define DESCEND 1

/* Returns DESCEND for a directory that has to be searched. */
static int judge(int directory, const struct entry *entry, int in_git, char *path, size_t length, int depth) {
  const char *name = entry->name;
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
  return DESCEND;
}

/* Nearly all names mean nothing, and need not wait for other threads. */
static int matters(const char *name, int in_git) {
  return in_git || is_control_directory(name) || is_control_file(name) || strcmp(name, ".git") == 0;
}

static int judge_alone(int directory, const struct entry *entry, int in_git, char *path, size_t length, int depth) {
  pthread_mutex_lock(&finding);
  const int result = judge(directory, entry, in_git, path, length, depth);
  pthread_mutex_unlock(&finding);
  return result;
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

#define CHUNK (32 * 1024)

/* Entries of one directory: all of them, or as many as there is room for. */
struct entries {
  _Alignas(struct entry) char bytes[2 * CHUNK];
  size_t length;
  int is_all;
};

/* Reads on from where the last call ended. A directory is at its end only when the kernel has no further entry. */
static void read_entries(int directory, struct entries *entries) {
  entries->length = 0;
  entries->is_all = 0;
  while (!entries->is_all && entries->length <= CHUNK) {
    const long got = syscall(SYS_getdents64, directory, entries->bytes + entries->length, CHUNK);
    entries->is_all = got <= 0;
    if (got > 0) entries->length += (size_t)got;
  }
}

static const struct entry *entry_at(const struct entries *entries, size_t at) {
  return (const struct entry *)(entries->bytes + at);
}

/* Whether `is_git_directory` could say yes: every way to be a git directory needs one of these names. Their absence
   saves a system call for each name that git would look for, in nearly all directories. */
static int may_be_git(const struct entries *entries) {
  for (size_t at = 0; at < entries->length; at += entry_at(entries, at)->size) {
    const char *name = entry_at(entries, at)->name;
    if (strcmp(name, "HEAD") == 0 || strcmp(name, "config") == 0) return 1;
  }
  return !entries->is_all;
}

static int judge_named(int directory, const struct entry *entry, int in_git, char *path, size_t length, int depth) {
  const size_t size = strlen(entry->name);
  if (strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0) return 0;
  if (depth > MAX_DEPTH || length + size + 32 > PATH_MAX) return 0;
  if (--entries_left < 0) return errno = E2BIG, -1;
  path[length] = '/';
  memcpy(path + length + 1, entry->name, size + 1);
  const int verdict = (matters(entry->name, in_git) ? judge_alone : judge)(directory, entry, in_git, path, length + 1 + size, depth);
  return verdict == DESCEND ? descend(directory, entry->name, path, length + 1 + size, depth) : verdict;
}

static int judge_all(int directory, const struct entries *entries, int in_git, char *path, size_t length, int depth) {
  int result = 0;
  for (size_t at = 0; at < entries->length && result == 0; at += entry_at(entries, at)->size)
    result = judge_named(directory, entry_at(entries, at), in_git, path, length, depth);
  return result;
}

static int prepare_alone(int git, const char *path, size_t length) {
  pthread_mutex_lock(&finding);
  const int result = add_git_directory(path, length) != 0 || prepare(git, path, length) != 0 ? -1 : 0;
  pthread_mutex_unlock(&finding);
  return result;
}

/* What is missing in a git directory is made first, so the directory is read again. */
static int prepare_and_reread(int git, struct entries *entries, const char *path, size_t length) {
  if (prepare_alone(git, path, length) != 0) return -1;
  if (lseek(git, 0, SEEK_SET) != 0) return -1;
  read_entries(git, entries);
  return 0;
}

static int search_entries(int directory, struct entries *entries, char *path, size_t length, int depth) {
  read_entries(directory, entries);
  const int in_git = is_dot_git(path, length) || (may_be_git(entries) && is_git_directory(directory, path, length));
  if (in_git && prepare_and_reread(directory, entries, path, length) != 0) return -1;
  int result = judge_all(directory, entries, in_git, path, length, depth);
  while (result == 0 && !entries->is_all) {
    read_entries(directory, entries);
    result = judge_all(directory, entries, in_git, path, length, depth);
  }
  return result;
}

/* One buffer for each level, because making one for each of many thousand directories takes as long as reading them. */
static _Thread_local struct entries *levels[MAX_DEPTH + 2];

/* Closes `directory`. */
static int search(int directory, char *path, size_t length, int depth) {
  if (levels[depth] == NULL) levels[depth] = malloc(sizeof **levels);
  const int result = levels[depth] == NULL ? -1 : search_entries(directory, levels[depth], path, length, depth);
  const int error = errno;
  close(directory);
  return errno = error, result;
}

static void forget_levels(void) {
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) free(levels[i]), levels[i] = NULL;
}

static int search_part(int directory, char *path, size_t length, int depth) {
  const int result = search(directory, path, length, depth);
  const int error = errno;
  forget_levels();
  return errno = error, result;
}

static int by_path(const void *a, const void *b) {
  return strcmp(((const struct guarded_file *)a)->path, ((const struct guarded_file *)b)->path);
}

static int as_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* A directory comes before those in it. */
static void sort_finds(struct finds *finds) { qsort(finds->paths, (size_t)finds->count, sizeof *finds->paths, as_text); }

int control_files_find(const char *root) {
  top = root;
  int directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return -1;
  if (search_shared(search_part, directory) != 0) return -1;
  sort_finds(&found_copies);
  sort_finds(&found_repositories);
  qsort(guarded_files, (size_t)guarded_file_count, sizeof *guarded_files, by_path);
  return 0;
}
