#define _GNU_SOURCE
#include "first.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what) {
  fprintf(stderr, "croft: %s: %s\n", what, strerror(errno));
  return 127;
}

/* What a terminal sends, it sends to the program too; a second one would end that before it is done. But of a terminal
   that is gone only the first process hears. */
static int is_for_program(const siginfo_t *told) {
  return told->si_signo != SIGCHLD && (told->si_code <= 0 || told->si_signo == SIGHUP);
}

/* Whether the program was among those that ended. */
static int reap(pid_t program, int *code) {
  int has_ended = 0, status;
  for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended != program) continue;
    has_ended = 1;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return has_ended;
}

static int keep(pid_t program, const sigset_t *signals) {
  for (int code = 0;;) {
    siginfo_t told;
    if (sigwaitinfo(signals, &told) < 0) continue;
    if (told.si_signo == SIGCHLD && reap(program, &code)) return code;
    if (is_for_program(&told)) kill(program, told.si_signo);
  }
}

int first(char **arguments) {
  sigset_t signals, before;
  sigfillset(&signals);
  if (sigprocmask(SIG_BLOCK, &signals, &before) != 0) return fail("signals");
  const pid_t program = fork();
  if (program < 0) return fail("cannot start");
  if (program > 0) return keep(program, &signals);
  sigprocmask(SIG_SETMASK, &before, NULL);
  execvp(arguments[0], arguments);
  return fail(arguments[0]);
}
