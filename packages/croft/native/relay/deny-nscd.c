#define _GNU_SOURCE
#include "relay/deny-nscd.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "init/server-socket.h"
#include "init/init-frames.h"
#include "relay/deny-dns.h"

/* The protocol of nscd, as the C library speaks it. */
#define SOCKET_PATH "/var/run/nscd/socket"
#define VERSION 2
enum { GETHOSTBYNAME = 4, GETHOSTBYNAMEv6 = 5, GETAI = 14 };

struct question {
  int32_t version, type, length; /* then the name with its NUL */
};

#define MAX_NAME 254 /* with the NUL */
#define MAX_CLIENTS 32
#define MAX_TOLD_EACH_SECOND 500

/* A connection whose question is not complete yet. A connection that never asks is replaced by a later one. */
struct client {
  int handle; /* 0: none */
  size_t length;
  uint8_t bytes[sizeof(struct question) + MAX_NAME];
};

static struct client clients[MAX_CLIENTS];
static unsigned next_client;
static int listener = -1;
/* Stands for the DNS server in epoll events. */
static struct client resolver;

static int open_listener(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SOCKET_PATH};
  int handle = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (handle < 0) return -1;
  if (bind(handle, (struct sockaddr *)&address, sizeof address) == 0 && listen(handle, MAX_CLIENTS) == 0) return handle;
  close(handle);
  return -1;
}

static int watch(int set, int handle, void *whose) {
  struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = whose}};
  return epoll_ctl(set, EPOLL_CTL_ADD, handle, &event);
}

int names_prepare(void) {
  int set = epoll_create1(EPOLL_CLOEXEC);
  if (set < 0) return -1;
  listener = open_listener();
  if (listener >= 0 && watch(set, listener, NULL) != 0) return close(set), -1;
  if (dns_handle() >= 0 && watch(set, dns_handle(), &resolver) != 0) return close(set), -1;
  return set;
}

/* --- reports --- */

static int ends_in(const char *name, const char *suffix) {
  size_t length = strlen(name), end = strlen(suffix);
  return length >= end && strcmp(name + length - end, suffix) == 0;
}

/* Names that exist on no machine, or only on this one, are not reported. */
static int is_host(const char *name) {
  static const char *const own[] = {".localhost", ".local", ".invalid", ".arpa", ".localdomain"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (ends_in(name, own[i])) return 0;
  return strchr(name, '.') != NULL;
}

/* Makes a name lower case, without a dot at its end. Returns 0 if it is no host name. */
static int tidy(char *name) {
  size_t length = strlen(name);
  if (length > 1 && name[length - 1] == '.') name[length - 1] = 0;
  for (char *at = name; *at != 0; at++) {
    if (!isalnum((unsigned char)*at) && strchr("-_.", *at) == NULL) return 0;
    *at = (char)tolower((unsigned char)*at);
  }
  return *name != 0 && *name != '.';
}

static int is_too_often(void) {
  static time_t second;
  static int count;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (now.tv_sec != second) second = now.tv_sec, count = 0;
  return ++count > MAX_TOLD_EACH_SECOND;
}

/* The payload of FRAME_HELD: rule, path and detail. */
static void tell(const char *name) {
  char text[sizeof NO_NETWORK + MAX_NAME + 1];
  if (!is_host(name) || is_too_often()) return;
  int length = snprintf(text, sizeof text, NO_NETWORK "%c%s%c", 0, name, 0);
  if (length > 0) send_frame(FRAME_HELD, 0, 0, text, (uint32_t)length);
}

static void tell_if_host(char *name) {
  if (tidy(name)) tell(name);
}

/* --- answers --- */

static void reply(int handle, const void *bytes, size_t length) {
  if (send(handle, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
}

/* localhost, the only name: 127.0.0.1 and ::1. */
static void reply_own(int handle) {
  struct {
    int32_t version, found, addresses, length, canonical, error;
    uint8_t bytes[4 + 16], families[2];
    char name[sizeof "localhost"];
  } answer = {VERSION, 1, 2, 20, sizeof "localhost", 0, {127, 0, 0, 1, [19] = 1}, {AF_INET, AF_INET6}, "localhost"};
  reply(handle, &answer, 6 * sizeof(int32_t) + 20 + 2 + sizeof answer.name);
}

static void answer(int handle, int type, char *name) {
  const int32_t no_address[] = {VERSION, 0, 0, 0, 0, HOST_NOT_FOUND};
  const int32_t no_host[] = {VERSION, 0, 0, 0, -1, -1, 0, HOST_NOT_FOUND};
  if (!tidy(name)) return;
  if (strcmp(name, "localhost") == 0) {
    if (type == GETAI) reply_own(handle);
    return;
  }
  tell(name);
  if (type == GETAI) reply(handle, no_address, sizeof no_address);
  else reply(handle, no_host, sizeof no_host);
}

/* Reads a question. Returns 0 while more is to come. Questions about users, groups and others get no answer, and the
   C library looks elsewhere. */
static int take_question(struct client *client) {
  struct question question;
  ssize_t length = recv(client->handle, client->bytes + client->length, sizeof client->bytes - client->length, 0);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (length <= 0) return -1;
  client->length += (size_t)length;
  if (client->length < sizeof question) return 0;
  memcpy(&question, client->bytes, sizeof question);
  if (question.version != VERSION || question.length < 2 || question.length > MAX_NAME) return -1;
  if (question.type != GETAI && question.type != GETHOSTBYNAME && question.type != GETHOSTBYNAMEv6) return -1;
  if (client->length < sizeof question + (size_t)question.length) return 0;
  char *name = (char *)client->bytes + sizeof question;
  if (name[question.length - 1] == 0) answer(client->handle, question.type, name);
  return -1;
}

static void end(struct client *client) {
  if (client->handle > 0) close(client->handle);
  *client = (struct client){0};
}

static void take_client(int set) {
  int handle = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (handle < 0) return;
  struct client *client = &clients[next_client++ % MAX_CLIENTS];
  end(client);
  client->handle = handle;
  if (watch(set, handle, client) != 0) end(client);
}

void names_serve(int set) {
  struct epoll_event events[MAX_CLIENTS + 2];
  int count = epoll_wait(set, events, MAX_CLIENTS + 2, 0);
  for (int i = 0; i < count; i++) {
    struct client *client = events[i].data.ptr;
    if (client == &resolver) dns_serve(tell_if_host);
    else if (client != NULL && client->handle > 0 && take_question(client) != 0) end(client);
  }
  /* Accepted after the others are served: a new connection may replace an old one that has an event here. */
  for (int i = 0; i < count; i++)
    if (events[i].data.ptr == NULL) take_client(set);
}
