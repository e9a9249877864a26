#define _GNU_SOURCE
#include "fence.h"

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

#include "filter.h"

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

static int is_listening;

static void load_word(unsigned int offset) { filter_emit(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }

static void load_number(void) { load_word(offsetof(struct seccomp_data, nr)); }

/* The low half: every argument judged here is an int or narrower to the kernel. */
static void load_argument(int index) { load_word(offsetof(struct seccomp_data, args) + 8 * (unsigned)index); }

static void answer(unsigned int action) { filter_emit(BPF_RET | BPF_K, action, 0, 0); }

static void refuse(int error) { answer(SECCOMP_RET_ERRNO | ((unsigned)error & SECCOMP_RET_DATA)); }

/* Refused too, but by the init, which tells of it. */
static void refuse_aloud(int error) {
  if (is_listening) answer(SECCOMP_RET_USER_NOTIF);
  else refuse(error);
}

static void deny(int call, int error) {
  filter_rule(call, 1);
  refuse_aloud(error);
}

/* For what programs try and do without. */
static void deny_quietly(int call, int error) {
  filter_rule(call, 1);
  refuse(error);
}

/* Refuse when the argument, masked, is not zero. */
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

/* Refuse a file made with set-id bits; `flags` says whether this open makes one. */
static void deny_set_id_open(int call, int flags, int mode) {
  filter_rule(call, 6);
  load_argument(flags);
  filter_emit(BPF_JMP | BPF_JSET | BPF_K, O_CREAT | (O_TMPFILE & ~O_DIRECTORY), 0, 3);
  load_argument(mode);
  filter_emit(BPF_JMP | BPF_JSET | BPF_K, SET_ID, 0, 1);
  refuse_aloud(EPERM);
  load_number();
}

/* Families that stay inside the network namespace. vsock and others do not, or open kernel surface nobody needs. */
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

/* What is refused, with the error that programs get for it. */
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

/* What is refused by its arguments. */
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
  /* x32 shares the architecture and doubles every call. */
  filter_emit(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
  answer(SECCOMP_RET_KILL_PROCESS);
#endif
}

static void build(void) {
  filter_begin();
  judge_arch();
  for (unsigned i = 0; i < COUNT(forbidden); i++) deny(forbidden[i].call, forbidden[i].error);
  /* Its flags are behind a pointer; libraries fall back to clone, whose are not. */
  deny_quietly(435 /* clone3 */, ENOSYS);
  deny_quietly(437 /* openat2 */, ENOSYS);
  /* Takes gigabytes at once, before anybody can see it; libraries write instead. */
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
  deny_bits(CALL(fchmod), 1, SET_ID, EPERM);
  deny_bits(CALL(fchmodat), 2, SET_ID, EPERM);
  deny_bits(452 /* fchmodat2 */, 2, SET_ID, EPERM);
  deny_bits(CALL(mknodat), 2, SET_ID, EPERM);
  deny_set_id_open(CALL(openat), 2, 3);
#if defined(__x86_64__)
  deny_bits(CALL(chmod), 1, SET_ID, EPERM);
  deny_bits(CALL(mknod), 1, SET_ID, EPERM);
  deny_bits(CALL(creat), 1, SET_ID, EPERM);
  deny_set_id_open(CALL(open), 1, 2);
#endif
}

/* What would reach another search: a search starts nothing but threads, and has to do with no process but its own. */
static const int reaching_others[] = {
    CALL(kill), CALL(tkill), CALL(tgkill), CALL(rt_sigqueueinfo), CALL(rt_tgsigqueueinfo), CALL(ptrace),
    424 /* pidfd_send_signal */, 434 /* pidfd_open */, 448 /* process_mrelease */, CALL(setsid), CALL(setpgid),
    CALL(setpriority), CALL(ioprio_set), CALL(sched_setparam), CALL(sched_setscheduler), CALL(sched_setattr),
    CALL(sched_setaffinity), CALL(socket), CALL(socketpair), CALL(shmget), CALL(msgget), CALL(semget), CALL(mq_open),
#if defined(__x86_64__)
    CALL(fork), CALL(vfork),
#endif
};

/* Refuse when the argument, masked, is zero. */
static void deny_without_bits(int call, int argument, unsigned int mask, int error) {
  filter_rule(call, 4);
  load_argument(argument);
  filter_emit(BPF_JMP | BPF_JSET | BPF_K, mask, 1, 0);
  refuse_aloud(error);
  load_number();
}

/* Looks at no argument of what a search does all the time: the kernel then knows the answer by the number alone. */
static void build_for_search(void) {
  filter_begin();
  judge_arch();
  for (unsigned i = 0; i < COUNT(forbidden); i++) deny(forbidden[i].call, forbidden[i].error);
  for (unsigned i = 0; i < COUNT(reaching_others); i++) deny(reaching_others[i], EPERM);
  deny_quietly(435 /* clone3 */, ENOSYS);
  deny_quietly(425 /* io_uring_setup */, EPERM);
  deny_without_bits(CALL(clone), 0, CLONE_THREAD, EPERM);
  deny_bits(CALL(prlimit64), 0, ~0U, EPERM);
  /* News of a handle come as a signal, of any number and to whomever the handle is given. */
  deny_value(CALL(fcntl), 1, F_SETOWN, EPERM);
  deny_value(CALL(fcntl), 1, F_SETOWN_EX, EPERM);
}

static int load(int listening, void (*build_rules)(void)) {
  is_listening = listening;
  build_rules();
  struct sock_fprog filter;
  if (filter_finish(&filter) != 0) return -1;
  return (int)syscall(CALL(seccomp), SECCOMP_SET_MODE_FILTER, listening ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0, &filter);
}

int fence_load(int *listener) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  *listener = load(1, build);
  if (*listener >= 0) return 0;
  /* An old kernel, or a host that listens itself: what is refused stays refused, in silence. */
  return load(0, build);
}

int fence_load_for_search(void) {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? -1 : load(0, build_for_search);
}

static const struct refused *find_refused(int call) {
  for (unsigned i = 0; i < COUNT(forbidden); i++)
    if (forbidden[i].call == call) return &forbidden[i];
  for (unsigned i = 0; i < COUNT(conditional); i++)
    if (conditional[i].call == call) return &conditional[i];
  return NULL;
}

const char *fence_refuse(int listener) {
  /* Kernels grow these, and want what they know filled with zeros. */
  static union {
    struct seccomp_notif notification;
    struct seccomp_notif_resp response;
    char room[512];
  } asked, answered;
  memset(&asked, 0, sizeof asked);
  memset(&answered, 0, sizeof answered);
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) return NULL;
  const struct refused *refused = find_refused(asked.notification.data.nr);
  answered.response.id = asked.notification.id;
  answered.response.error = -(refused != NULL ? refused->error : EPERM);
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answered);
  return refused != NULL ? refused->name : "a system call";
}
