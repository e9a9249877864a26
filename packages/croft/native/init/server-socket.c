#define _GNU_SOURCE
#include "init/server-socket.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "init/commands/command-table.h"
#include "init/commands/command-subreaper.h"
#include "init/init-frames.h"

void die(const char *what) {
  fprintf(stderr, "croft-init: %s: %s\n", what, strerror(errno));
  _exit(1);
}

void leave(int code) {
  /* When process 1 of a namespace ends, the kernel ends the others. Elsewhere we have to do it. */
  if (getpid() != 1) subreaper_kill(getpid(), is_subreaper);
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

/* The judging thread sends frames too. */
static pthread_mutex_t sending = PTHREAD_MUTEX_INITIALIZER;

void send_frame(uint8_t type, uint32_t id, uint8_t detail, const void *payload, uint32_t size) {
  struct frame frame = {size, id, type, detail, 0};
  if (size > CHUNK) return;
  /* One write per frame, or the server wakes up twice. */
  uint8_t whole[sizeof frame + CHUNK];
  memcpy(whole, &frame, sizeof frame);
  if (size > 0) memcpy(whole + sizeof frame, payload, size);
  pthread_mutex_lock(&sending);
  send_all(whole, sizeof frame + size);
  pthread_mutex_unlock(&sending);
}

void send_failure(uint32_t id, int error) {
  int32_t number = error;
  send_frame(FRAME_FAILED, id, 0, &number, sizeof number);
}
