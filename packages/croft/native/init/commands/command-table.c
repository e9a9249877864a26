#define _GNU_SOURCE
#include "init/commands/command-table.h"

#include <stdlib.h>
#include <unistd.h>

#include "init/server-socket.h"

#define MAX_KEEPERS 1024

struct command commands[MAX_COMMANDS];
static pid_t subreapers[MAX_KEEPERS];

int is_subreaper(pid_t pid) {
  for (int i = 0; i < MAX_KEEPERS; i++)
    if (subreapers[i] == pid) return 1;
  return 0;
}

int replace_subreaper(pid_t subreaper, pid_t instead_of) {
  for (int i = 0; i < MAX_KEEPERS; i++)
    if (subreapers[i] == instead_of) return subreapers[i] = subreaper, 0;
  return -1;
}

int has_subreapers(void) {
  for (int i = 0; i < MAX_KEEPERS; i++)
    if (subreapers[i] != 0) return 1;
  return 0;
}

struct command *find_command(uint32_t id) {
  for (int i = 0; i < MAX_COMMANDS; i++)
    if (commands[i].used && commands[i].id == id && !commands[i].is_reported) return &commands[i];
  return NULL;
}

struct command *free_command(void) {
  for (int i = 0; i < MAX_COMMANDS; i++)
    if (!commands[i].used) return &commands[i];
  return NULL;
}

void close_handle(int *handle) {
  if (*handle >= 0) close(*handle);
  *handle = -1;
}

void close_input(struct command *command) {
  /* The input and output of a terminal are one descriptor. */
  if (command->is_terminal) command->input = -1;
  close_handle(&command->input);
  free(command->pending);
  command->pending = NULL;
  command->pending_from = command->pending_to = 0;
}

void release(struct command *command) {
  if (!command->is_reported || command->output[0] >= 0 || command->output[1] >= 0 || command->notes >= 0) return;
  close_input(command);
  command->used = 0;
}

void abandon(struct command *command, int error) {
  close_handle(&command->output[0]);
  close_handle(&command->output[1]);
  close_handle(&command->notes);
  close_input(command);
  command->used = 0;
  send_failure(command->id, error);
}
