#define _GNU_SOURCE
#include "box/make-box.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "box/box-mounts.h"
#include "box/bwrap-arguments.h"
#include "init/init.h"
#include "relay/deny-dns.h"
#include "relay/deny-nscd.h"

#define ALL_NEW (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)
#define NEEDED ((1U << CAP_SYS_ADMIN) | (1U << CAP_SETPCAP) | (1U << CAP_SYS_PTRACE) | (1U << CAP_SYS_RESOURCE))

static char **own_arguments;
static struct stat own_file;
static uid_t owner;
static gid_t group;
static int has_gate;

int box_prepare(char **arguments) {
  own_arguments = arguments;
  return stat("/proc/self/exe", &own_file);
}

void box_plan(uid_t of, gid_t and, int gate) {
  owner = of;
  group = and;
  has_gate = gate;
}

pid_t box_clone(char *const *words) {
  const unsigned long flags = ALL_NEW | (word_find(words, WORD_SHARE_NET) == NULL ? CLONE_NEWNET : 0);
  return (pid_t)syscall(SYS_clone, flags | CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
}

_Noreturn static void fail(const char *what) {
  fprintf(stderr, "croft-box: %s: %s\n", what, strerror(errno));
  _exit(1);
}

static int put(int proc, const char *file, const char *text) {
  char path[64];
  snprintf(path, sizeof path, "self/%s", file);
  int handle = openat(proc, path, O_WRONLY | O_CLOEXEC);
  if (handle < 0) return -1;
  ssize_t length = write(handle, text, strlen(text));
  close(handle);
  return length == (ssize_t)strlen(text) ? 0 : -1;
}

static int map_ids(int proc, const char *inside, const char *group_inside, uid_t outside, gid_t group_outside) {
  char users[64], groups[64];
  snprintf(users, sizeof users, "%s %u 1\n", inside, outside);
  snprintf(groups, sizeof groups, "%s %u 1\n", group_inside, group_outside);
  return put(proc, "uid_map", users) != 0 || put(proc, "gid_map", groups) != 0 ? -1 : 0;
}

/* Sets the loopback interface up. The kernel adds its addresses. */
static int raise_loopback(void) {
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK};
  int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (handle < 0) return -1;
  int result = ioctl(handle, SIOCSIFFLAGS, &request);
  close(handle);
  return result;
}

/* Enters a second user namespace below the one that owns the mounts. Terminals need a root user to belong to, but
   programs must not be that root, and must not be able to change mounts. */
static int become_user(int proc, char *const *words) {
  if (unshare(CLONE_NEWUSER) != 0) return -1;
  return map_ids(proc, *word_find(words, WORD_UID), *word_find(words, WORD_GID), 0, 0);
}

static int keep_needed_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2] = {{NEEDED, NEEDED, NEEDED}, {0, 0, 0}};
  return (int)syscall(SYS_capset, &header, data);
}

/* Clears the arguments of the spawner, which name paths of the host. */
static void forget_arguments(const char *name) {
  char *first = own_arguments[0], *last = first;
  for (char **argument = own_arguments; *argument != NULL; argument++) last = *argument + strlen(*argument);
  memset(first, 0, (size_t)(last - first));
  snprintf(first, (size_t)(last - first) + 1, "%s", name);
  prctl(PR_SET_NAME, "init", 0, 0, 0);
}

/* Reports the process id to the spawner. The write fails if the spawner ended before PR_SET_PDEATHSIG was set. */
static void tell(const char *number) {
  char text[64];
  int length = snprintf(text, sizeof text, "{\"child-pid\": %s}", number);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || write(TOLD, text, (size_t)length) != length) fail("nobody listens");
}

static void wait_at_gate(void) {
  char byte;
  if (has_gate && read(GATE, &byte, 1) != 1) fail("not let in");
}

/* Starts the init as bubblewrap would. */
_Noreturn static void start_init(char **arguments) {
  for (int capability = 0; capability <= 63; capability++) {
    const int is_needed = capability < 32 && NEEDED >> capability & 1;
    if (is_needed) prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0);
    else prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  execve(arguments[0], arguments, (char *[]){NULL});
  fail("cannot start the init");
}

/* Continues as the init in this process, unless the init is another program than this one. */
_Noreturn static void become_init(char **arguments) {
  struct stat status;
  int count = 0;
  while (arguments[count] != NULL) count++;
  if (stat(arguments[0], &status) != 0) fail("no init");
  if (status.st_dev == own_file.st_dev && status.st_ino == own_file.st_ino) init_serve(count, arguments);
  start_init(arguments);
}

static void make_namespaces_ours(int proc, char *const *words) {
  const char *name = *word_find(words, WORD_HOST_NAME);
  /* A process that changed its uid may not write its own files in /proc unless it is dumpable. */
  if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0 || setsid() < 0) fail("process");
  if (put(proc, "setgroups", "deny") != 0 || map_ids(proc, "0", "0", owner, group) != 0) fail("ids");
  if (sethostname(name, strlen(name)) != 0) fail("host name");
  if (word_find(words, WORD_SHARE_NET) == NULL && raise_loopback() != 0) fail("loopback");
}

/* Reads the PROXY argument of the init. */
static int has_no_network(char *const *arguments) {
  for (int i = 0; i < 4; i++)
    if (arguments[i] == NULL) return 0;
  return strcmp(arguments[3], NO_NETWORK) == 0;
}

void box_run(char **words) {
  char number[32] = "";
  char **arguments = words_after(words);
  int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0 || readlinkat(proc, "self", number, sizeof number - 1) <= 0) fail("/proc");
  make_namespaces_ours(proc, words);
  if (has_no_network(arguments)) dns_open();
  const mode_t usual = umask(0);
  if (mounts_begin() != 0 || mounts_make(words) != 0 || mounts_finish() != 0) fail("mounts");
  if (become_user(proc, words) != 0) fail("user");
  if (keep_needed_capabilities() != 0) fail("capabilities");
  umask(usual);
  if (chdir(*word_find(words, WORD_CHDIR)) != 0) fail("directory");
  forget_arguments(arguments[0]);
  tell(number);
  wait_at_gate();
  /* Resets SIGPIPE, as exec would have. */
  signal(SIGPIPE, SIG_DFL);
  become_init(arguments);
}
