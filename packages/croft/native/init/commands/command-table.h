/* The table of running commands, and the functions that start them, carry their streams and end them. */
#ifndef CROFT_COMMAND_TABLE_H
#define CROFT_COMMAND_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "init/init-frames.h"

#define MAX_COMMANDS 256

/* A running command. Its outputs stay open after its end for as long as other processes hold them. */
struct command {
  uint32_t id;
  int used, has_ended, is_reported, is_killed;
  pid_t subreaper, program;
  uint64_t early; /* bit set of signals that arrived before the program started */
  int notes;
  int output[2];
  uint32_t credit[2];
  int is_terminal, input;
  uint8_t *pending; /* input that the program has not read yet */
  size_t pending_from, pending_to;
  int input_ends;
  struct ending ending;
};

extern struct command commands[MAX_COMMANDS];

/* Returns a command whose end has not been reported yet, or NULL. */
struct command *find_command(uint32_t id);
struct command *free_command(void);
void close_handle(int *handle);
void close_input(struct command *command);
/* Frees a command that has ended and whose outputs are closed. */
void release(struct command *command);
/* Frees a command that could not be started, and reports the error. */
void abandon(struct command *command, int error);

/* Whether `pid` is a subreaper or the relay. Other children of the init are orphans of commands. */
int is_subreaper(pid_t pid);
/* Replaces `instead_of` by `subreaper` in the list of subreapers. 0 stands for a free entry. Returns -1 if `instead_of` is
   not in the list. */
int replace_subreaper(pid_t subreaper, pid_t instead_of);

/* Whether any subreaper is left. */
int has_subreapers(void);

/* start-command.c */
void start(uint32_t id, const uint8_t *payload, size_t length);

/* command-streams.c: carry_output returns whether there may be more to read now. */
int carry_output(struct command *command, int stream);
void feed_input(struct command *command);
void take_input(struct command *command, const uint8_t *bytes, size_t length);

/* end-command.c */
void report_end(struct command *command);
void end_all_of(struct command *command);
void read_notes(struct command *command);
void reap(void);

#endif
