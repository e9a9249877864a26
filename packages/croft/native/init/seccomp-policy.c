#define _GNU_SOURCE
#include "init/seccomp-policy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init/bpf-builder.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "croft-init knows x86-64 and arm64"
#endif

#define NAMESPACES                                                                                                     \
  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | 0x80)
#define SET_ID (S_ISUID | S_ISGID)

#define WAIT_KILLABLE (1UL << 5) /* SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, which older headers lack */

static int is_listening;

static void load_word(unsigned int offset) { filter_emit(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }

static void load_number(void) { load_word(offsetof(struct seccomp_data, nr)); }

/* Loads the low 32 bits: every argument checked here is an int or narrower to the kernel. */
static void load_argument(int index) { load_word(offsetof(struct seccomp_data, args) + 8 * (unsigned)index); }

static void answer(unsigned int action) { filter_emit(BPF_RET | BPF_K, action, 0, 0); }

static void refuse(int error) { answer(SECCOMP_RET_ERRNO | ((unsigned)error & SECCOMP_RET_DATA)); }

/* Lets the init refuse the call, which also reports it. */
static void refuse_aloud(int error) {
  if (is_listening) answer(SECCOMP_RET_USER_NOTIF);
  else refuse(error);
}

static void deny(int call, int error) {
  filter_rule(call, 1);
  refuse_aloud(error);
}

/* For calls that programs try and can do without: refused without a report. */
static void deny_quietly(int call, int error) {
  filter_rule(call, 1);
  refuse(error);
}

/* Refuses the call if any bit of `mask` is set in the argument. */
static void deny_bits(int call, int argument, unsigned int mask, int error) {
  filter_rule(call, 4);
  load_argument(argument);
  filter_emit(BPF_JMP | BPF_JSET | BPF_K, mask, 0, 1);
  refuse_aloud(error);
  load_number();
}

static void deny_value(int call, int argument, unsigned int value, int error) {
  filter_rule(call, 4);
  load_argument(argument);
  filter_emit(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
  refuse_aloud(error);
  load_number();
}

#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

/* Sends every such call to the init: see call-judge.h. */
static void judge(int call) {
  filter_rule(call, 1);
  answer(SECCOMP_RET_USER_NOTIF);
}

/* Allows only socket families that stay inside the network namespace. vsock and others do not, or expose kernel code
   that nobody needs. */
static void allow_only_common_sockets(int call) {
  static const unsigned int families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
  const unsigned char count = sizeof families / sizeof *families;
  filter_rule(call, (unsigned char)(count + 3));
  load_argument(0);
  for (unsigned char i = 0; i < count; i++) filter_emit(BPF_JMP | BPF_JEQ | BPF_K, families[i], (unsigned char)(count - i), 0);
  refuse_aloud(EAFNOSUPPORT);
  load_number();
}

#define CALL(name) __NR_##name
#define FORBID(name) {__NR_##name, EPERM, #name}

/* A refused call, and the error that programs get for it. */
struct refused {
  int call, error;
  const char *name;
};

static const struct refused forbidden[] = {
    /* the mount family and other ways to another view of the system */
    FORBID(mount), FORBID(umount2), FORBID(pivot_root), FORBID(chroot), FORBID(setns), FORBID(unshare),
    {428, EPERM, "open_tree"}, {429, EPERM, "move_mount"}, {430, EPERM, "fsopen"}, {431, EPERM, "fsconfig"},
    {432, EPERM, "fsmount"}, {433, EPERM, "fspick"}, {442, EPERM, "mount_setattr"}, {457, EPERM, "statmount"},
    {458, EPERM, "listmount"}, {467, EPERM, "open_tree_attr"}, FORBID(open_by_handle_at), FORBID(name_to_handle_at),
    FORBID(quotactl), {443, EPERM, "quotactl_fd"},
    /* other processes' memory and handles */
    FORBID(process_vm_readv), FORBID(process_vm_writev), {438, EPERM, "pidfd_getfd"}, FORBID(kcmp),
    {440, EPERM, "process_madvise"}, FORBID(move_pages), FORBID(migrate_pages),
    /* kernel surface that has been a way out before */
    FORBID(bpf), FORBID(perf_event_open), FORBID(userfaultfd), FORBID(keyctl), FORBID(add_key), FORBID(request_key),
    FORBID(fanotify_init), FORBID(kexec_load), FORBID(init_module), FORBID(finit_module), FORBID(delete_module),
    {447, EPERM, "memfd_secret"}, FORBID(syslog), FORBID(acct), FORBID(lookup_dcookie), FORBID(nfsservctl),
    /* the machine itself */
    FORBID(reboot), FORBID(swapon), FORBID(swapoff), FORBID(settimeofday), FORBID(clock_settime),
    FORBID(clock_adjtime), FORBID(adjtimex), FORBID(sethostname), FORBID(setdomainname), FORBID(vhangup),
#if defined(__x86_64__)
    FORBID(kexec_file_load), FORBID(iopl), FORBID(ioperm), FORBID(uselib), FORBID(modify_ldt), FORBID(_sysctl),
    FORBID(sysfs), FORBID(ustat),
#endif
};

/* Calls that are refused by their arguments. */
static const struct refused conditional[] = {
    {CALL(clone), EPERM, "clone into a namespace"},
    {CALL(ptrace), EPERM, "ptrace of another process"},
    {CALL(ioctl), EPERM, "ioctl that types into a terminal"},
    {CALL(socket), EAFNOSUPPORT, "socket of an unusual family"},
    {CALL(socketpair), EAFNOSUPPORT, "socket of an unusual family"},
    {CALL(fchmod), EPERM, "chmod to set-id"},
    {CALL(fchmodat), EPERM, "chmod to set-id"},
    {452 /* fchmodat2 */, EPERM, "chmod to set-id"},
    {CALL(mknodat), EPERM, "a set-id file"},
    {CALL(openat), EPERM, "a set-id file"},
#if defined(__x86_64__)
    {CALL(chmod), EPERM, "chmod to set-id"},
    {CALL(mknod), EPERM, "a set-id file"},
    {CALL(creat), EPERM, "a set-id file"},
    {CALL(open), EPERM, "a set-id file"},
#endif
};

#define COUNT(table) (sizeof table / sizeof *table)

static void judge_arch(void) {
  load_word(offsetof(struct seccomp_data, arch));
  filter_emit(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
  answer(SECCOMP_RET_KILL_PROCESS);
  load_number();
#if defined(__x86_64__)
  /* x32 has the same architecture value and a second number for every call. */
  filter_emit(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
  answer(SECCOMP_RET_KILL_PROCESS);
#endif
}

static void build(void) {
  filter_begin();
  judge_arch();
  for (unsigned i = 0; i < COUNT(forbidden); i++) deny(forbidden[i].call, forbidden[i].error);
  /* The flags of clone3 are behind a pointer, which a filter cannot read. Libraries fall back to clone. */
  deny_quietly(435 /* clone3 */, ENOSYS);
  deny_quietly(437 /* openat2 */, ENOSYS);
  /* fallocate takes gigabytes at once, before the watchdog can see it. Libraries fall back to writing. */
  deny_quietly(CALL(fallocate), EOPNOTSUPP);
  deny_quietly(425 /* io_uring_setup */, EPERM);
  deny_quietly(426 /* io_uring_enter */, EPERM);
  deny_quietly(427 /* io_uring_register */, EPERM);
  deny_bits(CALL(clone), 0, NAMESPACES, EPERM);
  deny_value(CALL(ptrace), 0, PTRACE_ATTACH, EPERM);
  deny_value(CALL(ptrace), 0, PTRACE_SEIZE, EPERM);
  deny_value(CALL(ioctl), 1, TIOCSTI, EPERM);
  deny_value(CALL(ioctl), 1, 0x541C /* TIOCLINUX */, EPERM);
  allow_only_common_sockets(CALL(socket));
  allow_only_common_sockets(CALL(socketpair));
  deny_bits(CALL(openat), 2, WRITES, EPERM);
#if defined(__x86_64__)
  deny_bits(CALL(open), 1, WRITES, EPERM);
#endif
  /* An ACL could make a file executable without chmod. Programs do without ACLs. */
  deny_quietly(CALL(setxattr), EOPNOTSUPP);
  deny_quietly(CALL(lsetxattr), EOPNOTSUPP);
  deny_quietly(CALL(fsetxattr), EOPNOTSUPP);
  deny_quietly(463 /* setxattrat */, EOPNOTSUPP);
  if (!is_listening) return;
  static const int judged[] = {
      CALL(mkdirat), CALL(mknodat), CALL(unlinkat), CALL(symlinkat), CALL(linkat), CALL(renameat), CALL(renameat2),
      CALL(fchmod), CALL(fchmodat), 452 /* fchmodat2 */, CALL(truncate), CALL(bind),
#if defined(__x86_64__)
      CALL(mkdir), CALL(mknod), CALL(rmdir), CALL(unlink), CALL(symlink), CALL(link), CALL(rename), CALL(chmod), CALL(creat),
#endif
  };
  for (unsigned i = 0; i < COUNT(judged); i++) judge(judged[i]);
}

/* Calls that could reach another search. A search starts only threads and needs no other process. */
static const int reaching_others[] = {
    CALL(kill), CALL(tkill), CALL(tgkill), CALL(rt_sigqueueinfo), CALL(rt_tgsigqueueinfo), CALL(ptrace),
    424 /* pidfd_send_signal */, 434 /* pidfd_open */, 448 /* process_mrelease */, CALL(setsid), CALL(setpgid),
    CALL(setpriority), CALL(ioprio_set), CALL(sched_setparam), CALL(sched_setscheduler), CALL(sched_setattr),
    CALL(sched_setaffinity), CALL(socket), CALL(socketpair), CALL(shmget), CALL(msgget), CALL(semget), CALL(mq_open),
#if defined(__x86_64__)
    CALL(fork), CALL(vfork),
#endif
};

/* Refuses the call if no bit of `mask` is set in the argument. */
static void deny_without_bits(int call, int argument, unsigned int mask, int error) {
  filter_rule(call, 4);
  load_argument(argument);
  filter_emit(BPF_JMP | BPF_JSET | BPF_K, mask, 1, 0);
  refuse_aloud(error);
  load_number();
}

/* Checks no argument of the calls that a search makes all the time, so that the kernel can cache the answer by
   number. */
static void build_for_search(void) {
  filter_begin();
  judge_arch();
  for (unsigned i = 0; i < COUNT(forbidden); i++) deny(forbidden[i].call, forbidden[i].error);
  for (unsigned i = 0; i < COUNT(reaching_others); i++) deny(reaching_others[i], EPERM);
  deny_quietly(435 /* clone3 */, ENOSYS);
  deny_quietly(425 /* io_uring_setup */, EPERM);
  deny_without_bits(CALL(clone), 0, CLONE_THREAD, EPERM);
  deny_bits(CALL(prlimit64), 0, ~0U, EPERM);
  /* F_SETOWN lets a descriptor send signals of any number to any process. */
  deny_value(CALL(fcntl), 1, F_SETOWN, EPERM);
  deny_value(CALL(fcntl), 1, F_SETOWN_EX, EPERM);
}

static int load(int listening, void (*build_rules)(void)) {
  is_listening = listening;
  build_rules();
  struct sock_fprog filter;
  if (filter_finish(&filter) != 0) return -1;
  if (!listening) return (int)syscall(CALL(seccomp), SECCOMP_SET_MODE_FILTER, 0, &filter);
  /* With WAIT_KILLABLE, no signal makes the program repeat a call that the init has begun. Older kernels lack the
     flag. */
  const int handle = (int)syscall(CALL(seccomp), SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE, &filter);
  if (handle >= 0 || errno != EINVAL) return handle;
  return (int)syscall(CALL(seccomp), SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
}

int seccomp_load(int *listener) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  *listener = load(1, build);
  return *listener >= 0 ? 0 : -1;
}

int seccomp_load_for_search(void) {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? -1 : load(0, build_for_search);
}

static const struct refused *find_refused(int call) {
  for (unsigned i = 0; i < COUNT(forbidden); i++)
    if (forbidden[i].call == call) return &forbidden[i];
  for (unsigned i = 0; i < COUNT(conditional); i++)
    if (conditional[i].call == call) return &conditional[i];
  return NULL;
}

#define MAKES (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))

/* Whether the init judges the call. Calls that ask for a set-id file are refused instead. */
static int is_judged(const struct seccomp_data *data) {
  switch (data->nr) {
    case CALL(fchmod): return !(data->args[1] & SET_ID);
    case CALL(fchmodat):
    case 452 /* fchmodat2 */:
    case CALL(mknodat): return !(data->args[2] & SET_ID);
    case CALL(openat): return !(data->args[2] & MAKES) || !(data->args[3] & SET_ID);
#if defined(__x86_64__)
    case CALL(chmod):
    case CALL(mknod):
    case CALL(creat): return !(data->args[1] & SET_ID);
    case CALL(open): return !(data->args[1] & MAKES) || !(data->args[2] & SET_ID);
#endif
  }
  return find_refused(data->nr) == NULL;
}

const char *seccomp_refusal(const struct seccomp_data *data, int *error) {
  if (is_judged(data)) return NULL;
  const struct refused *refused = find_refused(data->nr);
  *error = refused->error;
  return refused->name;
}
