/* What a follower says. */
#ifndef CROFT_FOLLOW_OUT_H
#define CROFT_FOLLOW_OUT_H

#include <stdint.h>
#include <sys/stat.h>

#include "follow-tree.h"

/* While the server does not read, `idle` is called whenever the kernel has something to tell. */
void out_prepare(void (*idle)(void));
void out_frame(uint8_t type, uint32_t id, uint8_t detail, const void *payload, uint32_t size);

/* Records of one answer, from the beginning. */
void out_begin(uint32_t id);
/* One name in a directory. NULL: it is gone. */
void out_sighting(const struct node *directory, const char *name, size_t length, const struct stat *status);
/* What was said since the beginning does not count. */
void out_restart(void);
/* Those that are left. */
void out_flush(void);

#endif
