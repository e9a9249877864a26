#define _GNU_SOURCE
#include "box/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "box/make-box.h"
#include "box/spawner-jobs.h"
#include "init/server-socket.h"
#include "init/init-frames.h"

static int listener = -1;
static int ended = -1; /* signalfd of SIGCHLD */
static pid_t server;

static int is_from_server(int connection) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == server;
}

static int read_all(int handle, uint8_t *bytes, size_t length) {
  for (ssize_t got; length > 0; bytes += got, length -= (size_t)got)
    if ((got = read(handle, bytes, length)) <= 0) return -1;
  return 0;
}

/* The server sends its request with the connection. A connection that stops in between is dropped after 5 seconds. */
static void take_connection(void) {
  static uint8_t request[MAX_PAYLOAD];
  int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (connection < 0) return;
  const struct timeval patience = {5, 0}, none = {0, 0};
  struct frame frame;
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (is_from_server(connection) && read_all(connection, (uint8_t *)&frame, sizeof frame) == 0 && frame.type == FRAME_START) {
    const int is_whole = frame.size <= sizeof request && read_all(connection, request, frame.size) == 0;
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
    if (!is_whole || job_start(frame.id, (const char *)request, frame.size, connection) != 0) job_fail(frame.id, strerror(is_whole ? errno : EINVAL));
    /* A sandbox starts as a copy of this process and must not find requests of others in memory. */
    explicit_bzero(request, sizeof request < frame.size ? sizeof request : frame.size);
  }
  close(connection);
}

static void take_orders(void) {
  static uint8_t inbox[sizeof(struct frame) * 64];
  static size_t length;
  ssize_t got = read(SOCKET, inbox + length, sizeof inbox - length);
  if (got < 0 && errno == EINTR) return;
  if (got <= 0) leave(0);
  length += (size_t)got;
  size_t from = 0;
  for (struct frame frame; length - from >= sizeof frame; from += sizeof frame) {
    memcpy(&frame, inbox + from, sizeof frame);
    if (frame.size != 0) leave(2);
    if (frame.type == FRAME_KILL) job_kill(frame.id);
    if (frame.type == FRAME_CREDIT) job_let_run(frame.id);
  }
  memmove(inbox, inbox + from, length - from);
  length -= from;
}

static void take_children(void) {
  struct signalfd_siginfo info;
  while (read(ended, &info, sizeof info) > 0) continue;
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) job_ended(pid);
}

static void listen_at(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) die("the path of the socket is too long");
  strcpy(address.sun_path, path);
  listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const mode_t usual = umask(0077);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4096) != 0) die("listen");
  umask(usual);
}

static void watch_children(void) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  if (sigprocmask(SIG_BLOCK, &child, NULL) != 0) die("signals");
  ended = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  if (ended < 0) die("signalfd");
  signal(SIGPIPE, SIG_IGN);
}

void spawner_serve(char **arguments) {
  server = getppid();
  /* Other inherited descriptors are not for children. */
  syscall(SYS_close_range, SOCKET + 1, ~0U, 0);
  if (fcntl(SOCKET, F_SETFD, FD_CLOEXEC) != 0 || jobs_prepare(server) != 0) die("no socket");
  if (box_prepare(arguments) != 0) die("cannot find itself");
  watch_children();
  listen_at(arguments[2]);
  uint32_t version = WIRE_VERSION;
  send_frame(FRAME_READY, 0, 0, &version, sizeof version);
  for (;;) {
    /* Reports of children are read before their ends are handled. */
    struct pollfd *polled = jobs_poll((struct pollfd[]){{SOCKET, POLLIN, 0}, {listener, POLLIN, 0}, {ended, POLLIN, 0}}, 3);
    if (polled[1].revents != 0) take_connection();
    if (polled[2].revents != 0) take_children();
    if (polled[0].revents != 0) take_orders();
  }
}
