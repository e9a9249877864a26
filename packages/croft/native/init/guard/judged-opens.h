/* Opens files for programs. A program that opened a file itself after the check could have written another path to its
   memory meanwhile, or somebody outside could have replaced a held file: so every file that is opened for writing is
   opened here, judged by its own name, and handed over. */
#ifndef CROFT_JUDGED_OPENS_H
#define CROFT_JUDGED_OPENS_H

#include <stdint.h>

#include "init/guard/judged-calls.h"
#include "init/guard/read-caller.h"

/* Opens what a path of the calling program leads to. Returns 0, an errno, or WAITS if the program has to wait for
   the other end of the FIFO in `opened`. */
int judged_open(pid_t thread, int from, const char *path, int flags, mode_t mode, struct opened *opened);

int judged_truncate(pid_t thread, int from, const char *path, off_t length);

/* Whether Landlock would let programs write in the directory. It restricts programs but not the judging thread. */
int may_write(int directory);

/* Holds a repository that somebody outside created, or whose settings they replaced, since the last check. Returns 0
   or an errno. */
int hold_before(const struct parent_entry *entry);

/* Covers an editor's directory that somebody outside created or replaced since the last check. Returns 0 or an
   errno. */
int cover_before(pid_t thread, int from, const char *path);

/* Reports that a name was refused, and returns the errno for the program. */
int refuse_name(const struct parent_entry *entry);

#endif
