#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "keeper.h"
#include "relay.h"
#include "server.h"

/* Tells the end after everything the program wrote before it: what is in the pipes now is all of that. */
void report_end(struct command *command) {
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

void end_all_of(struct command *command) {
  command->is_killed = 1;
  if (command->keeper <= 0) return;
  keeper_kill(command->keeper, is_keeper);
  /* It may have been stopped from inside. */
  kill(command->keeper, SIGCONT);
}

void read_notes(struct command *command) {
  struct note note;
  ssize_t length = read(command->notes, &note, sizeof note);
  if (length < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (length == sizeof note && note.kind == NOTE_STARTED) {
    command->program = note.pid;
    for (int number = 1; number < 64; number++)
      if (command->early >> number & 1) kill(-command->program, number);
    /* Killed before it was there. */
    if (command->is_killed) end_all_of(command);
    return;
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

/* Its number may soon be another's. */
static void forget_keeper(pid_t ended) {
  for (struct command *command = commands; command < commands + MAX_COMMANDS; command++)
    if (command->keeper == ended) command->keeper = 0;
}

void reap(void) {
  int status;
  for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0; relay_ended(ended)) {
    forget_keeper(ended);
    if (keep_in_mind(0, ended) == 0 && WIFSIGNALED(status)) keeper_kill(0, is_keeper);
  }
}
