/* Stops every program in the sandbox for a moment, so that none runs between two steps of ours. */
#ifndef CROFT_STOP_PROGRAMS_H
#define CROFT_STOP_PROGRAMS_H

#include <sys/types.h>

/* The thread whose call is being judged, which is already waiting for us. */
extern pid_t judged_thread;

/* Returns 0 when all programs are stopped, or -1 and nothing is stopped. */
int stop_programs(void);
void continue_programs(void);

/* While all programs are stopped: whether a program is in this directory of the workspace, or has something in it
   open. */
int is_anybody_below(const char *path);

#endif
