#define _GNU_SOURCE
#include "fence.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "croft-init knows x86-64 and arm64"
#endif

#define MAX_INSTRUCTIONS 512
#define NAMESPACES                                                                                                     \
  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | 0x80)
#define SET_ID (S_ISUID | S_ISGID)

static struct sock_filter program[MAX_INSTRUCTIONS];
static unsigned short length;

static void emit(unsigned short code, unsigned int k, unsigned char yes, unsigned char no) {
  if (length < MAX_INSTRUCTIONS) program[length++] = (struct sock_filter){code, yes, no, k};
}

static void load_word(unsigned int offset) { emit(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }

static void load_number(void) { load_word(offsetof(struct seccomp_data, nr)); }

/* The low half: every argument judged here is an int or narrower to the kernel. */
static void load_argument(int index) { load_word(offsetof(struct seccomp_data, args) + 8 * (unsigned)index); }

static void answer(unsigned int action) { emit(BPF_RET | BPF_K, action, 0, 0); }

static void refuse(int error) { answer(SECCOMP_RET_ERRNO | ((unsigned)error & SECCOMP_RET_DATA)); }

/* Each rule begins and ends with the call's number loaded. */
static void deny(int call, int error) {
  emit(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1);
  refuse(error);
}

/* Refuse when the argument, masked, is not zero. */
static void deny_bits(int call, int argument, unsigned int mask, int error) {
  emit(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 4);
  load_argument(argument);
  emit(BPF_JMP | BPF_JSET | BPF_K, mask, 0, 1);
  refuse(error);
  load_number();
}

static void deny_value(int call, int argument, unsigned int value, int error) {
  emit(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 4);
  load_argument(argument);
  emit(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
  refuse(error);
  load_number();
}

/* Refuse a file made with set-id bits; `flags` says whether this open makes one. */
static void deny_set_id_open(int call, int flags, int mode) {
  emit(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 6);
  load_argument(flags);
  emit(BPF_JMP | BPF_JSET | BPF_K, O_CREAT | (O_TMPFILE & ~O_DIRECTORY), 0, 3);
  load_argument(mode);
  emit(BPF_JMP | BPF_JSET | BPF_K, SET_ID, 0, 1);
  refuse(EPERM);
  load_number();
}

/* Families that stay inside the network namespace. vsock and others do not, or open kernel surface nobody needs. */
static void allow_only_common_sockets(int call) {
  static const unsigned int families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
  const unsigned char count = sizeof families / sizeof *families;
  emit(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, (unsigned char)(count + 3));
  load_argument(0);
  for (unsigned char i = 0; i < count; i++) emit(BPF_JMP | BPF_JEQ | BPF_K, families[i], (unsigned char)(count - i), 0);
  refuse(EAFNOSUPPORT);
  load_number();
}

#define CALL(name) __NR_##name

static const int forbidden[] = {
    /* the mount family and other ways to another view of the system */
    CALL(mount), CALL(umount2), CALL(pivot_root), CALL(chroot), CALL(setns), CALL(unshare),
    428 /* open_tree */, 429 /* move_mount */, 430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */,
    433 /* fspick */, 442 /* mount_setattr */, 457 /* statmount */, 458 /* listmount */,
    CALL(open_by_handle_at), CALL(name_to_handle_at), CALL(quotactl), 443 /* quotactl_fd */,
    /* other processes' memory and handles */
    CALL(process_vm_readv), CALL(process_vm_writev), 438 /* pidfd_getfd */, CALL(kcmp), 440 /* process_madvise */,
    CALL(move_pages), CALL(migrate_pages),
    /* kernel surface that has been a way out before */
    CALL(bpf), CALL(perf_event_open), CALL(userfaultfd), CALL(keyctl), CALL(add_key), CALL(request_key),
    425 /* io_uring_setup */, 426 /* io_uring_enter */, 427 /* io_uring_register */, CALL(fanotify_init),
    CALL(kexec_load), CALL(init_module), CALL(finit_module), CALL(delete_module), 447 /* memfd_secret */,
    CALL(syslog), CALL(acct), CALL(lookup_dcookie), CALL(nfsservctl),
    /* the machine itself */
    CALL(reboot), CALL(swapon), CALL(swapoff), CALL(settimeofday), CALL(clock_settime), CALL(clock_adjtime),
    CALL(adjtimex), CALL(sethostname), CALL(setdomainname), CALL(vhangup),
#if defined(__x86_64__)
    CALL(kexec_file_load), CALL(iopl), CALL(ioperm), CALL(uselib), CALL(modify_ldt), CALL(_sysctl), CALL(sysfs),
    CALL(ustat),
#endif
};

static void judge_arch(void) {
  load_word(offsetof(struct seccomp_data, arch));
  emit(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
  answer(SECCOMP_RET_KILL_PROCESS);
  load_number();
#if defined(__x86_64__)
  /* x32 shares the architecture and doubles every call. */
  emit(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
  answer(SECCOMP_RET_KILL_PROCESS);
#endif
}

static void build(void) {
  judge_arch();
  for (unsigned i = 0; i < sizeof forbidden / sizeof *forbidden; i++) deny(forbidden[i], EPERM);
  /* Its flags are behind a pointer; libraries fall back to clone, whose are not. */
  deny(435 /* clone3 */, ENOSYS);
  deny(437 /* openat2 */, ENOSYS);
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
  answer(SECCOMP_RET_ALLOW);
}

int fence_load(void) {
  build();
  if (length >= MAX_INSTRUCTIONS) return errno = E2BIG, -1;
  struct sock_fprog filter = {length, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return (int)syscall(CALL(seccomp), SECCOMP_SET_MODE_FILTER, 0, &filter);
}
