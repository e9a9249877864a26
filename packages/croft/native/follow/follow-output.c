#define _GNU_SOURCE
#include "follow/follow-output.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "follow/follow.h"
#include "init/server-socket.h"
#include "init/init-frames.h"

static void (*while_waiting)(void);
static uint8_t outbox[sizeof(struct frame) + CHUNK];
static size_t used; /* bytes of the payload */
static uint32_t tree_id;
static const struct node *base; /* the directory that records in the outbox refer to */

void out_prepare(void (*idle)(void)) {
  while_waiting = idle;
}

static void wait_for_server(void) {
  struct pollfd polled[] = {{SOCKET, POLLOUT, 0}, {inotify, POLLIN, 0}};
  if (poll(polled, 2, -1) < 0 && errno != EINTR) die("poll");
  if (polled[0].revents == 0 && polled[1].revents != 0) while_waiting();
}

static void send_all(const uint8_t *bytes, size_t length) {
  while (length > 0) {
    ssize_t sent = send(SOCKET, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      wait_for_server();
      continue;
    }
    if (sent <= 0) _exit(0);
    bytes += sent;
    length -= (size_t)sent;
  }
}

void out_frame(uint8_t type, uint32_t id, uint8_t detail, const void *payload, uint32_t size) {
  uint8_t whole[sizeof(struct frame) + 64];
  const struct frame frame = {size, id, type, detail, 0};
  if (size > 64) return;
  memcpy(whole, &frame, sizeof frame);
  if (size > 0) memcpy(whole + sizeof frame, payload, size);
  send_all(whole, sizeof frame + size);
}

void out_begin(uint32_t id) {
  tree_id = id;
  used = 0;
  base = NULL;
}

void out_restart(void) {
  used = 0;
  base = NULL;
  out_frame(FOLLOW_RESTART, tree_id, 0, NULL, 0);
}

void out_flush(void) {
  const struct frame frame = {(uint32_t)used, tree_id, FOLLOW_SIGHTINGS, 0, 0};
  base = NULL;
  if (used == 0) return;
  memcpy(outbox, &frame, sizeof frame);
  send_all(outbox, sizeof frame + used);
  used = 0;
}

static size_t room_for(size_t length) {
  return (sizeof(struct sighting_record) + length + 7) & ~(size_t)7;
}

/* Appends a record. Returns where its name goes. */
static char *add(const struct sighting_record *record) {
  uint8_t *at = outbox + sizeof(struct frame) + used;
  const size_t size = room_for(record->length);
  memset(at + size - 8, 0, 8);
  memcpy(at, record, sizeof *record);
  used += size;
  return (char *)at + sizeof *record;
}

static uint8_t is_plain(const char *bytes, size_t length) {
  uint8_t all = 0;
  for (size_t i = 0; i < length; i++) all |= (uint8_t)bytes[i];
  return all < 0x80;
}

static void add_base(const struct node *directory) {
  node_path(directory, add(&(struct sighting_record){.kind = SIGHTING_BASE, .length = directory->path_length}));
  base = directory;
}

static uint8_t kind_of(mode_t mode) {
  if (S_ISREG(mode)) return SIGHTING_FILE;
  if (S_ISLNK(mode)) return SIGHTING_LINK;
  return S_ISDIR(mode) ? SIGHTING_DIRECTORY : SIGHTING_OTHER;
}

static int64_t to_ns(const struct timespec *time) {
  return (int64_t)((uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec);
}

static void make_room(const struct node *directory, size_t length) {
  if (used + room_for(length) + room_for(directory->path_length) > CHUNK) out_flush();
  if (base != directory) add_base(directory);
}

void out_listed(const struct node *directory) {
  make_room(directory, 0);
  add(&(struct sighting_record){.kind = SIGHTING_LISTED, .is_plain = 1});
}

void out_sighting(const struct node *directory, const char *name, size_t length, const struct stat *status) {
  struct sighting_record record = {.kind = SIGHTING_GONE, .length = (uint32_t)length, .is_plain = is_plain(name, length)};
  if (status != NULL) {
    record.kind = kind_of(status->st_mode);
    record.mode = status->st_mode & 07777;
    record.size = (uint64_t)status->st_size;
    record.inode = status->st_ino;
    record.mtime_ns = to_ns(&status->st_mtim);
    record.ctime_ns = to_ns(&status->st_ctim);
  }
  make_room(directory, length);
  memcpy(add(&record), name, length);
}
