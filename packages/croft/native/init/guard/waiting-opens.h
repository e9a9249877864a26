/* Programs that wait in open() until another program opens a FIFO for reading. The judging thread must not wait: it
   tries again every few milliseconds. */
#ifndef CROFT_WAITING_OPENS_H
#define CROFT_WAITING_OPENS_H

#include <stdint.h>

#include "init/guard/judged-calls.h"

int waiting_count(void);

/* Takes the handle in `opened`. Returns WAITS, or an errno if too many wait. */
int waiting_add(uint64_t id, const struct opened *opened);

/* Returns 0 and fills `opened`, or an errno, or WAITS. */
int waiting_try(int index, uint64_t *id, struct opened *opened);

void waiting_end(int index);

#endif
