/* Lists a directory and computes a digest of its entries. */
#ifndef CROFT_DIRECTORY_ENTRIES_H
#define CROFT_DIRECTORY_ENTRIES_H

#include <sys/stat.h>

#include "follow/followed-tree.h"

/* The digest of the entries since read_entries began. */
extern uint64_t digest;
/* Adds one entry. The order does not matter. */
void digest_add(const char *name, size_t length, const struct stat *status);

typedef void each_entry(struct node *directory, int handle, const char *name);
/* Starts a new digest and calls `each` for every name. Returns -1 with errno on failure. */
int read_entries(struct node *directory, int handle, each_entry *each);

#endif
