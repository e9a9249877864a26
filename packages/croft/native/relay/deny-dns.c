#define _GNU_SOURCE
#include "relay/deny-dns.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 53
#define MAX_MESSAGE 512
#define MAX_NAME 254 /* with the NUL */
#define HEADER 12
/* Limits one round, because others wait for the init too. */
#define MAX_AT_ONCE 16

enum { TYPE_A = 1, TYPE_AAAA = 28, NO_SUCH_NAME = 3 };

static int handle = -1;

void dns_open(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (handle < 0 || bind(handle, (struct sockaddr *)&address, sizeof address) == 0) return;
  close(handle);
  handle = -1;
}

int dns_handle(void) { return handle; }

/* Reads the labels of a name. Returns where they end, or 0 if they are invalid. Compression pointers are not
   allowed. */
static size_t read_name(const uint8_t *message, size_t length, char *name) {
  size_t at = HEADER, used = 0;
  while (at < length && message[at] != 0) {
    const size_t label = message[at++];
    if (label > 63 || at + label >= length || used + label + 1 >= MAX_NAME) return 0;
    if (memchr(message + at, 0, label) != NULL) return 0;
    memcpy(name + used, message + at, label);
    used += label;
    name[used++] = '.';
    at += label;
  }
  name[used] = 0;
  return at < length ? at + 1 : 0;
}

/* Reads a query with one question. Returns where the question ends, or 0 if the message is no such query. */
static size_t read_query(const uint8_t *message, size_t length, char *name) {
  const int is_query = length > HEADER && (message[2] & 0xf8) == 0 && message[4] == 0 && message[5] == 1;
  const size_t end = is_query ? read_name(message, length, name) : 0;
  return end != 0 && end + 4 <= length ? end + 4 : 0;
}

static int asks_for_address(const uint8_t *type) { return type[0] == 0 && (type[1] == TYPE_A || type[1] == TYPE_AAAA); }

/* Sends the question back with the answer in the header. */
static void refuse(uint8_t *message, size_t end, const struct sockaddr_in *asker) {
  message[2] = (uint8_t)(0x80 | (message[2] & 1));
  message[3] = 0x80 | NO_SUCH_NAME;
  memset(message + 6, 0, HEADER - 6);
  if (sendto(handle, message, end, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)asker, sizeof *asker) < 0) return;
}

void dns_serve(void (*tell)(char *name)) {
  uint8_t message[MAX_MESSAGE];
  char name[MAX_NAME];
  for (int i = 0; i < MAX_AT_ONCE; i++) {
    struct sockaddr_in asker = {0};
    socklen_t size = sizeof asker;
    ssize_t length = recvfrom(handle, message, sizeof message, MSG_DONTWAIT, (struct sockaddr *)&asker, &size);
    if (length < 0) return;
    const size_t end = read_query(message, (size_t)length, name);
    if (end == 0) continue;
    /* Reported before the answer: a program that has its answer may end before the report arrives. */
    if (asks_for_address(message + end - 4)) tell(name);
    refuse(message, end, &asker);
  }
}
