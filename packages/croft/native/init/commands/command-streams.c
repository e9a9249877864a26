#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "init/commands/command-table.h"
#include "init/server-socket.h"

#define INPUT_WINDOW (256 * 1024)

static uint8_t chunk[CHUNK];

int carry_output(struct command *command, int stream) {
  int *handle = &command->output[stream];
  uint32_t *credit = &command->credit[stream];
  /* After the end was reported the output is read and dropped, so that processes left behind do not block on a full
     pipe. */
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

void feed_input(struct command *command) {
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
  /* On a terminal, end of input is the character ^D. */
  if (command->is_terminal && write(command->input, "\004", 1) < 0) return;
  command->input_ends = 0;
  if (!command->is_terminal) close_input(command);
}

void take_input(struct command *command, const uint8_t *bytes, size_t length) {
  if (command->input < 0) {
    uint32_t dropped = (uint32_t)length;
    return send_frame(FRAME_INPUT_TAKEN, command->id, 0, &dropped, sizeof dropped);
  }
  if (command->pending == NULL) command->pending = malloc(INPUT_WINDOW);
  if (command->pending == NULL) return close_input(command);
  memmove(command->pending, command->pending + command->pending_from, command->pending_to - command->pending_from);
  command->pending_to -= command->pending_from;
  command->pending_from = 0;
  /* A server that respects the window never sends more. */
  if (length > INPUT_WINDOW - command->pending_to) return close_input(command);
  memcpy(command->pending + command->pending_to, bytes, length);
  command->pending_to += length;
  feed_input(command);
}
