#define _GNU_SOURCE
#include "init/container-pid1.h"

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

/* Whether to pass a signal on. A terminal sends its signals to the program too, and a second one could end it too
   early. But only the first process gets the hangup of a terminal. */
static int is_for_program(const siginfo_t *signal_info) {
  return signal_info->si_signo != SIGCHLD && (signal_info->si_code <= 0 || signal_info->si_signo == SIGHUP);
}

/* Reaps children. Returns whether the program was one of them. */
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
    siginfo_t signal_info;
    if (sigwaitinfo(signals, &signal_info) < 0) continue;
    if (signal_info.si_signo == SIGCHLD && reap(program, &code)) return code;
    if (is_for_program(&signal_info)) kill(program, signal_info.si_signo);
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
