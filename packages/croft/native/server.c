#define _GNU_SOURCE
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "keeper.h"
#include "wire.h"

void die(const char *what) {
  fprintf(stderr, "croft-init: %s: %s\n", what, strerror(errno));
  _exit(1);
}

void leave(int code) {
  /* With the first process of a namespace the kernel ends the others. Elsewhere that is on us. */
  if (getpid() != 1) keeper_kill(getpid(), is_keeper);
  _exit(code);
}

static void send_all(const void *bytes, size_t length) {
  for (const uint8_t *at = bytes; length > 0;) {
    ssize_t sent = write(SOCKET, at, length);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      struct pollfd ready = {SOCKET, POLLOUT, 0};
      poll(&ready, 1, -1);
      continue;
    }
    if (sent <= 0) leave(0);
    at += sent;
    length -= (size_t)sent;
  }
}

void send_frame(uint8_t type, uint32_t id, uint8_t detail, const void *payload, uint32_t size) {
  struct frame frame = {size, id, type, detail, 0};
  if (size > CHUNK) return;
  /* One write for one frame, or the other side wakes twice. */
  uint8_t whole[sizeof frame + CHUNK];
  memcpy(whole, &frame, sizeof frame);
  if (size > 0) memcpy(whole + sizeof frame, payload, size);
  send_all(whole, sizeof frame + size);
}

void send_failure(uint32_t id, int error) {
  int32_t number = error;
  send_frame(FRAME_FAILED, id, 0, &number, sizeof number);
}
