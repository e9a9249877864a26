/* Follows directory trees for the server: lists each once, and then says what may have changed. */
#ifndef CROFT_FOLLOW_H
#define CROFT_FOLLOW_H

#include <stdint.h>

/* The frames are those of wire.h, with these types. packages/croft/src/init/follow-frames.ts is the other side. */
enum {
  /* to the follower; the id is that of a tree */
  FOLLOW_OPEN = 1,
  FOLLOW_TAKE = 2,
  FOLLOW_CLOSE = 3,
  FOLLOW_NOTIFY = 4, /* the detail says whether changes are to be told of */
  /* from it */
  FOLLOW_READY = 64,
  FOLLOW_OPENED = 65,
  FOLLOW_SIGHTINGS = 66, /* records, none of which is cut */
  FOLLOW_TAKEN = 67,     /* the last of an answer; the detail says whether it is whole */
  FOLLOW_FAILED = 68,
  FOLLOW_CHANGED = 69, /* once, until the next take */
  FOLLOW_RESTART = 70, /* what was answered to this take so far does not count */
};

/* What OPEN carries. The handle is one of the server. Then where that is, for a server that nobody may look into, and a
   NUL. */
struct follow_open {
  uint64_t device, inode;
  uint32_t handle, zero;
};

enum sighting { SIGHTING_BASE, SIGHTING_GONE, SIGHTING_FILE, SIGHTING_LINK, SIGHTING_DIRECTORY, SIGHTING_OTHER };

/* One record. Then comes the name, and zeros until the next can begin at a multiple of 8. That of a BASE is a path from
   the root, and what follows is in it. */
struct sighting_record {
  uint8_t kind;
  uint8_t is_plain; /* the name is ASCII */
  uint16_t mode;
  uint32_t length; /* of the name */
  uint64_t size, inode;
  int64_t mtime_ns, ctime_ns;
};

/* Serves the process that started it, on descriptor 3, until it is gone. Remembers up to so many changed paths of a tree,
   and takes up to so many watches of the kernel. */
_Noreturn void follow_serve(unsigned long max_dirty, unsigned long max_watches);

#endif
