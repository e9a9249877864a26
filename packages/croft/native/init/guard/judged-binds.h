/* A socket that is bound to a path is a name too, which git takes for `objects` or `refs`. */
#ifndef CROFT_JUDGED_BINDS_H
#define CROFT_JUDGED_BINDS_H

#include <stdint.h>
#include <sys/types.h>

/* Binds a socket of the program, of whatever family: another of its threads could put a local one in place of another
   meanwhile. Returns 0 or an errno. */
int judged_bind(pid_t thread, int handle, uint64_t address, uint64_t length);

#endif
