/* Reads one system call of a program, judges it and makes it in place of the program. */
#ifndef CROFT_JUDGED_CALLS_H
#define CROFT_JUDGED_CALLS_H

#include <linux/seccomp.h>

/* A file that was opened for the program, and the flags with which it asked. */
struct opened {
  int handle;
  int flags;
};

#define GO_ON -1
#define WAITS -2

/* Returns 0, the errno of the call, GO_ON if the program must make the call itself, or WAITS if the program must wait
   until another opens the FIFO in `opened` for reading. A successful open fills `opened`. */
int judged_do(const struct seccomp_notif *asked, struct opened *opened);

#endif
