/* Reads one system call of a program, judges it and makes it in place of the program. */
#ifndef CROFT_JUDGED_CALLS_H
#define CROFT_JUDGED_CALLS_H

#include <linux/seccomp.h>

/* A file that was opened for the program. */
struct opened {
  int handle;
  unsigned flags;
};

#define GO_ON -1

/* Returns 0, the errno of the call, or GO_ON if the program must make the call itself. A successful open fills
   `opened`. */
int judged_do(const struct seccomp_notif *asked, struct opened *opened);

#endif
