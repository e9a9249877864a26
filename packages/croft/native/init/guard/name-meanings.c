#define _GNU_SOURCE
#include "init/guard/name-meanings.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init/control-files/control-names.h"
#include "init/guard/call-judge.h"
#include "init/guard/hold-by-mount.h"
#include "init/guard/hold-control-files.h"
#include "init/guard/hold-repositories.h"

int is_in_workspace(int directory) {
  char below[PATH_MAX];
  return depth_of(directory, below, sizeof below) >= 0;
}

int is_git_judged_in(int directory) {
  char below[PATH_MAX];
  return git_depth_of(directory, below, sizeof below) >= 0;
}

int is_top(int directory) {
  char below[PATH_MAX];
  const int depth = depth_of(directory, below, sizeof below);
  return depth == 0 || (depth > 0 && faccessat(directory, ".git", F_OK, AT_SYMLINK_NOFOLLOW) == 0);
}

static enum meaning meaning_of_dotted(int directory, const char *name) {
  if (is_control_directory(name)) return is_top(directory) ? EDITOR : NOTHING;
  return is_control_file(name) && is_top(directory) ? FILE_AT_TOP : NOTHING;
}

enum meaning meaning_of(const struct parent_entry *entry) {
  char name[NAME_MAX + 2];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(entry->name, "/"), entry->name);
  switch (name[0]) {
    case 'o':
    case 'r': return completes_git(entry->directory, name) && is_git_judged_in(entry->directory) ? COMPLETES_GIT : NOTHING;
    case 'c':
    case 'h': {
      const int is_settings = strcmp(name, "config") == 0;
      const int is_hooks = strcmp(name, "hooks") == 0;
      if (strcmp(name, "config.worktree") == 0)
        return !is_allowed(".git/config") && is_git_judged_in(entry->directory) ? WORKTREE_SETTINGS : NOTHING;
      if (!is_settings && !is_hooks) break;
      if (is_allowed(is_hooks ? ".git/hooks" : ".git/config") || !is_repository(entry->directory) || !is_git_judged_in(entry->directory)) return NOTHING;
      return is_settings ? SETTINGS : HOOKS;
    }
    case '.': return meaning_of_dotted(entry->directory, name);
  }
  return is_control_file(name) && is_top(entry->directory) ? FILE_AT_TOP : NOTHING;
}

/* --- held names --- */

/* Opens the directory `ups` levels above. */
static int open_above(int directory, int ups) {
  char path[PATH_MAX] = ".";
  for (size_t at = 1; ups > 0 && at + 4 < sizeof path; ups--, at += 3) strcpy(path + at, "/..");
  return ups > 0 ? -1 : openat(directory, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Whether one of the names in `below`, the path of the directory, is of this kind, and the directory that contains it
   too. */
static int has_above(int directory, const char *below, int (*is_name)(const char *name), int (*is_container)(int directory)) {
  char name[NAME_MAX + 1];
  for (const char *at = below; *at != 0; at += strspn(at, "/")) {
    const size_t length = strcspn(at, "/");
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    at += length;
    if (!is_name(name)) continue;
    int ups = 1;
    for (const char *rest = at; *rest != 0; rest++) ups += *rest == '/';
    int container = open_above(directory, ups);
    const int result = container < 0 || is_container(container);
    if (container >= 0) close(container);
    if (result) return 1;
  }
  return 0;
}

static int is_hooks_name(const char *name) { return strcmp(name, "hooks") == 0 && !is_allowed(".git/hooks"); }

/* A private copy is on another file system. */
static int is_on_the_users_disk(int directory) {
  static dev_t disk;
  struct stat status;
  if (disk == 0 && stat(judged_workspace, &status) == 0) disk = status.st_dev;
  return fstat(directory, &status) != 0 || status.st_dev == disk;
}

static int is_uncovered(int directory, const char *below) {
  return has_above(directory, below, is_control_directory, is_top) && is_on_the_users_disk(directory);
}

static int is_in_hooks(int directory) {
  char below[PATH_MAX];
  if (git_depth_of(directory, below, sizeof below) < 0 || !has_above(directory, below, is_hooks_name, is_repository)) return 0;
  return !is_in_workspace(directory) || is_on_the_users_disk(directory);
}

int is_held_file(const struct parent_entry *entry) {
  char below[PATH_MAX];
  if (depth_of(entry->directory, below, sizeof below) < 0) return 0;
  return is_uncovered(entry->directory, below) || is_guarded_path(below, entry->name, is_on_the_users_disk(entry->directory));
}

int is_held_above(const struct parent_entry *entry) { return is_in_hooks(entry->directory) || is_held_file(entry); }

int is_held_name(const struct parent_entry *entry) {
  const enum meaning meaning = meaning_of(entry);
  return meaning == SETTINGS || meaning == HOOKS || is_held_above(entry);
}
