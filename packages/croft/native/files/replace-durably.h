#ifndef CROFT_REPLACE_DURABLY_H
#define CROFT_REPLACE_DURABLY_H

#include <limits.h>
#include <stdbool.h>

/* A name in an open directory. */
struct entry_name {
  int directory;
  char name[NAME_MAX + 1];
};

/* A version of a file, in the numbers that Node gives. */
struct version {
  double inode, size, modified;
};

/* A complete file and its target: see `src/disk/durable/replace-durably.ts`. */
struct replacement {
  int file;
  struct entry_name from, to;
  bool is_there;
  struct version before;
};

/*
 * Both functions return 0 or an errno: ESTALE if the target is not the version `before`, LOCK_HELD if another process
 * changes names in the same directory (see `name-locks.h`). After either of these, nothing has changed.
 */

/* Replaces the target durably. With `is_ordered` a journal keeps the order of bytes and names, and one commit is
   enough. */
int replace_durably(const struct replacement *replaced, bool is_ordered);

/* Replaces the target without waiting for the disk. Returns EAGAIN, and does nothing, unless that is wanted or the
   file is in memory. */
int replace_at_once(const struct replacement *replaced, bool is_relaxed);

/* Renames a file to a name that is free. Returns 0, or -1 with errno: EEXIST if the name is taken. */
int move_if_free(const struct entry_name *from, const struct entry_name *to);

#endif
