#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init/commands/command-table.h"
#include "init/commands/command-subreaper.h"
#include "init/guard/call-judge.h"
#include "init/server-socket.h"
#include "relay/relay.h"

/* Reports the end of a command after all of its output. Its end is known, so the pipes hold all of that. */
void report_end(struct command *command) {
  if (!command->has_ended || command->is_reported) return;
  for (int stream = 0; stream < 2; stream++) {
    while (carry_output(command, stream)) continue;
    struct pollfd waiting = {command->output[stream], POLLIN, 0};
    /* There is more output but no credit: the server must take the output first. */
    if (command->output[stream] >= 0 && command->credit[stream] == 0 && poll(&waiting, 1, 0) > 0 && waiting.revents & POLLIN) return;
  }
  judge_tell_held();
  send_frame(FRAME_EXIT, command->id, 0, &command->ending, sizeof command->ending);
  command->is_reported = 1;
  close_input(command);
  if (command->is_terminal) close_handle(&command->output[0]);
  release(command);
}

void end_all_of(struct command *command) {
  command->is_killed = 1;
  if (command->subreaper <= 0) return;
  subreaper_kill(command->subreaper, is_subreaper);
  /* A program may have stopped the subreaper. */
  kill(command->subreaper, SIGCONT);
}

void read_notes(struct command *command) {
  struct note note;
  ssize_t length = read(command->notes, &note, sizeof note);
  if (length < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (length == sizeof note && note.kind == NOTE_STARTED) {
    command->program = note.pid;
    for (int number = 1; number < 64; number++)
      if (command->early >> number & 1) kill(-command->program, number);
    /* The command was killed before it started. */
    if (command->is_killed) end_all_of(command);
    return;
  }
  if (length == sizeof note && note.kind == NOTE_FAILED) return abandon(command, note.error);

  close_handle(&command->notes);
  /* A subreaper that ended without a note was killed by a program that tried to escape. Its orphans become children of
     the init, and are killed. */
  struct ending killed = {.code = -1, .signal = SIGKILL};
  command->ending = length == sizeof note ? note.ending : killed;
  command->has_ended = 1;
  if (length != sizeof note) subreaper_kill(0, is_subreaper);
  report_end(command);
  release(command);
}

/* The process id may soon be reused. */
static void forget_subreaper(pid_t ended) {
  for (struct command *command = commands; command < commands + MAX_COMMANDS; command++)
    if (command->subreaper == ended) command->subreaper = 0;
}

void reap(void) {
  int status;
  for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0; relay_ended(ended)) {
    forget_subreaper(ended);
    if (replace_subreaper(0, ended) == 0 && WIFSIGNALED(status)) subreaper_kill(0, is_subreaper);
  }
  if (!has_subreapers()) judge_rest();
}
