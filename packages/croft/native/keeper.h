/* Starts one program and stays its ancestor, so that nothing it starts can hide from whoever ends it. */
#ifndef CROFT_KEEPER_H
#define CROFT_KEEPER_H

#include <sys/types.h>

#include "wire.h"

/* What a keeper tells the init, over a pipe. */
struct note {
  enum { NOTE_STARTED, NOTE_FAILED, NOTE_ENDED } kind;
  int32_t pid;
  int32_t error; /* errno of what failed */
  struct ending ending;
};

struct streams {
  int input, output, errors; /* -1 for what comes from /dev/null or goes to the terminal */
  const char *terminal;      /* path of the slave side, or NULL */
};

/* The keeper's pid, or -1 with errno. `notes` is the writing end of the pipe. */
pid_t keeper_start(const struct request *request, const struct streams *streams, int notes);

/* Ends everything below a keeper, however it forks meanwhile; with 0, every orphan that came to the init. */
void keeper_kill(pid_t keeper, int (*is_keeper)(pid_t));

#endif
