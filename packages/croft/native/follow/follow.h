/* Follows directory trees for the server: lists each tree once, and then reports what may have changed. */
#ifndef CROFT_FOLLOW_H
#define CROFT_FOLLOW_H

#include <stdint.h>

/* Frame types; the format is that of init-frames.h. packages/croft/src/init/follow-frames.ts is the other side. */
enum {
  /* to the follower; the id names a tree */
  FOLLOW_OPEN = 1,
  FOLLOW_TAKE = 2,
  FOLLOW_CLOSE = 3,
  FOLLOW_NOTIFY = 4, /* the detail says whether to send FOLLOW_CHANGED */
  /* from the follower */
  FOLLOW_READY = 64,
  FOLLOW_OPENED = 65,
  FOLLOW_SIGHTINGS = 66, /* whole records */
  FOLLOW_TAKEN = 67,     /* the last frame of an answer; the detail holds TAKEN_… flags */
  FOLLOW_FAILED = 68,
  FOLLOW_CHANGED = 69, /* sent once until the next FOLLOW_TAKE */
  FOLLOW_RESTART = 70, /* discard what was answered to this FOLLOW_TAKE so far */
};

enum {
  TAKEN_WHOLE = 1,  /* the answer lists the whole tree */
  TAKEN_POLLED = 2, /* some directories have no watch and are scanned each time */
};

/* The payload of FOLLOW_OPEN. `handle` is a descriptor of the server. The path follows, ended by a NUL, for a server
   whose descriptors may not be read. */
struct follow_open {
  uint64_t device, inode;
  uint32_t handle, zero;
};

enum sighting { SIGHTING_BASE, SIGHTING_GONE, SIGHTING_FILE, SIGHTING_LINK, SIGHTING_DIRECTORY, SIGHTING_OTHER,
  SIGHTING_LISTED /* has no name: all names of the BASE follow, and all others are gone */
};

/* One record, followed by the name, padded with zeros to a multiple of 8. The name of a BASE is a path from the
   root; the records that follow are in that directory. */
struct sighting_record {
  uint8_t kind;
  uint8_t is_plain; /* the name is ASCII */
  uint16_t mode;
  uint32_t length; /* of the name */
  uint64_t size, inode;
  int64_t mtime_ns, ctime_ns;
};

/* Serves the parent process on descriptor 3 until it is gone. Remembers up to `max_dirty` changed names per tree,
   and takes up to `max_watches` inotify watches. */
_Noreturn void follow_serve(unsigned long max_dirty, unsigned long max_watches);

#endif
