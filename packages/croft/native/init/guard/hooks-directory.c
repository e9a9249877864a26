#define _GNU_SOURCE
#include "init/guard/hooks-directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int lists_only(int directory, const char *const *names, size_t count) {
  int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = copy < 0 ? NULL : fdopendir(copy);
  if (entries == NULL) {
    if (copy >= 0) close(copy);
    return 0;
  }
  int is_other = 0;
  for (struct dirent *entry; !is_other && (entry = readdir(entries)) != NULL;) {
    is_other = 1;
    for (size_t i = 0; i < count; i++)
      if (strcmp(entry->d_name, names[i]) == 0) is_other = 0;
  }
  closedir(entries);
  return !is_other;
}

int is_sample(const char *name) {
  const size_t length = strlen(name);
  return length > 7 && strcmp(name + length - 7, ".sample") == 0;
}

/* Removes `*.sample` files, fails on any other file, and closes `hooks`. */
static int remove_samples(int hooks) {
  DIR *entries = fdopendir(hooks);
  if (entries == NULL) return close(hooks), -1;
  int result = 0;
  for (struct dirent *entry; result == 0 && (entry = readdir(entries)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    result = is_sample(entry->d_name) ? unlinkat(dirfd(entries), entry->d_name, 0) : -1;
  }
  closedir(entries);
  return result;
}

/* Creates a new directory, because a program that has the old one open could still create files in it. */
int hooks_renew(int directory) {
  int hooks = openat(directory, "hooks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (hooks < 0 && errno != ENOENT) return -1;
  if (hooks >= 0 && (remove_samples(hooks) != 0 || unlinkat(directory, "hooks", AT_REMOVEDIR) != 0)) return -1;
  return mkdirat(directory, "hooks", 0755);
}
