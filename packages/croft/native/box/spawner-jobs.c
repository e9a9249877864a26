#define _GNU_SOURCE
#include "box/spawner-jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "box/make-box.h"
#include "init/server-socket.h"
#include "init/init-frames.h"

#define MAX_ARGUMENTS 4096
#define MAX_GROUPS 8
#define MAX_WORDS 4096
#define FIRST_OWN 32 /* lower descriptors are for children */

struct job {
  uint32_t id;
  pid_t pid;
  int info;  /* pipe on which bubblewrap reports the sandbox */
  int gate;  /* pipe on which it waits */
  int words; /* its error output */
};

/* The start of a child. `handles` become its descriptors from 0 on. */
struct making {
  int handles[7 + MAX_GROUPS], count;
  uid_t owner;
  gid_t group;
  int has_owner, is_box;
  char *arguments[MAX_ARGUMENTS + 1];
};

static struct job *jobs;
static int job_count, job_capacity;
static struct pollfd *polled;
static pid_t server;
static int nothing = -1;

int jobs_prepare(pid_t of) {
  server = of;
  /* Our own descriptors are above those of children, so that none is overwritten before it is passed on. */
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  nothing = fcntl(null, F_DUPFD_CLOEXEC, FIRST_OWN);
  for (int handle = 0; handle < FIRST_OWN; handle++)
    if (fcntl(handle, F_GETFD) < 0 && dup3(null, handle, O_CLOEXEC) < 0) return -1;
  return nothing < 0 ? -1 : 0;
}

static int make_room(void) {
  if (job_count < job_capacity) return 0;
  const int capacity = job_capacity == 0 ? 64 : job_capacity * 2;
  struct job *more = realloc(jobs, (size_t)capacity * sizeof *jobs);
  if (more != NULL) jobs = more;
  struct pollfd *more_polled = realloc(polled, (size_t)(capacity + 8) * sizeof *polled);
  if (more_polled != NULL) polled = more_polled;
  if (more == NULL || more_polled == NULL) return -1;
  job_capacity = capacity;
  return 0;
}

static struct job *find_job(uint32_t id) {
  for (int i = 0; i < job_count; i++)
    if (jobs[i].id == id) return &jobs[i];
  return NULL;
}

static void close_handle_of(int *handle) {
  if (*handle >= 0) close(*handle);
  *handle = -1;
}

/* --- reports of children --- */

static void pass_on(struct job *job) {
  char text[1024];
  ssize_t got = read(job->info, text, sizeof text);
  if (got > 0) return send_frame(FRAME_OUTPUT, job->id, 0, text, (uint32_t)got);
  if (got == 0 || (errno != EINTR && errno != EAGAIN)) close_handle_of(&job->info);
}

struct pollfd *jobs_poll(const struct pollfd *first, int count) {
  if (make_room() != 0) die("memory");
  memcpy(polled, first, (size_t)count * sizeof *first);
  for (int i = 0; i < job_count; i++) polled[count + i] = (struct pollfd){jobs[i].info, POLLIN, 0};
  if (poll(polled, (nfds_t)(count + job_count), -1) < 0 && errno != EINTR) die("poll");
  for (int i = 0; i < job_count; i++)
    if (polled[count + i].fd >= 0 && polled[count + i].revents != 0) pass_on(&jobs[i]);
  return polled;
}

void job_fail(uint32_t id, const char *why) {
  char words[256];
  int length = snprintf(words, sizeof words, "bubblewrap cannot be started: %s", why);
  send_frame(FRAME_EXIT, id, 0, words, (uint32_t)length);
}

void job_ended(pid_t pid) {
  for (int i = 0; i < job_count; i++) {
    if (jobs[i].pid != pid) continue;
    char words[MAX_WORDS];
    ssize_t length = pread(jobs[i].words, words, sizeof words, 0);
    if (jobs[i].info >= 0) pass_on(&jobs[i]);
    send_frame(FRAME_EXIT, jobs[i].id, 0, words, length > 0 ? (uint32_t)length : 0);
    close_handle_of(&jobs[i].info);
    close_handle_of(&jobs[i].gate);
    close_handle_of(&jobs[i].words);
    jobs[i] = jobs[--job_count];
    return;
  }
}

void job_let_run(uint32_t id) {
  struct job *job = find_job(id);
  if (job == NULL || job->gate < 0) return;
  (void)!write(job->gate, ".", 1);
  close_handle_of(&job->gate);
}

void job_kill(uint32_t id) {
  struct job *job = find_job(id);
  /* A child that has just started has no process group yet. */
  if (job != NULL) kill(-job->pid, SIGKILL), kill(job->pid, SIGKILL);
  /* Answers for an unknown job too, so that the server does not wait forever. */
  else send_frame(FRAME_EXIT, id, 0, NULL, 0);
}

/* --- starting children --- */

static const char *take(const char **at, const char *end) {
  const char *text = *at;
  const char *stop = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;
  if (stop == NULL) return NULL;
  *at = stop + 1;
  return text;
}

static int copy_of(int handle) { return fcntl(handle, F_DUPFD_CLOEXEC, FIRST_OWN); }

static int add_handle(struct making *making, int handle) {
  if (handle < 0) return -1;
  making->handles[making->count++] = handle;
  return 0;
}

static int add_groups(struct making *making, const char **at, const char *end) {
  const char *text = take(at, end);
  const int count = text == NULL ? -1 : atoi(text);
  if (count < 0 || count > MAX_GROUPS) return errno = EINVAL, -1;
  for (int i = 0; i < count; i++) {
    const char *file = take(at, end);
    if (file == NULL) return errno = EINVAL, -1;
    if (add_handle(making, open(file, O_WRONLY | O_CLOEXEC)) != 0) return -1;
  }
  return 0;
}

static int add_arguments(struct making *making, const char **at, const char *end) {
  int count = 0;
  for (const char *text; (text = take(at, end)) != NULL; making->arguments[count++] = (char *)text)
    if (count == MAX_ARGUMENTS) return errno = E2BIG, -1;
  making->arguments[count] = NULL;
  if (count == 0 || *at != end) return errno = EINVAL, -1;
  making->is_box = strcmp(making->arguments[0], BOX) == 0;
  return making->is_box && !box_takes(making->arguments + 1) ? (errno = EOPNOTSUPP, -1) : 0;
}

/* Opens the directory that the server has open. The descriptors of a server with capabilities may not be read; then
   its path is used. */
static int open_workspace(const char *number, const char *workspace_path, const char *identity) {
  char path[64], found[64];
  struct stat status;
  snprintf(path, sizeof path, "/proc/%d/fd/%d", server, atoi(number));
  int handle = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) handle = open(workspace_path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (handle < 0 || fstat(handle, &status) != 0) return -1;
  snprintf(found, sizeof found, "%llu:%llu", (unsigned long long)status.st_dev, (unsigned long long)status.st_ino);
  if (strcmp(found, identity) == 0) return handle;
  close(handle);
  return errno = ESTALE, -1;
}

/* Collects the descriptors of the child: standard streams, connection, report pipe, gate, workspace, control groups. */
static int make(struct making *making, struct job *job, const char *at, const char *end, int connection) {
  const char *owner = take(&at, end), *group = take(&at, end), *gate = take(&at, end);
  const char *number = take(&at, end), *workspace_path = take(&at, end), *identity = take(&at, end);
  int info[2], gates[2] = {-1, -1};
  if (identity == NULL) return errno = EINVAL, -1;
  making->has_owner = owner[0] != 0;
  making->owner = (uid_t)strtoul(owner, NULL, 10);
  making->group = (gid_t)strtoul(group, NULL, 10);
  job->words = memfd_create("words", MFD_CLOEXEC);
  if (job->words < 0 || pipe2(info, O_CLOEXEC) != 0) return -1;
  job->info = info[0];
  if (gate[0] != 0 && pipe2(gates, O_CLOEXEC) != 0) return close(info[1]), -1;
  job->gate = gates[1];
  fcntl(job->info, F_SETFL, O_NONBLOCK);
  const int waits = gate[0] != 0 ? gates[0] : copy_of(nothing);
  const int first[] = {copy_of(nothing), copy_of(nothing), copy_of(job->words), copy_of(connection), info[1], waits, open_workspace(number, workspace_path, identity)};
  int result = 0;
  for (unsigned i = 0; i < sizeof first / sizeof *first; i++) result |= add_handle(making, first[i]);
  box_plan(making->has_owner ? making->owner : getuid(), making->has_owner ? making->group : getgid(), gate[0] != 0);
  return result != 0 || add_groups(making, &at, end) != 0 ? -1 : add_arguments(making, &at, end);
}

static int become_owner(const struct making *making) {
  if (!making->has_owner) return 0;
  if (setgroups(0, NULL) != 0 || syscall(SYS_setgid, making->group) != 0) return -1;
  return (int)syscall(SYS_setuid, making->owner);
}

/* Makes the sandbox here. Its parent is the spawner, because the process that makes it exits at once. */
static pid_t become_box(struct making *making) {
  /* There is no exec that would close descriptors, so they are closed here. */
  if (syscall(SYS_close_range, making->count, ~0U, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  pid_t first = box_clone(making->arguments + 1);
  if (first == 0) box_run(making->arguments + 1);
  return first;
}

/* Runs in the child between vfork and exec. The child shares our memory, so it returns results through `error` and
   `box`. */
static void become(struct making *making, volatile pid_t *box, volatile int *error) {
  sigset_t none;
  char *const empty[] = {NULL};
  sigemptyset(&none);
  setsid();
  int result = chdir("/");
  for (int i = 0; result >= 0 && i < making->count; i++) result = dup2(making->handles[i], i);
  if (result >= 0) result = become_owner(making);
  if (result >= 0 && making->is_box) {
    *box = become_box(making);
    if (*box > 0) _exit(0);
  } else if (result >= 0) {
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(making->arguments[0], making->arguments, empty);
  }
  *error = errno;
  _exit(127);
}

static int launch(struct making *making, struct job *job) {
  volatile int error = 0;
  volatile pid_t box = -1;
  job->pid = vfork();
  if (job->pid == 0) become(making, &box, &error);
  if (job->pid < 0) return -1;
  if (error == 0 && making->is_box) job->pid = box;
  return error == 0 ? 0 : (errno = error, -1);
}

int job_start(uint32_t id, const char *request, size_t length, int connection) {
  static struct making making;
  if (make_room() != 0) return -1;
  struct job job = {.id = id, .pid = -1, .info = -1, .gate = -1, .words = -1};
  making.count = 0;
  int result = make(&making, &job, request, request + length, connection);
  if (result == 0) result = launch(&making, &job);
  int error = errno;
  for (int i = 0; i < making.count; i++) close(making.handles[i]);
  if (result == 0) return jobs[job_count++] = job, 0;
  close_handle_of(&job.info);
  close_handle_of(&job.gate);
  close_handle_of(&job.words);
  errno = error;
  return -1;
}
