/* Sends frames and records from the follower to the server. */
#ifndef CROFT_FOLLOW_OUTPUT_H
#define CROFT_FOLLOW_OUTPUT_H

#include <stdint.h>
#include <sys/stat.h>

#include "follow/followed-tree.h"

/* Sets the function that is called on inotify events while the server does not read. */
void out_prepare(void (*idle)(void));
void out_frame(uint8_t type, uint32_t id, uint8_t detail, const void *payload, uint32_t size);

/* Starts the records of one answer. */
void out_begin(uint32_t id);
/* Sends one name in a directory. A NULL `status` means that it is gone. */
void out_sighting(const struct node *directory, const char *name, size_t length, const struct stat *status);
/* Announces that all names of a directory follow. */
void out_listed(const struct node *directory);
/* Discards what was sent since out_begin. */
void out_restart(void);
/* Sends the remaining records. */
void out_flush(void);

#endif
