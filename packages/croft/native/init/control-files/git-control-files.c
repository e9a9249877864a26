#define _GNU_SOURCE
#include "init/control-files/git-control-files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init/control-files/control-file-links.h"
#include "init/control-files/read-git-settings.h"

int has(int directory, const char *name, mode_t kind) {
  struct stat status;
  return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && (status.st_mode & S_IFMT) == kind;
}

/* A link counts, because git follows links. */
static int is_there(int directory, const char *name) {
  return faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int is_dot_git(const char *path, size_t length) {
  return length >= 5 && memcmp(path + length - 5, "/.git", 5) == 0;
}

int is_own_git(const char *path) { return strncmp(path, "/.git/", 6) == 0 && strchr(path + 6, '/') == NULL; }

int is_git_directory(int directory, const char *path, size_t length) {
  if (is_dot_git(path, length)) return 1;
  if (is_there(directory, "HEAD") && (is_there(directory, "objects") || is_there(directory, "commondir"))) return 1;
  return has(directory, "config", S_IFREG) && (has(directory, "commondir", S_IFREG) || has(directory, "hooks", S_IFDIR));
}

static int make_missing(int directory, const char *name, const char *content) {
  int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file < 0) return errno == EEXIST || errno == EROFS ? 0 : -1;
  const ssize_t size = (ssize_t)strlen(content);
  int result = write(file, content, (size_t)size) == size ? 0 : -1;
  int error = errno;
  close(file);
  /* On a full disk: git fails on a file without content. */
  if (result != 0) unlinkat(directory, name, 0);
  errno = error;
  return result;
}

int add_missing(int directory) {
  if (mkdirat(directory, "hooks", 0755) != 0 && errno != EEXIST && errno != EROFS) return -1;
  return make_missing(directory, "config", "");
}

int has_worktree_settings;

int add_worktree_settings(int directory) { return make_missing(directory, "config.worktree", ""); }

#define MAX_INCLUDES 10

/* A settings file, by its path from the root, and the working trees to which it applies. */
struct reading {
  const char *file, *tree;
  char own_tree[PATH_MAX];
  int depth;
};

static int read_settings(struct reading *reading, setting_taker take) {
  char whole[2 * PATH_MAX];
  snprintf(whole, sizeof whole, "%s%s", top, reading->file);
  return git_settings_read(whole, take, reading);
}

static int take_tree(void *context, const char *key, const char *value) {
  struct reading *reading = context;
  char base[PATH_MAX];
  snprintf(base, sizeof base, "%.*s", (int)(strrchr(reading->file, '/') - reading->file), reading->file);
  if (strcmp(key, "core.worktree") != 0) return 0;
  if (locate(reading->own_tree, base, value) != 0) reading->own_tree[0] = 0;
  else if (reading->own_tree[0] == 0) strcpy(reading->own_tree, "/.");
  return 0;
}

static int take_include(const struct reading *from, const char *value, setting_taker take) {
  char base[PATH_MAX], path[PATH_MAX];
  snprintf(base, sizeof base, "%.*s", (int)(strrchr(from->file, '/') - from->file), from->file);
  if (from->depth == MAX_INCLUDES || locate(path, base, value) != 0 || strchr(path, '/') == NULL) return 0;
  struct reading included = *from;
  included.file = path;
  included.depth++;
  return add_chain(path, 0) != 0 ? -1 : read_settings(&included, take);
}

/* Settings may name another hooks directory, and include other files: those are control files too. */
static int take_setting(void *context, const char *key, const char *value) {
  const struct reading *reading = context;
  char path[PATH_MAX];
  if (strcmp(key, "include.path") == 0 || strcmp(key, "includeif.*.path") == 0) return take_include(reading, value, take_setting);
  if (strcmp(key, "extensions.worktreeconfig") == 0) has_worktree_settings = 1;
  if (strcmp(key, "core.hookspath") != 0) return 0;
  if (locate(path, reading->tree, value) == 0 && add_chain(path, 1) != 0) return -1;
  return reading->own_tree[0] != 0 && locate(path, reading->own_tree, value) == 0 ? add_chain(path, 1) : 0;
}

/* Reads the settings of the git directory `git` for the working tree `tree`. */
static int add_git_settings(const char *git, const char *tree) {
  static const char *const names[] = {"config", "config.worktree"};
  char file[PATH_MAX + sizeof "/config.worktree"];
  struct reading reading = {file, tree, "", 0};
  own_git = git;
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < 2; i++) {
      snprintf(file, sizeof file, "%s/%s", git, names[i]);
      if (read_settings(&reading, pass == 0 ? take_tree : take_setting) != 0) return -1;
    }
  own_git = NULL;
  return 0;
}

/* Reads the first line of a small file. Returns -1 if there is none. */
static int read_line(const char *file, char *line) {
  char whole[2 * PATH_MAX + sizeof "/commondir"];
  struct stat status;
  snprintf(whole, sizeof whole, "%s%s", top, file);
  int handle = open(whole, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (handle < 0) return -1;
  ssize_t length = fstat(handle, &status) == 0 && S_ISREG(status.st_mode) ? read(handle, line, PATH_MAX - 1) : -1;
  close(handle);
  if (length < 0) return -1;
  line[length] = 0;
  line[strcspn(line, "\r\n")] = 0;
  return 0;
}

/* A git directory may take its settings and hooks from another one (`commondir`). */
static int add_repository(const char *git, const char *tree) {
  char file[PATH_MAX + sizeof "/commondir"], line[PATH_MAX], common[PATH_MAX];
  if (add_git_settings(git, tree) != 0) return -1;
  snprintf(file, sizeof file, "%s/commondir", git);
  if (read_line(file, line) != 0 || strcmp(line, ".") == 0 || locate(common, git, line) != 0) return 0;
  static const char *const names[] = {"config", "hooks"};
  for (size_t i = 0; i < 2; i++)
    if (snprintf(file, PATH_MAX, "%s/%s", common, names[i]) < PATH_MAX && add_chain(file, i == 1) != 0) return -1;
  return add_git_settings(common, tree);
}

int add_git_file(const char *path) {
  char line[PATH_MAX], tree[PATH_MAX], git[PATH_MAX];
  snprintf(tree, sizeof tree, "%.*s", (int)(strrchr(path, '/') - path), path);
  if (read_line(path, line) != 0 || strncmp(line, "gitdir: ", 8) != 0 || locate(git, tree, line + 8) != 0) return 0;
  return add_repository(git, tree);
}

int add_git_directory(const char *path, size_t length) {
  char git[PATH_MAX], tree[PATH_MAX];
  snprintf(git, sizeof git, "%.*s", (int)length, path);
  snprintf(tree, sizeof tree, "%.*s", (int)(is_dot_git(path, length) ? length - 5 : length), path);
  return add_repository(git, tree);
}
