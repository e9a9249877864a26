#define _GNU_SOURCE
#include "init/guard/settings-drafts.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "init/control-files/control-names.h"
#include "init/guard/hold-repositories.h"
#include "init/guard/name-meanings.h"

#define MAX_OWN 32
#define MOMENT_S 60

/* Open handles of the drafts that programs created last: while one is open, the kernel gives its inode to no other
   file. */
static int own[MAX_OWN];
static unsigned own_count;

static int is_draft(const struct parent_entry *entry) {
  if (strstr(entry->name, "config") == NULL || strcmp(entry->name, "config") == 0 || is_allowed(".git/config")) return 0;
  return is_repository(entry->directory) && is_git_judged_in(entry->directory);
}

static int is_own(const struct stat *asked) {
  struct stat known;
  for (unsigned i = 0; i < own_count && i < MAX_OWN; i++)
    if (fstat(own[i], &known) == 0 && known.st_ino == asked->st_ino && known.st_dev == asked->st_dev) return 1;
  return 0;
}

int is_others_draft(const struct parent_entry *entry) {
  struct stat status;
  if (!is_draft(entry) || fstatat(entry->directory, entry->name, &status, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  return S_ISREG(status.st_mode) && !is_own(&status) && time(NULL) - status.st_ctime < MOMENT_S;
}

void draft_made(const struct parent_entry *entry) {
  if (!is_draft(entry)) return;
  int handle = openat(entry->directory, entry->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (handle < 0) return;
  int *place = &own[own_count++ % MAX_OWN];
  if (own_count > MAX_OWN) close(*place);
  *place = handle;
}
