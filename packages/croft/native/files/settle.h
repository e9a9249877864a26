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
  bool is_there, is_ordered;
  struct version before;
};

/* Zero, or the errno of what failed: ESTALE if another version is there than `before`. */
int settle(const struct settling *settling);

#endif
