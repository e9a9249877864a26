#define _GNU_SOURCE
#include "init/commands/command-subreaper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void limit(int resource, uint64_t value) {
  if (value == UINT64_MAX) return;
  struct rlimit current;
  if (getrlimit((__rlimit_resource_t)resource, &current) != 0) return;
  rlim_t bound = value < current.rlim_max ? (rlim_t)value : current.rlim_max;
  struct rlimit both = {bound, bound};
  setrlimit((__rlimit_resource_t)resource, &both);
}

static void set_limits(const uint64_t *limits) {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits[LIMIT_CPU]);
  limit(RLIMIT_FSIZE, limits[LIMIT_FILE_SIZE]);
  limit(RLIMIT_NOFILE, limits[LIMIT_OPEN_FILES]);
  limit(RLIMIT_NPROC, limits[LIMIT_PROCESSES]);
  limit(RLIMIT_DATA, limits[LIMIT_DATA]);
  limit(RLIMIT_STACK, limits[LIMIT_STACK]);
}

static const char *find_variable(char **variables, const char *name, const char *fallback) {
  size_t length = strlen(name);
  for (; *variables != NULL; variables++)
    if (strncmp(*variables, name, length) == 0 && (*variables)[length] == '=') return *variables + length + 1;
  return fallback;
}

/* Executes a program found in the program's own PATH, not ours. Returns only on failure. */
static void execute(char **arguments, char **variables) {
  if (strchr(arguments[0], '/') != NULL) {
    execve(arguments[0], arguments, variables);
    return;
  }
  char path[4096];
  int error = ENOENT;
  for (const char *at = find_variable(variables, "PATH", "/usr/bin:/bin"); *at != 0;) {
    size_t length = strcspn(at, ":");
    int written = snprintf(path, sizeof path, "%.*s/%s", (int)length, at, arguments[0]);
    if (length > 0 && written > 0 && (size_t)written < sizeof path) {
      execve(path, arguments, variables);
      if (errno == EACCES) error = EACCES;
      else if (errno != ENOENT && errno != ENOTDIR) return;
    }
    at += length + (at[length] == ':');
  }
  errno = error;
}

static int open_streams(const struct streams *streams) {
  const int terminal = streams->terminal;
  if (terminal >= 0) {
    if (ioctl(terminal, TIOCSCTTY, 0) != 0) return -1;
    return dup2(terminal, 0) < 0 || dup2(terminal, 1) < 0 || dup2(terminal, 2) < 0 ? -1 : 0;
  }
  int input = streams->input >= 0 ? streams->input : open("/dev/null", O_RDONLY);
  return dup2(input, 0) < 0 || dup2(streams->output, 1) < 0 || dup2(streams->errors, 2) < 0 ? -1 : 0;
}

/* Runs in the child between vfork and exec. The child shares our memory, so it returns its errno through `error`. */
static void become(const struct request *request, const struct streams *streams, volatile int *error) {
  sigset_t none;
  sigemptyset(&none);
  setsid();
  if (open_streams(streams) == 0 && chdir(request->directory) == 0) {
    set_limits(request->head.limits);
    syscall(SYS_close_range, 3, ~0U, 0);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execute(request->arguments, request->variables);
  }
  *error = errno;
  _exit(127);
}

static void tell(int notes, const struct note *note) {
  while (write(notes, note, sizeof *note) < 0 && errno == EINTR) continue;
}

static struct ending to_ending(int status, const struct rusage *usage) {
  return (struct ending){
      .code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
      .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
      .user_us = (uint64_t)usage->ru_utime.tv_sec * 1000000 + (uint64_t)usage->ru_utime.tv_usec,
      .system_us = (uint64_t)usage->ru_stime.tv_sec * 1000000 + (uint64_t)usage->ru_stime.tv_usec,
      .max_rss_kb = (uint64_t)usage->ru_maxrss,
  };
}

/* A program may ask its parent to trace it (PTRACE_TRACEME). Then the subreaper sees its stops, which are no end, and
   only the subreaper can resume it. The subreaper detaches, so that the program goes on as if it had not asked. SIGTRAP is
   caused by tracing itself and is not passed on. */
static void stop_tracing(pid_t pid, int signal_number) {
  ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)(signal_number == SIGTRAP ? 0 : signal_number));
}

/* Waits until no process is left below. Orphans of the program become children of the subreaper, not of the init. */
static void keep(pid_t program, int notes) {
  for (;;) {
    int status;
    struct rusage usage;
    pid_t ended = wait4(-1, &status, 0, &usage);
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0) _exit(0);
    if (WIFSTOPPED(status)) stop_tracing(ended, WSTOPSIG(status));
    if (WIFSTOPPED(status) || ended != program) continue;
    struct note note = {.kind = NOTE_ENDED, .pid = program, .ending = to_ending(status, &usage)};
    tell(notes, &note);
    close(notes);
  }
}

pid_t subreaper_start(const struct request *request, const struct streams *streams, int notes) {
  /* The subreaper inherits our signal mask, which blocks everything. */
  pid_t subreaper = fork();
  if (subreaper != 0) return subreaper;

  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  volatile int error = 0;
  pid_t program = vfork();
  if (program == 0) become(request, streams, &error);
  if (program < 0) error = errno;
  struct note note = {.kind = error == 0 ? NOTE_STARTED : NOTE_FAILED, .pid = program, .error = error};
  tell(notes, &note);
  if (error != 0) _exit(0);
  /* Our copies would keep the pipes open after the program closed them. */
  if (notes > 3) syscall(SYS_close_range, 0, (unsigned)notes - 1, 0);
  syscall(SYS_close_range, (unsigned)notes + 1, ~0U, 0);
  keep(program, notes);
  return 0;
}

/* Returns the parent of a process, or -1 if there is no such process. */
static pid_t parent_of(pid_t pid, int *has_ended) {
  char path[32], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return -1;
  text[length] = 0;
  /* The process name may hold any character, including closing brackets. */
  const char *after = strrchr(text, ')');
  char state;
  int parent;
  if (after == NULL || sscanf(after + 1, " %c %d", &state, &parent) != 2) return -1;
  *has_ended = state == 'Z';
  return parent;
}

/* Whether the process is below the subreaper. A process that has ended does not count, but is still a step on the way
   up: it may be a zombie while its last threads end, and until then its children are its own. */
static int is_below(pid_t pid, pid_t subreaper, int (*is_subreaper)(pid_t)) {
  const pid_t init = getpid();
  int has_ended = 0;
  for (int depth = 0; depth < 4096 && pid > 1; depth++) {
    if (subreaper == 0 && is_subreaper(pid)) return 0;
    pid_t parent = parent_of(pid, &has_ended);
    if (depth == 0 && has_ended) return 0;
    if (subreaper != 0 ? parent == subreaper : parent == init) return 1;
    pid = parent;
  }
  return 0;
}

/* Signals through a pidfd that was opened before the check, because outside a pid namespace the process id may be
   reused meanwhile. */
static int signal_if_below(pid_t pid, pid_t subreaper, int (*is_subreaper)(pid_t), int number) {
  int handle = (int)syscall(SYS_pidfd_open, pid, 0);
  int result = -1;
  if (is_below(pid, subreaper, is_subreaper))
    result = handle < 0 ? kill(pid, number) : (int)syscall(SYS_pidfd_send_signal, handle, number, NULL, 0);
  if (handle >= 0) close(handle);
  return result;
}

static int signal_below(pid_t subreaper, int (*is_subreaper)(pid_t), int number) {
  int found = 0;
  DIR *directory = opendir("/proc");
  if (directory == NULL) return 0;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    pid_t pid = atoi(entry->d_name);
    if (pid > 1 && pid != subreaper && signal_if_below(pid, subreaper, is_subreaper, number) == 0) found++;
  }
  closedir(directory);
  return found;
}

void subreaper_kill(pid_t subreaper, int (*is_subreaper)(pid_t)) {
  /* A stopped process cannot fork: once a round finds no more processes than the last one, all are stopped. */
  for (int round = 0, last = -1; round < 64; round++) {
    int found = signal_below(subreaper, is_subreaper, SIGSTOP);
    if (found == last) break;
    last = found;
  }
  for (int round = 0; round < 64 && signal_below(subreaper, is_subreaper, SIGKILL) > 0; round++) continue;
}
