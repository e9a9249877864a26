#define _GNU_SOURCE
#include "control-files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control-git.h"
#include "control-links.h"

#define MAX_DEPTH 256
#define MAX_ENTRIES 4000000

/* In any directory. */
static const char *const control_names[] = {
    ".mcp.json", ".vscode", ".idea", ".zed", ".cursor", ".cursorrules", ".windsurf", ".claude", ".agents", ".codex", ".gemini",
    ".continue", ".aider.conf.yml", ".devcontainer", ".husky", ".envrc", ".bashrc", ".bash_profile", ".bash_login",
    ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".inputrc", ".gitconfig", ".gitmodules",
    ".ripgreprc", ".vimrc", ".exrc", ".nvimrc", ".emacs", ".dir-locals.el", ".gdbinit", ".lldbinit",
};

/* In a git directory, whose own name may be anything. */
static const char *const git_names[] = {"hooks", "config", "config.worktree", "commondir", "gitdir"};

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
  /* A program could open again what is closed to us now, and then be first to look. Gone, swapped or somebody else's,
     it is nothing a pin could hold. */
  return error == EACCES && is_our_own(directory, name) ? add_pin(path) : 0;
}

/* Packages come with their authors' settings, which nobody obeys there, and must be free to come and go. */
static int is_fetched(const char *path) { return strstr(path, "/node_modules/") != NULL; }

static int add_attributes(int git, char *path, size_t length) {
  if (!has(git, "info/attributes", S_IFREG)) return 0;
  memcpy(path + length, "/attributes", sizeof "/attributes");
  int result = add_pin(path);
  path[length] = 0;
  return result;
}

static int judge(int directory, const struct dirent *entry, int in_git, char *path, size_t length, int depth) {
  const char *name = entry->d_name;
  const unsigned char type = type_of(directory, entry);
  /* Whoever makes a directory look like one of git's frees nothing in it. */
  const int is_control = (in_git && IS_ONE_OF(name, git_names)) || (IS_ONE_OF(name, control_names) && !is_fetched(path));
  const int is_git = strcmp(name, ".git") == 0 && type != DT_DIR;
  if (is_control || is_git) {
    if ((type == DT_LNK ? add_chain(path, in_git && strcmp(name, "hooks") == 0) : add_pin(path)) != 0) return -1;
    return is_git ? add_git_file(path) : 0;
  }
  if (type != DT_DIR) return 0;
  if (in_git && strcmp(name, "info") == 0 && add_attributes(directory, path, length) != 0) return -1;
  /* What git keeps by hash or as a name of a branch is no setting, and there is much of it. */
  static const char *const bulk[] = {"objects", "refs", "logs", "lfs", "info"};
  if (is_dot_git(path, length - strlen(name) - 1) && IS_ONE_OF(name, bulk)) return 0;
  return descend(directory, name, path, length, depth);
}

/* Where nothing can be made now a program could see to it that it can, unless the whole directory is held. */
static int prepare(int git, const char *path, size_t length) {
  if (add_missing(git) == 0) return 0;
  if (errno != EACCES || length == 0) return -1;
  return is_our_own(git, ".") ? add_pin(path) : 0;
}

/* Closes `directory`. */
static int search(int directory, char *path, size_t length, int depth) {
  DIR *entries = fdopendir(directory);
  if (entries == NULL) return close(directory), -1;
  const int in_git = is_git_directory(directory, path, length);
  if (in_git && (prepare(directory, path, length) != 0 || add_git_directory(path, length) != 0)) return closedir(entries), -1;
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
  return strcmp(((const struct pin *)a)->path, ((const struct pin *)b)->path);
}

int control_files_find(const char *root) {
  static char path[PATH_MAX];
  top = root;
  int directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0 || search(directory, path, 0, 0) != 0) return -1;
  qsort(pins, (size_t)pin_count, sizeof *pins, by_path);
  return 0;
}
