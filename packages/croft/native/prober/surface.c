#define _GNU_SOURCE
#include "attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { IO_URING_SETUP = 425, MEMFD_SECRET = 447 };

static char zeros[256];

static int io_uring(char **arguments) {
  (void)arguments;
  return outcome(syscall(IO_URING_SETUP, 4, zeros));
}

static int bpf(char **arguments) {
  (void)arguments;
  return outcome_of_nonsense(syscall(SYS_bpf, 0, zeros, 64));
}

static int perf(char **arguments) {
  (void)arguments;
  struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof event, .config = PERF_COUNT_SW_TASK_CLOCK};
  event.exclude_kernel = event.exclude_hv = 1;
  return outcome(syscall(SYS_perf_event_open, &event, 0, -1, -1, 0));
}

static int userfaultfd(char **arguments) {
  (void)arguments;
  return outcome(syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */));
}

static int keyctl(char **arguments) {
  (void)arguments;
  return outcome_of_nonsense(syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -3, 0));
}

static int add_key(char **arguments) {
  (void)arguments;
  return outcome(syscall(SYS_add_key, "user", "prober", "x", 1, -2 /* of this process alone */));
}

static int request_key(char **arguments) {
  (void)arguments;
  return outcome_of_nonsense(syscall(SYS_request_key, "user", "no-such-key-of-prober", 0, 0));
}

static int kexec_load(char **arguments) {
  (void)arguments;
  return outcome_of_nonsense(syscall(SYS_kexec_load, 0, 1, 0, ~0UL));
}

static int init_module(char **arguments) {
  (void)arguments;
  return outcome_of_nonsense(syscall(SYS_init_module, 0, 0, 0));
}

static int finit_module(char **arguments) {
  (void)arguments;
  return outcome_of_nonsense(syscall(SYS_finit_module, -1, "", 0));
}

static int delete_module(char **arguments) {
  (void)arguments;
  return outcome_of_nonsense(syscall(SYS_delete_module, "no-such-module-of-prober", O_NONBLOCK));
}

/* Without the magic numbers it can restart nothing. */
static int reboot(char **arguments) {
  (void)arguments;
  return outcome_of_nonsense(syscall(SYS_reboot, 0, 0, 0, 0));
}

static int read_log(char **arguments) {
  (void)arguments;
  return outcome(syscall(SYS_syslog, 10 /* how large it is */, 0, 0));
}

static int secret_memory(char **arguments) {
  (void)arguments;
  return outcome(syscall(MEMFD_SECRET, 0));
}

static int watch_files(char **arguments) {
  (void)arguments;
  return outcome(syscall(SYS_fanotify_init, 0x200 /* FAN_REPORT_FID */, O_RDONLY));
}

#if defined(__x86_64__)
static int x32(char **arguments) {
  (void)arguments;
  return outcome(syscall(0x40000000 | SYS_getpid));
}

static int i386(char **arguments) {
  (void)arguments;
  long result = 20; /* getpid there */
  __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
  return result < 0 ? (int)-result : 0;
}

static int segments(char **arguments) {
  (void)arguments;
  return outcome(syscall(SYS_modify_ldt, 0, zeros, sizeof zeros));
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
  return outcome_of_nonsense(ioctl(terminal, request, &key));
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

const struct attempt surface_attempts[] = {
    {"io-uring", 0, io_uring},
    {"bpf", 0, bpf},
    {"perf", 0, perf},
    {"userfaultfd", 0, userfaultfd},
    {"keyctl", 0, keyctl},
    {"add-key", 0, add_key},
    {"request-key", 0, request_key},
    {"kexec-load", 0, kexec_load},
    {"init-module", 0, init_module},
    {"finit-module", 0, finit_module},
    {"delete-module", 0, delete_module},
    {"reboot", 0, reboot},
    {"syslog", 0, read_log},
    {"memfd-secret", 0, secret_memory},
    {"fanotify", 0, watch_files},
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
