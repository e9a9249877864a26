/* The first process of a sandbox: starts programs, carries their bytes, ends and reaps them, over one socket.
   When the socket closes it exits, and the kernel ends everything with it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fence.h"
#include "keeper.h"
#include "pins.h"
#include "wire.h"

#define SOCKET 3
#define MAX_COMMANDS 256
#define MAX_KEEPERS 1024
#define CHUNK (64 * 1024)
#define INPUT_WINDOW (256 * 1024)

/* A program under way. Its outputs stay open after it ended for as long as others hold them. */
struct command {
  uint32_t id;
  int used, has_ended, is_reported, is_killed;
  pid_t keeper, program;
  uint64_t early; /* signals that came before the program was there, by number */
  int notes;
  int output[2];
  uint32_t credit[2];
  int is_terminal, input;
  uint8_t *pending; /* input the program has not taken yet */
  size_t pending_from, pending_to;
  int input_ends;
  struct ending ending;
};

static struct command commands[MAX_COMMANDS];
static pid_t keepers[MAX_KEEPERS];
static uint8_t inbox[sizeof(struct frame) + MAX_PAYLOAD];
static size_t inbox_length;
static uint8_t chunk[CHUNK];

static void die(const char *what) {
  fprintf(stderr, "croft-init: %s: %s\n", what, strerror(errno));
  _exit(1);
}

static void send_all(const void *bytes, size_t length) {
  for (const uint8_t *at = bytes; length > 0;) {
    ssize_t sent = write(SOCKET, at, length);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      struct pollfd ready = {SOCKET, POLLOUT, 0};
      poll(&ready, 1, -1);
      continue;
    }
    /* The server is gone, and with it everything in here. */
    if (sent <= 0) _exit(0);
    at += sent;
    length -= (size_t)sent;
  }
}

static void send_frame(uint8_t type, uint32_t id, uint8_t detail, const void *payload, uint32_t size) {
  struct frame frame = {size, id, type, detail, 0};
  if (size > CHUNK) return;
  /* One write for one frame, or the other side wakes twice. */
  uint8_t whole[sizeof frame + CHUNK];
  memcpy(whole, &frame, sizeof frame);
  if (size > 0) memcpy(whole + sizeof frame, payload, size);
  send_all(whole, sizeof frame + size);
}

static void send_failure(uint32_t id, int error) {
  int32_t number = error;
  send_frame(FRAME_FAILED, id, 0, &number, sizeof number);
}

static int is_keeper(pid_t pid) {
  for (int i = 0; i < MAX_KEEPERS; i++)
    if (keepers[i] == pid) return 1;
  return 0;
}

static int keep_in_mind(pid_t keeper, pid_t instead_of) {
  for (int i = 0; i < MAX_KEEPERS; i++)
    if (keepers[i] == instead_of) return keepers[i] = keeper, 0;
  return -1;
}

static struct command *find_command(uint32_t id) {
  for (int i = 0; i < MAX_COMMANDS; i++)
    if (commands[i].used && commands[i].id == id && !commands[i].is_reported) return &commands[i];
  return NULL;
}

static struct command *free_command(void) {
  for (int i = 0; i < MAX_COMMANDS; i++)
    if (!commands[i].used) return &commands[i];
  return NULL;
}

static void close_handle(int *handle) {
  if (*handle >= 0) close(*handle);
  *handle = -1;
}

static void close_input(struct command *command) {
  /* A terminal's input is its output's handle too. */
  if (command->is_terminal) command->input = -1;
  close_handle(&command->input);
  free(command->pending);
  command->pending = NULL;
  command->pending_from = command->pending_to = 0;
}

static void release(struct command *command) {
  if (!command->is_reported || command->output[0] >= 0 || command->output[1] >= 0 || command->notes >= 0) return;
  close_input(command);
  command->used = 0;
}

/* --- starting --- */

static int open_terminal(const struct start *head, char *path, size_t size) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (master < 0) return -1;
  struct winsize window = {.ws_row = head->rows, .ws_col = head->columns};
  if (unlockpt(master) == 0 && ptsname_r(master, path, size) == 0 && ioctl(master, TIOCSWINSZ, &window) == 0) return master;
  close(master);
  return -1;
}

static int open_pipe(int *ours, int *theirs, int ours_writes) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  *ours = ends[ours_writes ? 1 : 0];
  *theirs = ends[ours_writes ? 0 : 1];
  return fcntl(*ours, F_SETFL, O_NONBLOCK);
}

static int open_streams(struct command *command, const struct start *head, struct streams *theirs, char *terminal, size_t size) {
  if (head->flags & START_TERMINAL) {
    command->is_terminal = 1;
    command->output[0] = command->input = open_terminal(head, terminal, size);
    theirs->terminal = terminal;
    return command->output[0] < 0 ? -1 : 0;
  }
  if (head->flags & START_INPUT && open_pipe(&command->input, &theirs->input, 1) != 0) return -1;
  if (open_pipe(&command->output[0], &theirs->output, 0) != 0) return -1;
  if (!(head->flags & START_MERGED)) return open_pipe(&command->output[1], &theirs->errors, 0);
  theirs->errors = fcntl(theirs->output, F_DUPFD_CLOEXEC, 3);
  return theirs->errors < 0 ? -1 : 0;
}

static void abandon(struct command *command, int error) {
  close_handle(&command->output[0]);
  close_handle(&command->output[1]);
  close_handle(&command->notes);
  close_input(command);
  command->used = 0;
  send_failure(command->id, error);
}

static int launch(struct command *command, const struct request *request) {
  /* A keeper nobody has in mind would be taken for an escape. */
  if (!is_keeper(0)) return errno = EAGAIN, -1;
  char terminal[64];
  int note_writer = -1;
  struct streams theirs = {-1, -1, -1, NULL};
  int result = open_streams(command, &request->head, &theirs, terminal, sizeof terminal);
  if (result == 0) result = open_pipe(&command->notes, &note_writer, 0);
  if (result == 0) command->keeper = keeper_start(request, &theirs, note_writer);
  int error = errno;
  close_handle(&theirs.input);
  close_handle(&theirs.output);
  close_handle(&theirs.errors);
  close_handle(&note_writer);
  errno = error;
  if (result != 0 || command->keeper < 0) return -1;
  return keep_in_mind(command->keeper, 0);
}

static void start(uint32_t id, const uint8_t *payload, size_t length) {
  struct request request;
  struct command *command = free_command();
  if (find_command(id) != NULL || wire_parse_start(payload, length, &request) != 0) return send_failure(id, EINVAL);
  if (command == NULL) {
    free(request.arguments);
    return send_failure(id, EAGAIN);
  }
  *command = (struct command){.id = id, .used = 1, .notes = -1, .output = {-1, -1}, .input = -1};
  command->credit[0] = command->credit[1] = request.head.credit;
  int result = launch(command, &request);
  int error = errno;
  free(request.arguments);
  if (result != 0) abandon(command, error);
}

/* --- carrying bytes --- */

/* Whether there may be more to read now. */
static int carry_output(struct command *command, int stream) {
  int *handle = &command->output[stream];
  uint32_t *credit = &command->credit[stream];
  /* After the end was told nobody listens any more, but what is left behind must not block on a full pipe. */
  size_t most = command->is_reported || *credit > CHUNK ? CHUNK : *credit;
  if (*handle < 0 || most == 0) return 0;
  ssize_t length = read(*handle, chunk, most);
  if (length < 0 && errno == EINTR) return 1;
  if (length < 0 && errno == EAGAIN) return 0;
  if (length <= 0) {
    if (command->is_terminal) close_input(command);
    close_handle(handle);
    return 0;
  }
  if (!command->is_reported) {
    *credit -= (uint32_t)length;
    send_frame(FRAME_OUTPUT, command->id, (uint8_t)(stream + 1), chunk, (uint32_t)length);
  }
  return 1;
}

static void feed_input(struct command *command) {
  while (command->input >= 0 && command->pending_from < command->pending_to) {
    ssize_t length = write(command->input, command->pending + command->pending_from, command->pending_to - command->pending_from);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && errno == EAGAIN) return;
    if (length <= 0) {
      uint32_t dropped = (uint32_t)(command->pending_to - command->pending_from);
      close_input(command);
      return send_frame(FRAME_INPUT_TAKEN, command->id, 0, &dropped, sizeof dropped);
    }
    command->pending_from += (size_t)length;
    uint32_t taken = (uint32_t)length;
    send_frame(FRAME_INPUT_TAKEN, command->id, 0, &taken, sizeof taken);
  }
  if (!command->input_ends || command->input < 0) return;
  /* A terminal has no end of input but the character for it. */
  if (command->is_terminal && write(command->input, "\004", 1) < 0) return;
  command->input_ends = 0;
  if (!command->is_terminal) close_input(command);
}

static void take_input(struct command *command, const uint8_t *bytes, size_t length) {
  if (command->input < 0) {
    uint32_t dropped = (uint32_t)length;
    return send_frame(FRAME_INPUT_TAKEN, command->id, 0, &dropped, sizeof dropped);
  }
  if (command->pending == NULL) command->pending = malloc(INPUT_WINDOW);
  if (command->pending == NULL) return close_input(command);
  memmove(command->pending, command->pending + command->pending_from, command->pending_to - command->pending_from);
  command->pending_to -= command->pending_from;
  command->pending_from = 0;
  /* A server that keeps to the window never gets here with more. */
  if (length > INPUT_WINDOW - command->pending_to) return close_input(command);
  memcpy(command->pending + command->pending_to, bytes, length);
  command->pending_to += length;
  feed_input(command);
}

/* --- ending --- */

/* Tells the end after everything the program wrote before it: what is in the pipes now is all of that. */
static void report_end(struct command *command) {
  if (!command->has_ended || command->is_reported) return;
  for (int stream = 0; stream < 2; stream++) {
    while (carry_output(command, stream)) continue;
    struct pollfd waiting = {command->output[stream], POLLIN, 0};
    /* More to read but no credit for it: the server takes it first. */
    if (command->output[stream] >= 0 && command->credit[stream] == 0 && poll(&waiting, 1, 0) > 0 && waiting.revents & POLLIN) return;
  }
  send_frame(FRAME_EXIT, command->id, 0, &command->ending, sizeof command->ending);
  command->is_reported = 1;
  close_input(command);
  if (command->is_terminal) close_handle(&command->output[0]);
  release(command);
}

static void end_all_of(struct command *command) {
  command->is_killed = 1;
  keeper_kill(command->keeper, is_keeper);
  /* It may have been stopped from inside. */
  kill(command->keeper, SIGCONT);
}

static void read_notes(struct command *command) {
  struct note note;
  ssize_t length = read(command->notes, &note, sizeof note);
  if (length < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (length == sizeof note && note.kind == NOTE_STARTED) {
    command->program = note.pid;
    for (int number = 1; number < 64; number++)
      if (command->early >> number & 1) kill(-command->program, number);
    /* Killed before it was there. */
    if (command->is_killed) end_all_of(command);
    uint32_t pid = (uint32_t)note.pid;
    return send_frame(FRAME_STARTED, command->id, 0, &pid, sizeof pid);
  }
  if (length == sizeof note && note.kind == NOTE_FAILED) return abandon(command, note.error);

  close_handle(&command->notes);
  /* A keeper that is killed tells nothing: somebody in here did it to get away. What came loose comes to us, and ends. */
  struct ending killed = {.code = -1, .signal = SIGKILL};
  command->ending = length == sizeof note ? note.ending : killed;
  command->has_ended = 1;
  if (length != sizeof note) keeper_kill(0, is_keeper);
  report_end(command);
  release(command);
}

static void reap(void) {
  int status;
  for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
    if (keep_in_mind(0, ended) == 0 && WIFSIGNALED(status)) keeper_kill(0, is_keeper);
}


/* --- the loop --- */

static void obey(const struct frame *frame, const uint8_t *payload) {
  if (frame->type == FRAME_START) return start(frame->id, payload, frame->size);
  struct command *command = find_command(frame->id);
  /* It ended while this was on its way. */
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
  if (length <= 0) _exit(0);
  inbox_length += (size_t)length;

  size_t from = 0;
  for (;;) {
    long whole = wire_measure(inbox + from, inbox_length - from);
    if (whole < 0) _exit(2);
    if (whole == 0) break;
    struct frame frame;
    memcpy(&frame, inbox + from, sizeof frame);
    obey(&frame, inbox + from + sizeof frame);
    from += (size_t)whole;
  }
  memmove(inbox, inbox + from, inbox_length - from);
  inbox_length -= from;
}

static void add(struct pollfd *polled, int *count, int handle, short events) {
  if (handle >= 0 && events != 0) polled[(*count)++] = (struct pollfd){handle, events, 0};
}

static int gather(struct pollfd *polled, int children) {
  int count = 0;
  add(polled, &count, SOCKET, POLLIN);
  add(polled, &count, children, POLLIN);
  for (struct command *command = commands; command < commands + MAX_COMMANDS; command++) {
    if (!command->used) continue;
    add(polled, &count, command->notes, POLLIN);
    for (int stream = 0; stream < 2; stream++)
      add(polled, &count, command->output[stream], command->is_reported || command->credit[stream] > 0 ? POLLIN : 0);
    add(polled, &count, command->input, command->pending_from < command->pending_to || command->input_ends ? POLLOUT : 0);
  }
  return count;
}

/* Output comes before the note of an end that was written after it. */
static void serve_command(struct command *command, int handle) {
  for (int stream = 0; stream < 2; stream++)
    if (command->output[stream] == handle) carry_output(command, stream);
  if (command->input == handle) feed_input(command);
  if (command->notes == handle) read_notes(command);
  if (command->used) release(command);
}

static void serve(int children) {
  static struct pollfd polled[2 + MAX_COMMANDS * 4];
  for (;;) {
    int count = gather(polled, children);
    if (poll(polled, (nfds_t)count, -1) < 0 && errno != EINTR) die("poll");
    for (int i = count - 1; i >= 2; i--) {
      if (polled[i].revents == 0) continue;
      for (struct command *command = commands; command < commands + MAX_COMMANDS; command++)
        if (command->used) serve_command(command, polled[i].fd);
    }
    if (polled[1].revents) {
      struct signalfd_siginfo info;
      while (read(children, &info, sizeof info) > 0) continue;
      reap();
    }
    if (polled[0].revents) receive();
  }
}

/* Everything that must hold before the first program runs. */
static void raise_fence(const char *workspace) {
  if (pins_place(workspace) != 0) die("cannot hold the control files");
  if (pins_drop_privileges() != 0) die("cannot drop privileges");
  /* Nobody in here may look into this process, which holds the socket. */
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) die("dumpable");
  if (fence_load() != 0) die("seccomp");
}

/* croft-init WORKSPACE, with the server on descriptor 3. Without a workspace there is no fence: to be tested bare. */
int main(int argc, char **argv) {
  if (fcntl(SOCKET, F_SETFD, FD_CLOEXEC) != 0 || fcntl(SOCKET, F_SETFL, O_NONBLOCK) != 0) die("no socket");
  sigset_t ours;
  sigfillset(&ours);
  if (sigprocmask(SIG_BLOCK, &ours, NULL) != 0) die("signals");
  sigemptyset(&ours);
  sigaddset(&ours, SIGCHLD);
  int children = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
  if (children < 0) die("signalfd");
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (argc > 1) raise_fence(argv[1]);

  uint32_t version = WIRE_VERSION;
  send_frame(FRAME_READY, 0, 0, &version, sizeof version);
  serve(children);
}
