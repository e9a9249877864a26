/* Measures and parses the frames that the server sends to the init. Pure functions of bytes: no input or output here, see
   server-socket.c. */
#include "init/init-frames.h"

#include <stdlib.h>
#include <string.h>

long wire_measure(const uint8_t *bytes, size_t length) {
  struct frame frame;
  if (length < sizeof frame) return 0;
  memcpy(&frame, bytes, sizeof frame);
  if (frame.size > MAX_PAYLOAD || frame.zero != 0) return -1;
  if (frame.type < FRAME_START || frame.type > FRAME_KILL) return -1;
  size_t whole = sizeof frame + frame.size;
  return length < whole ? 0 : (long)whole;
}

/* Returns the next string, or NULL if none ends before `end`. */
static const char *take(const char **at, const char *end) {
  const char *text = *at;
  const char *stop = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;
  if (stop == NULL) return NULL;
  *at = stop + 1;
  return text;
}

int wire_parse_start(const uint8_t *payload, size_t length, struct request *request) {
  if (length < sizeof request->head) return -1;
  memcpy(&request->head, payload, sizeof request->head);
  const char *at = (const char *)payload + sizeof request->head;
  const char *end = (const char *)payload + length;
  const size_t arguments = request->head.arguments, variables = request->head.variables;
  if (arguments == 0) return -1;

  request->directory = take(&at, end);
  request->arguments = calloc(arguments + variables + 2, sizeof(char *));
  if (request->directory == NULL || request->arguments == NULL) return free(request->arguments), -1;
  request->variables = request->arguments + arguments + 1;
  for (size_t i = 0; i < arguments + variables; i++) {
    const char *text = take(&at, end);
    if (text == NULL) return free(request->arguments), -1;
    /* Variables are one slot further, after the NULL that ends the arguments. exec takes non-const strings and does
       not change them. */
    request->arguments[i < arguments ? i : i + 1] = (char *)text;
  }
  if (at != end || request->arguments[0][0] == 0) return free(request->arguments), -1;
  return 0;
}
