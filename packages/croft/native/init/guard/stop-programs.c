#define _GNU_SOURCE
#include "init/guard/stop-programs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "init/guard/call-judge.h"

#define PAUSE_US 100
#define GIVE_UP_US 2000000
#define LONG_US 30000 /* a thread in state D for this time waits for another thread, as after vfork */

pid_t judged_thread;

static char state_of(int tasks, const char *thread) {
  char path[64], text[512];
  snprintf(path, sizeof path, "%.20s/stat", thread);
  int file = openat(tasks, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 'X';
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 'X';
  text[length] = 0;
  const char *after = strrchr(text, ')');
  return after != NULL && after[1] == ' ' ? after[2] : 'X';
}

static int is_still(char state, long waited_us) {
  return strchr("TtZX", state) != NULL || (state == 'D' && waited_us > LONG_US);
}

static int are_still(const char *process, long waited_us) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%.20s/task", process);
  DIR *tasks = opendir(path);
  if (tasks == NULL) return 1;
  int result = 1;
  for (struct dirent *entry; result && (entry = readdir(tasks)) != NULL;)
    if (entry->d_name[0] != '.' && atoi(entry->d_name) != judged_thread)
      result = is_still(state_of(dirfd(tasks), entry->d_name), waited_us);
  closedir(tasks);
  return result;
}

static int all_are_still(long waited_us) {
  DIR *processes = opendir("/proc");
  if (processes == NULL) return 0;
  int result = 1;
  for (struct dirent *entry; result && (entry = readdir(processes)) != NULL;)
    if (atoi(entry->d_name) > 1) result = are_still(entry->d_name, waited_us);
  closedir(processes);
  return result;
}

int stop_programs(void) {
  /* Outside a pid namespace, kill(-1) would reach processes of others. */
  if (getpid() != 1) return -1;
  if (kill(-1, SIGSTOP) != 0 && errno != ESRCH) return -1;
  for (long waited = 0; waited < GIVE_UP_US; waited += PAUSE_US) {
    if (all_are_still(waited)) return 0;
    nanosleep(&(struct timespec){0, PAUSE_US * 1000}, NULL);
  }
  continue_programs();
  return -1;
}

void continue_programs(void) { kill(-1, SIGCONT); }

static int leads_below(int process, const char *link, const char *whole) {
  char target[PATH_MAX];
  const ssize_t length = readlinkat(process, link, target, sizeof target - 1);
  const size_t size = strlen(whole);
  if (length < (ssize_t)size) return 0;
  target[length] = 0;
  return strncmp(target, whole, size) == 0 && (target[size] == 0 || target[size] == '/' || target[size] == ' ');
}

static int holds_below(const char *process, const char *whole) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%.20s", process);
  int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return 0;
  int result = leads_below(directory, "cwd", whole);
  int handles = openat(directory, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = handles < 0 ? NULL : fdopendir(handles);
  /* A process that we cannot inspect may have anything open. */
  if (entries == NULL) result = errno != ENOENT && errno != ESRCH;
  for (struct dirent *entry; entries != NULL && !result && (entry = readdir(entries)) != NULL;)
    result = entry->d_name[0] != '.' && leads_below(handles, entry->d_name, whole);
  if (entries != NULL) closedir(entries);
  close(directory);
  return result;
}

int is_anybody_below(const char *path) {
  char whole[2 * PATH_MAX];
  snprintf(whole, sizeof whole, "%s/%s", judged_workspace, path);
  DIR *processes = opendir("/proc");
  if (processes == NULL) return 1;
  int result = 0;
  for (struct dirent *entry; !result && (entry = readdir(processes)) != NULL;)
    if (atoi(entry->d_name) > 1) result = holds_below(entry->d_name, whole);
  closedir(processes);
  return result;
}
