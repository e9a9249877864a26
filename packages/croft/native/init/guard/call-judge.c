#define _GNU_SOURCE
#include "init/guard/call-judge.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init/commands/command-table.h"
#include "init/guard/hold-by-mount.h"
#include "init/guard/hold-control-files.h"
#include "init/guard/hold-repositories.h"
#include "init/guard/judged-calls.h"
#include "init/guard/private-copies-of-directories.h"
#include "init/guard/private-copies-of-files.h"
#include "init/guard/set-aside-files.h"
#include "init/guard/stop-programs.h"
#include "init/guard/waiting-opens.h"
#include "init/seccomp-policy.h"
#include "init/server-socket.h"

#define STACK (512 * 1024) /* several paths are on the stack at once */
#define LOOK_EVERY_MS 50
#define TRY_EVERY_MS 5
#define KEEP_WATCHES_MS 200 /* closing them takes milliseconds, for which the next command would wait */
#define NEEDED ((1U << CAP_SYS_ADMIN) | (1U << CAP_SYS_PTRACE))

#define NOTIF_SET_FLAGS _IOW('!', 4, uint64_t)
#define FD_SYNC_WAKE_UP 1UL

#ifndef SECCOMP_USER_NOTIF_FLAG_CONTINUE
#define SECCOMP_USER_NOTIF_FLAG_CONTINUE 1U
#endif

const char *judged_workspace;
const char *const *judged_writable;

enum order { LISTEN = 'l', CHECK = 'c', ENDED = 'e', IDLE = 'i' };

static int requests[2], listener = -1, notices = -1, is_active, is_started;
static sem_t answered;

/* --- reports --- */

#define MAX_TOLD 64

/* What was reported since the last command began: a program that tries forever is reported once. */
static uint64_t told[MAX_TOLD];
static int told_count;

static uint64_t digest(const char *text, size_t length) {
  uint64_t sum = 0xcbf29ce484222325ULL;
  for (size_t i = 0; i < length; i++) sum = (sum ^ (unsigned char)text[i]) * 0x100000001b3ULL;
  return sum;
}

static int is_news(const char *text, size_t length) {
  const uint64_t sum = digest(text, length);
  for (int i = 0; i < told_count; i++)
    if (told[i] == sum) return 0;
  if (told_count == MAX_TOLD) return 0;
  told[told_count++] = sum;
  return 1;
}

void judge_tell(const char *text, size_t length) {
  if (is_news(text, length)) send_frame(FRAME_HELD, 0, 0, text, (uint32_t)length);
}

static void tell_refused(const char *name) {
  if (is_news(name, strlen(name))) send_frame(FRAME_REFUSED, 0, 0, name, (uint32_t)strlen(name));
}

/* --- answers --- */

static void answer_with(uint64_t id, int64_t value, int error, unsigned flags) {
  /* Newer kernels have larger structs and want the rest to be zero. */
  union {
    struct seccomp_notif_resp response;
    char room[128];
  } answered_call = {.room = {0}};
  answered_call.response.id = id;
  answered_call.response.val = value;
  answered_call.response.error = -error;
  answered_call.response.flags = flags;
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answered_call);
}

static void answer(uint64_t id, int error, unsigned flags) { answer_with(id, 0, error, flags); }

/* This thread closes the file before the program goes on: a program that is open for writing could not be started. */
static void hand_over(uint64_t id, const struct opened *opened) {
  struct seccomp_notif_addfd file = {.id = id, .srcfd = (uint32_t)opened->handle, .newfd_flags = (uint32_t)(opened->flags & O_CLOEXEC)};
  const int handle = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &file);
  const int error = handle < 0 ? errno : 0;
  close(opened->handle);
  answer_with(id, handle < 0 ? 0 : handle, error == EINVAL ? EPERM : error, 0);
}

static void end_sandbox(void) {
  tell_held("reopened", "", "");
  leave(0);
}

static int is_waiting(uint64_t id) { return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0; }

/* Tries the opens again that wait for the other end of a FIFO. */
static void serve_waiting(void) {
  uint64_t id;
  struct opened opened;
  for (int i = waiting_count(); i-- > 0;) {
    const int error = waiting_try(i, &id, &opened);
    if (error == WAITS && is_waiting(id)) continue;
    waiting_end(i);
    if (error == 0) hand_over(id, &opened);
    else if (error != WAITS) answer(id, error, 0);
  }
}

static void judge_one(void) {
  static union {
    struct seccomp_notif call;
    char room[512];
  } asked;
  memset(&asked, 0, sizeof asked);
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) return;
  int error = 0;
  const char *refused = seccomp_refusal(&asked.call.data, &error);
  if (refused != NULL) {
    answer(asked.call.id, error, 0);
    return tell_refused(refused);
  }
  /* A call of our own: no program in the sandbox can be process 1. */
  if ((pid_t)asked.call.pid == getpid()) return answer(asked.call.id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
  struct opened opened = {-1, 0};
  judged_thread = (pid_t)asked.call.pid;
  error = judged_do(&asked.call, &opened);
  judged_thread = 0;
  if (repositories_settle() != 0) end_sandbox();
  if (error == WAITS) error = waiting_add(asked.call.id, &opened);
  if (error == WAITS) return;
  if (opened.handle >= 0 && error == 0) hand_over(asked.call.id, &opened);
  else if (error == GO_ON) answer(asked.call.id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
  else answer(asked.call.id, error, 0);
}

/* --- changes from outside --- */

/* While no program runs in the sandbox (`is_active` is 0), only somebody outside can have changed anything. */
static void check(void) {
  if (check_guarded_files() != 0 || repositories_check(is_active) != 0) end_sandbox();
}

static char notice_bytes[16 * 1024] __attribute__((aligned(__alignof__(struct inotify_event))));

static void start_watching(void) {
  is_active = 1;
  if (notices < 0) notices = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  repositories_watch(notices);
  files_at_top_watch(notices);
}

void judge_hear(void) {
  for (ssize_t length; notices >= 0 && (length = read(notices, notice_bytes, sizeof notice_bytes)) > 0;)
    for (ssize_t at = 0; at < length;) {
      const struct inotify_event *event = (const struct inotify_event *)(notice_bytes + at);
      at += (ssize_t)(sizeof *event + event->len);
      if (event->mask & IN_Q_OVERFLOW) repositories_missed();
      if (event->len == 0) continue;
      repositories_noticed(event->wd, event->name, event->mask);
      files_at_top_noticed(event->wd, event->name);
    }
}

static void read_notices(void) {
  judge_hear();
  check();
}

/* Drops the events of changes that somebody outside made while no program ran. */
static void drop_notices(void) {
  while (notices >= 0 && read(notices, notice_bytes, sizeof notice_bytes) > 0) continue;
}

static void stop_watching(void) {
  if (notices >= 0) close(notices);
  notices = -1;
  repositories_watch(-1);
}

static void obey(void) {
  char request;
  if (read(requests[0], &request, 1) != 1) return;
  if (request == CHECK) {
    told_count = 0;
    if (!is_active) drop_notices();
    check();
    start_watching();
  }
  if (request == ENDED) {
    read_notices();
    files_at_top_set_aside();
    private_tell();
    private_files_tell();
  }
  if (request == IDLE) {
    read_notices();
    is_active = 0;
  }
  if (request == CHECK || request == ENDED) sem_post(&answered);
}

/* --- the thread --- */

static void keep_needed_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2] = {{NEEDED, NEEDED, 0}, {0, 0, 0}};
  if (syscall(SYS_capset, &header, data) != 0) die("cannot keep what judging needs");
}

static void *serve(void *nothing) {
  /* This thread gets its own working directory and umask, which programs do not inherit. */
  if (unshare(CLONE_FS) != 0) die("unshare");
  umask(0);
  keep_needed_capabilities();
  for (;;) {
    struct pollfd polled[] = {{requests[0], POLLIN, 0}, {listener, POLLIN, 0}, {is_active ? notices : -1, POLLIN, 0}};
    const int count = poll(polled, 3, waiting_count() > 0 ? TRY_EVERY_MS : is_active ? LOOK_EVERY_MS : notices >= 0 ? KEEP_WATCHES_MS : -1);
    if (count < 0 && errno != EINTR) die("poll");
    if (count == 0 && is_active) check();
    if (count == 0 && !is_active) stop_watching();
    if (count > 0 && polled[2].revents != 0) read_notices();
    if (count > 0 && polled[1].revents & POLLIN) judge_one();
    if (count > 0 && polled[0].revents != 0) obey();
    serve_waiting();
  }
  return nothing;
}

int judge_start(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  if (pipe2(requests, O_CLOEXEC) != 0 || sem_init(&answered, 0, 0) != 0) return -1;
  if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, STACK) != 0) return -1;
  is_started = pthread_create(&thread, &attributes, serve, NULL) == 0;
  return is_started ? 0 : -1;
}

static void ask(char request) {
  if (!is_started) return;
  while (write(requests[1], &request, 1) < 0 && errno == EINTR) continue;
  if (request == CHECK || request == ENDED)
    while (sem_wait(&answered) != 0) continue;
}

/* Lets the kernel run the program and this thread on one processor, because they take turns. Older kernels lack the
   flag. */
static void take_turns(void) { ioctl(listener, NOTIF_SET_FLAGS, FD_SYNC_WAKE_UP); }

void judge_listen(int from) {
  listener = from;
  take_turns();
  ask(LISTEN);
}

void judge_check(void) { ask(CHECK); }

void judge_tell_held(void) { ask(ENDED); }

void judge_rest(void) { ask(IDLE); }
