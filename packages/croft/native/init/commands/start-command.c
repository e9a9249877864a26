#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "init/commands/command-table.h"
#include "init/commands/command-subreaper.h"
#include "init/server-socket.h"

/* Opens the program's side of the terminal by TIOCGPTPEER and not by path: the process that would open the path for
   a program may not inspect it. */
static int open_terminal(const struct start *head, int *theirs) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (master < 0) return -1;
  struct winsize window = {.ws_row = head->rows, .ws_col = head->columns};
  if (unlockpt(master) == 0 && ioctl(master, TIOCSWINSZ, &window) == 0)
    *theirs = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*theirs >= 0) return master;
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

static int open_streams(struct command *command, const struct start *head, struct streams *theirs) {
  if (head->flags & START_TERMINAL) {
    command->is_terminal = 1;
    command->output[0] = command->input = open_terminal(head, &theirs->terminal);
    return command->output[0] < 0 ? -1 : 0;
  }
  if (head->flags & START_INPUT && open_pipe(&command->input, &theirs->input, 1) != 0) return -1;
  if (open_pipe(&command->output[0], &theirs->output, 0) != 0) return -1;
  if (!(head->flags & START_MERGED)) return open_pipe(&command->output[1], &theirs->errors, 0);
  theirs->errors = fcntl(theirs->output, F_DUPFD_CLOEXEC, 3);
  return theirs->errors < 0 ? -1 : 0;
}

static int launch(struct command *command, const struct request *request) {
  /* A subreaper that is not in the list would be taken for an escaped process. */
  if (!is_subreaper(0)) return errno = EAGAIN, -1;
  int note_writer = -1;
  struct streams theirs = {-1, -1, -1, -1};
  int result = open_streams(command, &request->head, &theirs);
  if (result == 0) result = open_pipe(&command->notes, &note_writer, 0);
  if (result == 0) command->subreaper = subreaper_start(request, &theirs, note_writer);
  int error = errno;
  close_handle(&theirs.input);
  close_handle(&theirs.output);
  close_handle(&theirs.errors);
  close_handle(&theirs.terminal);
  close_handle(&note_writer);
  errno = error;
  if (result != 0 || command->subreaper < 0) return -1;
  return replace_subreaper(command->subreaper, 0);
}

void start(uint32_t id, const uint8_t *payload, size_t length) {
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
