#define _GNU_SOURCE
#include "attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIDFD_OPEN = 434, PIDFD_GETFD = 438 };

static int trace(char **arguments, enum __ptrace_request how) {
  const pid_t pid = atoi(arguments[0]);
  const long result = ptrace(how, pid, 0, 0);
  const int error = outcome(result);
  if (error != 0) return error;
  if (how == PTRACE_ATTACH) waitpid(pid, NULL, __WALL);
  ptrace(PTRACE_DETACH, pid, 0, 0);
  return 0;
}

static int attach(char **arguments) { return trace(arguments, PTRACE_ATTACH); }

static int seize(char **arguments) { return trace(arguments, PTRACE_SEIZE); }

/* Addresses differ between programs. Only a process with access learns that nothing is at this address. */
static int read_memory(char **arguments) {
  char byte;
  struct iovec here = {&byte, 1}, there = {(void *)4096, 1};
  return outcome_of_invalid_call(syscall(SYS_process_vm_readv, atoi(arguments[0]), &here, 1, &there, 1, 0));
}

static int take_handle(char **arguments) {
  const int process = (int)syscall(PIDFD_OPEN, atoi(arguments[0]), 0);
  if (process < 0) return errno;
  return outcome(syscall(PIDFD_GETFD, process, atoi(arguments[1]), 0));
}

static int compare(char **arguments) {
  return outcome(syscall(SYS_kcmp, getpid(), atoi(arguments[0]), 1 /* KCMP_VM */, 0, 0));
}

/* Signal 0 only checks whether a signal could be sent. */
static int reach(char **arguments) { return outcome(kill(atoi(arguments[0]), 0)); }

static int core_limit(char **arguments) {
  (void)arguments;
  struct rlimit limit;
  if (getrlimit(RLIMIT_CORE, &limit) != 0) return errno;
  return limit.rlim_max == 0 ? EPERM : 0;
}

/* Inherited descriptors beyond the three standard streams. */
static int inherited(char **arguments) {
  (void)arguments;
  for (int handle = 3; handle < 4096; handle++)
    if (fcntl(handle, F_GETFD) >= 0) return fprintf(stderr, "handle %d is open\n", handle), 0;
  return EBADF;
}

/* Makes another attempt from a program that is in no file system. */
static int from_memory(char **arguments) {
  const int own = open("/proc/self/exe", O_RDONLY);
  const int copy = (int)syscall(SYS_memfd_create, "prober", 0);
  struct stat status;
  if (own < 0 || copy < 0 || fstat(own, &status) != 0) return errno;
  char *bytes = malloc((size_t)status.st_size);
  if (bytes == NULL || read(own, bytes, (size_t)status.st_size) != status.st_size) return EIO;
  if (write(copy, bytes, (size_t)status.st_size) != status.st_size) return EIO;
  char *none[] = {NULL};
  syscall(SYS_execveat, copy, "", arguments - 1, none, AT_EMPTY_PATH);
  return errno;
}

/* Asks the parent to trace it, and stops as a traced program does at every signal. */
static int ask_to_be_traced(char **arguments) {
  (void)arguments;
  const int error = outcome(ptrace(PTRACE_TRACEME, 0, 0, 0));
  return error != 0 ? error : outcome(raise(SIGWINCH));
}

static int watch_files(char **arguments) {
  (void)arguments;
  return outcome(inotify_init1(IN_CLOEXEC));
}

/* Takes all inotify instances until the file `arguments[1]` exists, for half a minute at most. */
static int watch_without_end(char **arguments) {
  while (inotify_init1(IN_CLOEXEC) >= 0) continue;
  const int error = errno;
  close(open(arguments[0], O_CREAT | O_WRONLY, 0644));
  for (int round = 0; round < 3000 && access(arguments[1], F_OK) != 0; round++) usleep(10000);
  return error;
}

const struct attempt process_attempts[] = {
    {"ptrace-attach", 1, attach}, {"ptrace-seize", 1, seize}, {"process-vm-readv", 1, read_memory},
    {"pidfd-getfd", 2, take_handle}, {"kcmp", 1, compare},    {"kill", 1, reach},
    {"core-limit", 0, core_limit}, {"handles", 0, inherited}, {"memfd-exec", 1, from_memory},
    {"trace-me", 0, ask_to_be_traced}, {"inotify", 0, watch_files}, {"inotify-all", 2, watch_without_end},
    {0},
};
