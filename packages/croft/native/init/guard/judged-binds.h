/* A socket that is bound to a path is a name too, which git takes for `objects` or `refs`. */
#ifndef CROFT_JUDGED_BINDS_H
#define CROFT_JUDGED_BINDS_H

#include <stdint.h>
#include <sys/types.h>

/* Binds a socket of the program to a path. Returns 0, an errno, or GO_ON if the socket is of another family. */
int judged_bind(pid_t thread, int handle, uint64_t address, uint64_t length);

#endif
