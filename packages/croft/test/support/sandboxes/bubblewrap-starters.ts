import { compileText } from './weaken-init.ts';

/** A starter that keeps bubblewrap from setting no_new_privs, which no option does. */
export function keepPrivileges(directory: string): readonly string[] {
  const library = compileText(
    directory,
    'keep-privileges.so',
    `#define _GNU_SOURCE
#include <dlfcn.h>
enum { PR_SET_NO_NEW_PRIVS = 38 };
int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  int (*real)(int, unsigned long, unsigned long, unsigned long, unsigned long) = dlsym(RTLD_NEXT, "prctl");
  return option == PR_SET_NO_NEW_PRIVS ? 0 : real(option, a, b, c, d);
}
`,
    ['-shared', '-fPIC', '-w'],
  );
  return ['/usr/bin/env', `LD_PRELOAD=${library}`];
}

/** A starter that makes the kernel appear to have no system call filters. */
export function withoutFilters(directory: string): readonly string[] {
  const program = compileText(
    directory,
    'without-filters',
    `#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 125;
  execv(argv[1], argv + 1);
  return 127;
}
`,
    ['-w'],
  );
  return [program];
}

/** A starter that gives a program a session with a terminal, and holds the other end meanwhile. */
export function withTerminal(directory: string): readonly string[] {
  const program = compileText(
    directory,
    'with-terminal',
    `#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), status;
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return 125;
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    int end = open(ptsname(terminal), O_RDWR | O_CLOEXEC);
    if (end < 0 || ioctl(end, TIOCSCTTY, 0) != 0) _exit(126);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  dup2(terminal, 2);
  syscall(SYS_close_range, 3, ~0U, 0);
  wait(&status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
`,
    ['-w'],
  );
  return [program];
}
