/* The frames between the server and the init of a sandbox. packages/croft/src/init/init-frames.ts is the other side. All
   numbers are little endian, like every machine this runs on. */
#ifndef CROFT_WIRE_H
#define CROFT_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define WIRE_VERSION 3
#define MAX_PAYLOAD (1024 * 1024)

enum {
  /* to the init */
  FRAME_START = 1,
  FRAME_INPUT = 2,
  FRAME_END_INPUT = 3,
  FRAME_SIGNAL = 4,
  FRAME_RESIZE = 5,
  FRAME_CREDIT = 6,
  FRAME_KILL = 7,
  /* from the init */
  FRAME_READY = 64,
  FRAME_OUTPUT = 66,
  FRAME_EXIT = 67,
  FRAME_FAILED = 68,
  FRAME_INPUT_TAKEN = 69,
  FRAME_REFUSED = 70, /* name of a refused system call */
  FRAME_HELD = 71,    /* held back or refused in the workspace: rule, path and detail, with NUL between them */
};

struct frame {
  uint32_t size; /* of the payload */
  uint32_t id;   /* of the command */
  uint8_t type;
  uint8_t detail; /* which stream, or which signal */
  uint16_t zero;
};

/* The beginning of a START payload. Then NUL-terminated: the working directory, the arguments, the environment. */
struct start {
  uint32_t flags;
  uint16_t rows, columns;
  uint32_t credit; /* bytes of each output stream that may be sent before more credit arrives */
  uint16_t arguments, variables;
  uint64_t limits[8]; /* indexed by enum limit; UINT64_MAX changes nothing */
};

enum { START_TERMINAL = 1, START_INPUT = 2, START_MERGED = 4 /* both outputs are one stream */ };

enum limit { LIMIT_CPU, LIMIT_FILE_SIZE, LIMIT_OPEN_FILES, LIMIT_PROCESSES, LIMIT_DATA, LIMIT_STACK };

struct ending {
  int32_t code; /* -1 when a signal ended it */
  int32_t signal;
  uint64_t user_us, system_us, max_rss_kb;
};

/* One parsed START. Points into the payload it was parsed from. */
struct request {
  struct start head;
  const char *directory;
  char **arguments, **variables; /* each ends in NULL; one allocation, at `arguments` */
};

/* Returns the size of the frame at the start of `bytes`, 0 if it is incomplete, or -1 for a frame that no server
   sends. */
long wire_measure(const uint8_t *bytes, size_t length);

/* Parses a START payload. Returns 0, or -1 if it is invalid. Free `arguments` after use. */
int wire_parse_start(const uint8_t *payload, size_t length, struct request *request);

#endif
