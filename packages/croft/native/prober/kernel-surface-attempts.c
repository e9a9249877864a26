#define _GNU_SOURCE
#include "attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
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
  return outcome_of_invalid_call(syscall(SYS_bpf, 0, zeros, 64));
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
  return outcome_of_invalid_call(syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -3, 0));
}

static int add_key(char **arguments) {
  (void)arguments;
  return outcome(syscall(SYS_add_key, "user", "prober", "x", 1, -2 /* keyring of this process */));
}

static int request_key(char **arguments) {
  (void)arguments;
  return outcome_of_invalid_call(syscall(SYS_request_key, "user", "no-such-key-of-prober", 0, 0));
}

static int kexec_load(char **arguments) {
  (void)arguments;
  return outcome_of_invalid_call(syscall(SYS_kexec_load, 0, 1, 0, ~0UL));
}

static int init_module(char **arguments) {
  (void)arguments;
  return outcome_of_invalid_call(syscall(SYS_init_module, 0, 0, 0));
}

static int finit_module(char **arguments) {
  (void)arguments;
  return outcome_of_invalid_call(syscall(SYS_finit_module, -1, "", 0));
}

static int delete_module(char **arguments) {
  (void)arguments;
  return outcome_of_invalid_call(syscall(SYS_delete_module, "no-such-module-of-prober", O_NONBLOCK));
}

/* Without the magic numbers nothing restarts. */
static int reboot(char **arguments) {
  (void)arguments;
  return outcome_of_invalid_call(syscall(SYS_reboot, 0, 0, 0, 0));
}

static int read_log(char **arguments) {
  (void)arguments;
  return outcome(syscall(SYS_syslog, 10 /* size of the log */, 0, 0));
}

static int secret_memory(char **arguments) {
  (void)arguments;
  return outcome(syscall(MEMFD_SECRET, 0));
}

static int watch_files(char **arguments) {
  (void)arguments;
  return outcome(syscall(SYS_fanotify_init, 0x200 /* FAN_REPORT_FID */, O_RDONLY));
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
    {0},
};
