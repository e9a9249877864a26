#ifndef SETTLE_H
#define SETTLE_H

#include <limits.h>
#include <stdbool.h>

/* A name in an open directory. */
struct place {
  int directory;
  char name[NAME_MAX + 1];
};

/* As Node tells them. */
struct version {
  double inode, size, modified;
};

/* A file with all its bytes, and where it shall go: see `src/disk/settle.ts`. */
struct settling {
  int file;
  struct place from, to;
  bool is_there;
  struct version before;
};

/* Both answer zero, or the errno of what failed: ESTALE if another version is there than `before`. */

/* Where a journal keeps the order of bytes and names, one commit does. */
int settle(const struct settling *settling, bool is_ordered);

/* Without a word about the disk: EAGAIN, and nothing is done, if that is not wanted and there is one. */
int settle_now(const struct settling *settling, bool is_relaxed);

#endif
