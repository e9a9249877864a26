/* The first process of a sandbox. Over one socket it starts programs, carries their bytes, and ends and reaps them.
   When the socket closes it exits, and the kernel ends everything with it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "box/spawner.h"
#include "follow/follow.h"
#include "init/commands/command-table.h"
#include "init/container-pid1.h"
#include "init/control-files/control-names.h"
#include "init/enter-container.h"
#include "init/guard/call-judge.h"
#include "init/guard/hold-control-files.h"
#include "init/init.h"
#include "init/inotify-share.h"
#include "init/landlock.h"
#include "init/seccomp-policy.h"
#include "init/server-socket.h"
#include "relay/deny-dns.h"
#include "relay/relay.h"
#include "search/search.h"

#define FIRST_GROUP 7 /* after the socket and the descriptors of bubblewrap */

static uint8_t inbox[sizeof(struct frame) + MAX_PAYLOAD];
static size_t inbox_length;
static int children = -1; /* signalfd of SIGCHLD */
static int refusals = -1; /* seccomp listener: system calls to refuse or judge */
static int proxy = -1;    /* listener of the relay, or of the name services */

/* --- requests of the server --- */

static void obey(const struct frame *frame, const uint8_t *payload) {
  if (frame->type == FRAME_START) {
    judge_check();
    return start(frame->id, payload, frame->size);
  }
  struct command *command = find_command(frame->id);
  /* The command ended while this frame was on its way. */
  if (command == NULL) return;

  uint32_t number = 0;
  uint16_t window[2] = {0, 0};
  switch (frame->type) {
    case FRAME_INPUT:
      return take_input(command, payload, frame->size);
    case FRAME_END_INPUT:
      command->input_ends = 1;
      return feed_input(command);
    case FRAME_SIGNAL:
      if (command->program > 0 && !command->has_ended) kill(-command->program, frame->detail);
      else if (command->program == 0 && frame->detail < 64) command->early |= 1ULL << frame->detail;
      return;
    case FRAME_RESIZE:
      if (frame->size != sizeof window || !command->is_terminal || command->output[0] < 0) return;
      memcpy(window, payload, sizeof window);
      ioctl(command->output[0], TIOCSWINSZ, &(struct winsize){.ws_row = window[0], .ws_col = window[1]});
      return;
    case FRAME_CREDIT:
      if (frame->size != sizeof number || frame->detail < 1 || frame->detail > 2) return;
      memcpy(&number, payload, sizeof number);
      if (number <= UINT32_MAX - command->credit[frame->detail - 1]) command->credit[frame->detail - 1] += number;
      return report_end(command);
    case FRAME_KILL:
      return end_all_of(command);
  }
}

static void receive(void) {
  ssize_t length = read(SOCKET, inbox + inbox_length, sizeof inbox - inbox_length);
  if (length < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (length <= 0) leave(0);
  inbox_length += (size_t)length;

  size_t from = 0;
  for (;;) {
    long whole = wire_measure(inbox + from, inbox_length - from);
    if (whole < 0) leave(2);
    if (whole == 0) break;
    struct frame frame;
    memcpy(&frame, inbox + from, sizeof frame);
    obey(&frame, inbox + from + sizeof frame);
    from += (size_t)whole;
  }
  memmove(inbox, inbox + from, inbox_length - from);
  inbox_length -= from;
}

/* --- the loop --- */

static void add(struct pollfd *polled, int *count, int handle, short events) {
  if (handle >= 0 && events != 0) polled[(*count)++] = (struct pollfd){handle, events, 0};
}

static int gather(struct pollfd *polled) {
  int count = 0;
  add(polled, &count, SOCKET, POLLIN);
  add(polled, &count, children, POLLIN);
  add(polled, &count, relay_is_running() ? -1 : proxy, POLLIN);
  for (struct command *command = commands; command < commands + MAX_COMMANDS; command++) {
    if (!command->used) continue;
    add(polled, &count, command->notes, POLLIN);
    for (int stream = 0; stream < 2; stream++)
      add(polled, &count, command->output[stream], command->is_reported || command->credit[stream] > 0 ? POLLIN : 0);
    add(polled, &count, command->input, command->pending_from < command->pending_to || command->input_ends ? POLLOUT : 0);
  }
  return count;
}

/* Output is carried before the note of the end that followed it. */
static void serve_command(struct command *command, int handle) {
  for (int stream = 0; stream < 2; stream++)
    if (command->output[stream] == handle) carry_output(command, stream);
  if (command->input == handle) feed_input(command);
  if (command->notes == handle) read_notes(command);
  if (command->used) release(command);
}

static void take_children(void) {
  struct signalfd_siginfo info;
  while (read(children, &info, sizeof info) > 0) continue;
  reap();
}

static void serve_handle(int handle) {
  if (handle == SOCKET) return receive();
  if (handle == children) return take_children();
  if (handle == proxy) return relay_start(proxy);
  for (struct command *command = commands; command < commands + MAX_COMMANDS; command++)
    if (command->used) serve_command(command, handle);
}

/* Commands are served first, so that no other event overtakes their output. */
static void serve(void) {
  static struct pollfd polled[4 + MAX_COMMANDS * 4];
  int count = gather(polled);
  if (poll(polled, (nfds_t)count, -1) < 0 && errno != EINTR) die("poll");
  for (int i = count - 1; i >= 0; i--)
    if (polled[i].revents != 0) serve_handle(polled[i].fd);
}

/* Enters the control groups itself: that is immediate, while moving another process takes the kernel milliseconds. */
static int enter_groups(int count) {
  for (int handle = FIRST_GROUP; handle < FIRST_GROUP + count; handle++)
    if (write(handle, "0", 1) != 1) return -1;
  return 0;
}

/* No program in the sandbox may inspect this process, which holds the socket. */
static void hide(void) {
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) die("dumpable");
}

/* Each repository takes several descriptors. Programs get limits of their own. */
static void allow_many_handles(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/* Sets up every guard before the first program runs. */
static void raise_fence(const char *workspace) {
  static const char *writable[] = {"/tmp", "/home/croft", "/dev", NULL, NULL};
  writable[3] = workspace;
  judged_workspace = workspace;
  judged_writable = writable;
  allow_many_handles();
  if (inotify_share_limit("/run/croft/user") != 0) die("cannot limit inotify");
  if (guard_control_files(workspace) != 0) die("cannot hold the control files");
  if (judge_start() != 0) die("cannot judge calls");
  if (drop_privileges() != 0) die("cannot drop privileges");
  hide();
  if (landlock_restrict(writable) != 0) die("landlock");
  if (seccomp_load(&refusals) != 0) die("seccomp");
  if (refusals >= 0) judge_listen(refusals);
}

/* Sets up a container, which has no bubblewrap around it. Returns how many arguments that took. */
static int enter_container(int argc, char **argv) {
  if (argc < 6 || strcmp(argv[1], "--container") != 0) return 0;
  if (container_dial(argv[2]) != 0) die("cannot reach the server");
  if (container_enter(argv[4], argv[3]) != 0) die("cannot enter the container");
  return 3;
}

/* Closes all descriptors but the socket and `kept`, if there is one. */
static void close_others(int kept) {
  if (kept > SOCKET + 1) syscall(SYS_close_range, SOCKET + 1, kept - 1, 0);
  syscall(SYS_close_range, kept > SOCKET ? kept + 1 : SOCKET + 1, ~0U, 0);
}

void init_serve(int argc, char **argv) {
  if (fcntl(SOCKET, F_SETFD, FD_CLOEXEC) != 0 || fcntl(SOCKET, F_SETFL, O_NONBLOCK) != 0) die("no socket");
  if (argc > 2 && enter_groups(atoi(argv[2])) != 0) die("cannot enter the control groups");
  /* Other inherited descriptors belong to processes outside; a link to one of them in /proc would lead out. */
  close_others(dns_handle());
  sigset_t ours;
  sigfillset(&ours);
  if (sigprocmask(SIG_BLOCK, &ours, NULL) != 0) die("signals");
  sigemptyset(&ours);
  sigaddset(&ours, SIGCHLD);
  children = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
  if (children < 0) die("signalfd");
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (argc > 3 && strcmp(argv[3], "-") != 0 && (proxy = relay_prepare(argv[3])) < 0) die("proxy");
  if (argc > 4) allow_control(argv[4]);
  if (argc > 1 && strcmp(argv[1], "--search-box") == 0) hide();
  else if (argc > 1) raise_fence(argv[1]);

  uint32_t version = WIRE_VERSION;
  send_frame(FRAME_READY, 0, 0, &version, sizeof version);
  for (;;) serve();
}

/* croft-init WORKSPACE GROUPS [PROXY|- [ALLOWED]] is the init of a sandbox. The server is on descriptor 3, and files
   of GROUPS control groups follow from FIRST_GROUP on. PROXY is the socket of the proxy; without it there is no way
   to one. ALLOWED names control files that programs may change, separated by commas. Without WORKSPACE there are no
   guards, for `--sandbox none`.

   croft-init --search-box has no guards either: each search sets up its own, by croft-init --search PROGRAM ... or
   croft-init --search-with-times SUFFIX PROGRAM ...

   croft-init --container SOCKET IDENTITY WORKSPACE GROUPS [PROXY] has no descriptor 3 yet and connects to SOCKET:
   see enter-container.h.

   Modes that are no init: --spawn SOCKET (spawner.h), --follow PATHS WATCHES (follow.h), --first PROGRAM ...
   (container-pid1.h). */
int main(int argc, char **argv) {
  /* Programs must start with no signal ignored, even if our parent ignored some. */
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  if (argc == 3 && strcmp(argv[1], "--spawn") == 0) spawner_serve(argv);
  if (argc == 4 && strcmp(argv[1], "--follow") == 0) follow_serve(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
  if (argc > 2 && strcmp(argv[1], "--first") == 0) return first(argv + 2);
  if (argc > 2 && strcmp(argv[1], "--search") == 0) return search(argv + 2);
  if (argc > 3 && strcmp(argv[1], "--search-with-times") == 0) return search_with_times(argv[2], argv + 3);
  const int taken = enter_container(argc, argv);
  init_serve(argc - taken, argv + taken);
}
