#define _GNU_SOURCE
#include "attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
static int x32(char **arguments) {
  (void)arguments;
  return outcome(syscall(0x40000000 | SYS_getpid));
}

static int i386(char **arguments) {
  (void)arguments;
  long result = 20; /* getpid of i386 */
  __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
  return result < 0 ? (int)-result : 0;
}

static int segments(char **arguments) {
  (void)arguments;
  char table[256];
  return outcome(syscall(SYS_modify_ldt, 0, table, sizeof table));
}

static int ports(char **arguments) {
  (void)arguments;
  return outcome(syscall(SYS_iopl, 3));
}
#endif

static int own_terminal(void) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || unlockpt(master) != 0) return -1;
  return open(ptsname(master), O_RDWR | O_NOCTTY);
}

static int ask_terminal(unsigned long request) {
  const int terminal = own_terminal();
  if (terminal < 0) return errno;
  setsid();
  ioctl(terminal, TIOCSCTTY, 0);
  char key = 'x';
  return outcome_of_invalid_call(ioctl(terminal, request, &key));
}

static int tiocsti(char **arguments) {
  (void)arguments;
  return ask_terminal(TIOCSTI);
}

static int tioclinux(char **arguments) {
  (void)arguments;
  return ask_terminal(TIOCLINUX);
}

static int vsock(char **arguments) {
  (void)arguments;
  return outcome(socket(40 /* AF_VSOCK */, SOCK_STREAM, 0));
}

static int packet(char **arguments) {
  (void)arguments;
  try_to_own(CLONE_NEWNET);
  return outcome(socket(AF_PACKET, SOCK_RAW, 0));
}

static int alg(char **arguments) {
  (void)arguments;
  return outcome(socket(38 /* AF_ALG */, SOCK_SEQPACKET, 0));
}

const struct attempt foreign_attempts[] = {
#if defined(__x86_64__)
    {"x32", 0, x32},
    {"i386", 0, i386},
    {"modify-ldt", 0, segments},
    {"iopl", 0, ports},
#endif
    {"tiocsti", 0, tiocsti},
    {"tioclinux", 0, tioclinux},
    {"vsock", 0, vsock},
    {"packet", 0, packet},
    {"alg", 0, alg},
    {0},
};
