#define _GNU_SOURCE
#include "init/guard/misspelt-names.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init/control-files/control-names.h"
#include "init/control-files/fold-name.h"
#include "init/guard/hold-by-mount.h"
#include "init/guard/hold-repositories.h"

/* Names that mean something in a git directory only. */
static const char *const of_git[] = {"config", "hooks", "config.worktree", "commondir", "gitdir", "objects", "refs"};

static int is_same(int directory, const char *one, const char *other) {
  struct stat first, second;
  if (fstatat(directory, one, &first, AT_SYMLINK_NOFOLLOW) != 0 || fstatat(directory, other, &second, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  return first.st_ino == second.st_ino && first.st_dev == second.st_dev;
}

/* Whether the directory ignores case: a git directory, or one that would become one, has `objects` or `refs`. */
static int ignores_case(int directory) { return is_same(directory, "objects", "OBJECTS") || is_same(directory, "refs", "REFS"); }

/* Whether an existing file is in the directory under another name than this: the directory does not list this name. The
   files themselves cannot be compared, because a private copy may be mounted over the one with the obeyed name. */
static int has_other_name(int directory, const char *name) {
  if (faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = copy < 0 ? NULL : fdopendir(copy);
  if (entries == NULL) {
    if (copy >= 0) close(copy);
    return 1;
  }
  int is_listed = 0;
  for (struct dirent *entry; !is_listed && (entry = readdir(entries)) != NULL;) is_listed = strcmp(entry->d_name, name) == 0;
  closedir(entries);
  return !is_listed;
}

/* Returns the obeyed name, or NULL. */
static const char *obeyed_name(const char *name, size_t length) {
  static char folded[NAME_MAX + 1];
  fold_name(name, length, folded, sizeof folded);
  if (strlen(folded) == length && strncmp(folded, name, length) == 0 && strchr(folded, '~') == NULL) return NULL;
  if (strcmp(folded, ".git") == 0 || is_control_directory(folded) || is_control_file(folded)) return folded;
  if (is_short_name_of(folded, ".git")) return ".git";
  for (int i = 0; control_name(i) != NULL; i++)
    if (is_short_name_of(folded, control_name(i)) && !is_allowed(control_name(i))) return control_name(i);
  return NULL;
}

static const char *git_name(const char *name, size_t length) {
  char folded[NAME_MAX + 1];
  fold_name(name, length, folded, sizeof folded);
  if (strlen(folded) == length && strncmp(folded, name, length) == 0) return NULL;
  for (size_t i = 0; i < sizeof of_git / sizeof *of_git; i++)
    if (strcmp(folded, of_git[i]) == 0) return of_git[i];
  return NULL;
}

int has_odd_spelling(const char *path, const char *name) {
  if (!may_need_folding(path) && !may_need_folding(name)) return 0;
  for (const char *at = path; *at != 0; at += strspn(at, "/")) {
    const size_t length = strcspn(at, "/");
    if (obeyed_name(at, length) != NULL || git_name(at, length) != NULL) return 1;
    at += length;
  }
  return obeyed_name(name, strcspn(name, "/")) != NULL || git_name(name, strcspn(name, "/")) != NULL;
}

/* Whether an existing directory on the way is the one with the obeyed name. */
static int is_other_name(int directory, const char *name, size_t length, int in_workspace) {
  char asked[NAME_MAX + 1];
  const char *meant = in_workspace ? obeyed_name(name, length) : NULL;
  snprintf(asked, sizeof asked, "%.*s", (int)length, name);
  if (meant != NULL && has_other_name(directory, asked)) return 1;
  meant = git_name(name, length);
  return meant != NULL && has_other_name(directory, asked) && is_repository(directory);
}

static int is_below_misspelt(int directory, const char *below, int in_workspace) {
  int ups = *below != 0;
  for (const char *at = below; *at != 0; at++) ups += *at == '/';
  for (const char *at = below; *at != 0; ups--) {
    char path[PATH_MAX] = ".";
    const size_t length = strcspn(at, "/");
    if (may_need_folding(at) && (obeyed_name(at, length) != NULL || git_name(at, length) != NULL)) {
      for (int i = 0; i < ups && strlen(path) + 4 < sizeof path; i++) strcat(path, "/..");
      int container = openat(directory, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
      const int result = container < 0 || is_other_name(container, at, length, in_workspace);
      if (container >= 0) close(container);
      if (result) return 1;
    }
    at += length;
    at += strspn(at, "/");
  }
  return 0;
}

/* A new name has to be judged by its spelling, because there is nothing yet to compare it with. */
static int is_misspelt_name(const struct parent_entry *entry, int in_workspace) {
  char name[NAME_MAX + 2];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(entry->name, "/"), entry->name);
  if (!may_need_folding(name)) return 0;
  const int is_there = faccessat(entry->directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  const char *meant = in_workspace ? obeyed_name(name, strlen(name)) : NULL;
  if (meant != NULL && (!is_there || has_other_name(entry->directory, name))) return 1;
  meant = git_name(name, strlen(name));
  if (meant == NULL) return 0;
  if (is_there) return has_other_name(entry->directory, name) && is_repository(entry->directory);
  return ignores_case(entry->directory) || is_repository(entry->directory);
}

int is_misspelt(const struct parent_entry *entry) {
  char below[PATH_MAX];
  const int in_workspace = depth_of(entry->directory, below, sizeof below) >= 0;
  if (!in_workspace && git_depth_of(entry->directory, below, sizeof below) < 0) return 0;
  if (is_misspelt_name(entry, in_workspace)) return 1;
  return may_need_folding(below) && is_below_misspelt(entry->directory, below, in_workspace);
}
