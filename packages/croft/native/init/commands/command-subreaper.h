/* Starts one program and stays its ancestor, so that nothing it starts can escape being ended. */
#ifndef CROFT_KEEPER_H
#define CROFT_KEEPER_H

#include <sys/types.h>

#include "init/init-frames.h"

/* A message of a subreaper to the init, over a pipe. */
struct note {
  enum { NOTE_STARTED, NOTE_FAILED, NOTE_ENDED } kind;
  int32_t pid;
  int32_t error; /* errno of the failed start */
  struct ending ending;
};

struct streams {
  int input, output, errors; /* -1: /dev/null for input, or the terminal */
  int terminal;              /* the program's side of the terminal, or -1 */
};

/* Returns the subreaper's process id, or -1 with errno. `notes` is the writing end of the pipe. */
pid_t subreaper_start(const struct request *request, const struct streams *streams, int notes);

/* Ends everything below a subreaper, however fast it forks. With 0: every orphan that became a child of the init. */
void subreaper_kill(pid_t subreaper, int (*is_subreaper)(pid_t));

#endif
