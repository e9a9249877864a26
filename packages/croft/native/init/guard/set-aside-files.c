#define _GNU_SOURCE
#include "init/guard/set-aside-files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init/control-files/control-names.h"
#include "init/guard/hold-by-mount.h"

#define MAX_KNOWN 64
#define MAX_TRIES 100
#define SUFFIX "held-by-croft"

static char *known[MAX_KNOWN];
static int known_count, top = -1, watched = -1;

static int is_known(const char *name) {
  for (int i = 0; i < known_count; i++)
    if (strcmp(known[i], name) == 0) return 1;
  return 0;
}

static void each(void (*take)(const char *name)) {
  int copy = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = copy < 0 ? NULL : fdopendir(copy);
  if (entries == NULL) return;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
    if (is_control_file(entry->d_name)) take(entry->d_name);
  closedir(entries);
}

static void know(const char *name) {
  if (known_count < MAX_KNOWN && (known[known_count] = strdup(name)) != NULL) known_count++;
}

/* The user removed the file and a program creates another one. */
static void forget(const char *name) {
  for (int i = 0; i < known_count; i++)
    if (strcmp(known[i], name) == 0) known[i][0] = 0;
}

int files_at_top_know(const char *workspace) {
  top = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (top < 0) return -1;
  each(know);
  return 0;
}

static void tell(int directory, const char *name, const char *other) {
  char below[PATH_MAX], path[2 * PATH_MAX];
  if (depth_of(directory, below, sizeof below) < 0) below[0] = 0;
  snprintf(path, sizeof path, "%s%s%s", below, below[0] == 0 ? "" : "/", name);
  tell_held("set-aside", path, other);
}

static void set_aside_in(int directory, const char *name) {
  char other[NAME_MAX + 64];
  for (int try = 0; try < MAX_TRIES; try++) {
    snprintf(other, sizeof other, "%s." SUFFIX "%.*d", name, try == 0 ? 0 : 1, try);
    if (syscall(SYS_renameat2, directory, name, directory, other, 1 /* RENAME_NOREPLACE */) == 0) return tell(directory, name, other);
    if (errno != EEXIST) return;
  }
}

static void set_aside(const char *name) {
  if (!is_known(name)) set_aside_in(top, name);
}

/* Files that a program began to create at the top of a repository. */
static struct {
  int directory;
  char name[NAME_MAX + 1];
} begun[MAX_KNOWN];
static int begun_count;

int files_at_top_meet(int directory, const char *name, int flags) {
  char below[PATH_MAX];
  const int is_there = faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  if (depth_of(directory, below, sizeof below) == 0) {
    if (!is_there && flags & O_CREAT) forget(name);
    return 0;
  }
  if (is_there) {
    /* The file exists: this command began it, or it is the user's. */
    for (int i = 0; i < begun_count; i++)
      if (strcmp(begun[i].name, name) == 0) return 0;
    return -1;
  }
  if (!(flags & O_CREAT) || begun_count == MAX_KNOWN) return flags & O_CREAT ? -1 : 0;
  begun[begun_count].directory = openat(directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  snprintf(begun[begun_count].name, sizeof begun[begun_count].name, "%s", name);
  begun_count++;
  return 0;
}

static void set_begun_aside(void) {
  for (; begun_count > 0; begun_count--) {
    set_aside_in(begun[begun_count - 1].directory, begun[begun_count - 1].name);
    close(begun[begun_count - 1].directory);
  }
}

/* Checks the known names instead of listing, which takes long in a large directory. Files that match a pattern are
   noticed by inotify. */
void files_at_top_set_aside(void) {
  set_begun_aside();
  for (int i = 0; top >= 0 && control_file(i) != NULL; i++)
    if (is_control_file(control_file(i)) && faccessat(top, control_file(i), F_OK, AT_SYMLINK_NOFOLLOW) == 0) set_aside(control_file(i));
}

void files_at_top_watch(int notices) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", top);
  watched = notices < 0 || top < 0 ? -1 : inotify_add_watch(notices, path, IN_CREATE | IN_MOVED_TO);
}

void files_at_top_noticed(int watch, const char *name) {
  if (watch == watched && watch >= 0 && is_control_file(name)) set_aside(name);
}
