/* The programs under way: how they start, how their bytes are carried, how they end. */
#ifndef CROFT_COMMAND_H
#define CROFT_COMMAND_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire.h"

#define MAX_COMMANDS 256

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

extern struct command commands[MAX_COMMANDS];

/* One whose end has not been told yet, or NULL. */
struct command *find_command(uint32_t id);
struct command *free_command(void);
void close_handle(int *handle);
void close_input(struct command *command);
/* Forgets a command that is over. */
void release(struct command *command);
/* Forgets a command that never was, and says why. */
void abandon(struct command *command, int error);

/* Children of ours that are no orphans: keepers, and the relay. */
int is_keeper(pid_t pid);
/* 0, or -1 when `instead_of` is not in mind; 0 is a free place. */
int keep_in_mind(pid_t keeper, pid_t instead_of);

/* start.c */
void start(uint32_t id, const uint8_t *payload, size_t length);

/* carry.c: answers whether there may be more to read now. */
int carry_output(struct command *command, int stream);
void feed_input(struct command *command);
void take_input(struct command *command, const uint8_t *bytes, size_t length);

/* end.c */
void report_end(struct command *command);
void end_all_of(struct command *command);
void read_notes(struct command *command);
void reap(void);

#endif
