#define _GNU_SOURCE
#include "follow/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "follow/follow-output.h"
#include "follow/followed-tree.h"
#include "follow/scan-tree.h"
#include "init/server-socket.h"
#include "init/init-frames.h"

#define MAX_ORDER (8 * 1024) /* longer than any path that the kernel returns */
/* A tree that is written to all the time wakes us this often. The queue of the kernel lasts longer. */
#define REST_MS 20

static struct tree *trees;
static pid_t server;
static size_t max_dirty;

/* --- inotify events --- */

static void give_up_following(struct tree *tree) {
  tree->is_everything_dirty = 1;
  dirty_free(&tree->dirty);
}

static void mark(struct node *directory, const char *name, size_t length) {
  struct tree *tree = directory->tree;
  if (tree->is_everything_dirty || directory->is_to_drop) return;
  if (dirty_add(&tree->dirty, max_dirty, directory, name, length) != 0) give_up_following(tree);
}

/* Marks all names of a file, of which there may be tens of thousands: once per scan is enough. */
static void hear_of_file(struct watch *watch) {
  if (watch->heard == scan_number) return;
  for (struct node *node = watch->nodes; node != NULL; node = node->next_watched)
    if (!node->is_directory) mark(node->parent, node->name, node->length);
  watch->heard = scan_number;
}

/* Events without a name are of files. What happens to a directory is reported by its parent. */
static void hear_of(struct watch *watch, const char *name, size_t length) {
  if (length == 0) return hear_of_file(watch);
  for (struct node *node = watch->nodes; node != NULL; node = node->next_watched)
    if (node->is_directory) mark(node, name, length);
}

static void lose(struct watch *watch) {
  for (struct node *node = watch->nodes; node != NULL; node = node->next_watched)
    if (node->parent == NULL) give_up_following(node->tree);
  watch_forget(watch);
}

static void hear(const struct inotify_event *event) {
  if ((event->mask & IN_Q_OVERFLOW) != 0)
    for (struct tree *tree = trees; tree != NULL; tree = tree->next) give_up_following(tree);
  struct watch *watch = watch_find(event->wd);
  if (watch == NULL) return;
  if ((event->mask & IN_IGNORED) != 0) lose(watch);
  else hear_of(watch, event->name, event->len == 0 ? 0 : strnlen(event->name, event->len));
}

/* Reads the events that are queued now, but not those that arrive meanwhile, which might never end. */
static void hear_all(void) {
  static _Alignas(struct inotify_event) char events[32 * 1024];
  int left = 0;
  if (inotify < 0) return;
  if (ioctl(inotify, FIONREAD, &left) != 0) die("inotify");
  while (left > 0) {
    ssize_t got = read(inotify, events, sizeof events);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    left -= (int)got;
    for (ssize_t at = 0; at < got;) {
      const struct inotify_event *event = (struct inotify_event *)(events + at);
      at += (ssize_t)(sizeof *event + event->len);
      hear(event);
    }
  }
}

static void tell_of_changes(void) {
  for (struct tree *tree = trees; tree != NULL; tree = tree->next) {
    if (!tree->wants_notice || tree->is_noticed || (tree->dirty.count == 0 && !tree->is_everything_dirty)) continue;
    tree->is_noticed = 1;
    out_frame(FOLLOW_CHANGED, tree->id, 0, NULL, 0);
  }
}

/* --- requests of the server --- */

static void fail(uint32_t id, int error) {
  const int32_t number = error;
  out_frame(FOLLOW_FAILED, id, 0, &number, sizeof number);
}

static struct tree **find_tree(uint32_t id) {
  struct tree **tree = &trees;
  while (*tree != NULL && (*tree)->id != id) tree = &(*tree)->next;
  return tree;
}

/* Opens the directory that the server has open. */
static int open_root(const struct follow_open *order, const char *root_path, struct stat *status) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%u", server, order->handle);
  int handle = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) handle = open(root_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (handle < 0 || fstat(handle, status) != 0) return -1;
  if (status->st_dev == order->device && status->st_ino == order->inode) return handle;
  close(handle);
  return errno = ESTALE, -1;
}

static void add_tree(uint32_t id, int handle, const struct stat *status) {
  struct tree *tree = calloc(1, sizeof *tree);
  if (tree == NULL || (tree->root = node_add(tree, NULL, "", 0)) == NULL) die("memory");
  *tree = (struct tree){.id = id, .handle = handle, .device = status->st_dev, .root = tree->root, .next = trees};
  tree->root->inode = status->st_ino;
  tree->root->is_directory = 1;
  tree->is_everything_dirty = 1;
  trees = tree;
  out_frame(FOLLOW_OPENED, id, 0, NULL, 0);
}

static void open_tree(uint32_t id, const uint8_t *payload, size_t size) {
  struct follow_open order;
  struct stat status;
  if (size <= sizeof order || payload[size - 1] != 0 || *find_tree(id) != NULL) _exit(2);
  memcpy(&order, payload, sizeof order);
  const int handle = open_root(&order, (const char *)payload + sizeof order, &status);
  if (handle < 0) fail(id, errno);
  else add_tree(id, handle, &status);
}

static void close_tree(struct tree **slot) {
  struct tree *tree = *slot;
  *slot = tree->next;
  dirty_free(&tree->dirty);
  node_drop(tree->root);
  close(tree->handle);
  free(tree);
  /* Other trees may get watches again. */
  for (struct tree *other = trees; other != NULL; other = other->next) {
    if (other->is_unwatched) other->is_everything_dirty = 1;
  }
}

static void take(struct tree *tree) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  const int64_t at = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
  hear_all();
  out_begin(tree->id);
  const int is_whole = scan_tree(tree);
  if (is_whole < 0) return fail(tree->id, errno);
  out_flush();
  const uint8_t detail = (uint8_t)((is_whole ? TAKEN_WHOLE : 0) | (tree->is_unwatched ? TAKEN_POLLED : 0));
  out_frame(FOLLOW_TAKEN, tree->id, detail, &at, sizeof at);
}

static void obey(const struct frame *frame, const uint8_t *payload) {
  if (frame->type == FOLLOW_OPEN) return open_tree(frame->id, payload, frame->size);
  struct tree **tree = find_tree(frame->id);
  /* The tree could not be opened, which was reported. */
  if (*tree == NULL) return;
  if (frame->type == FOLLOW_TAKE) return take(*tree);
  if (frame->type == FOLLOW_CLOSE) return close_tree(tree);
  if (frame->type == FOLLOW_NOTIFY) (*tree)->wants_notice = frame->detail != 0;
}

static void take_orders(void) {
  static uint8_t inbox[sizeof(struct frame) + MAX_ORDER];
  static size_t length;
  const ssize_t got = read(SOCKET, inbox + length, sizeof inbox - length);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) _exit(0);
  length += (size_t)got;
  size_t from = 0;
  for (struct frame frame; length - from >= sizeof frame; from += sizeof frame + frame.size) {
    memcpy(&frame, inbox + from, sizeof frame);
    if (frame.size > MAX_ORDER || frame.zero != 0) _exit(2);
    if (length - from < sizeof frame + frame.size) break;
    obey(&frame, inbox + from + sizeof frame);
  }
  memmove(inbox, inbox + from, length - from);
  length -= from;
}

/* --- the loop --- */

static void serve(void) {
  struct pollfd polled[] = {{SOCKET, POLLIN, 0}, {inotify, POLLIN, 0}};
  if (poll(polled, 2, -1) < 0 && errno != EINTR) die("poll");
  if (polled[1].revents != 0) hear_all();
  if (polled[0].revents != 0) take_orders();
  tell_of_changes();
  if (polled[1].revents != 0) poll(polled, 1, REST_MS);
}

void follow_serve(unsigned long most_dirty, unsigned long most_watches) {
  struct rlimit files;
  max_dirty = most_dirty;
  server = getppid();
  syscall(SYS_close_range, SOCKET + 1, ~0U, 0);
  if (fcntl(SOCKET, F_SETFD, FD_CLOEXEC) != 0) die("no socket");
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  watches_prepare(most_watches);
  out_prepare(hear_all);
  const uint32_t version = WIRE_VERSION;
  out_frame(FOLLOW_READY, 0, 0, &version, sizeof version);
  for (;;) serve();
}
