#define _GNU_SOURCE
#include "relay/relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_PAIRS 128
#define BUFFER (64 * 1024)

enum { INSIDE, OUTSIDE };

/* One direction: bytes read from one end and not yet written to the other. */
struct flow {
  uint8_t *bytes;
  size_t from, to;
  int has_ended; /* the end of the input was read */
  int is_shut;   /* and was passed on to the other end */
};

struct pair {
  int used;
  int ends[2];
  struct flow flows[2]; /* indexed by the end they come from */
  uint8_t *memory;
};

static struct pair pairs[MAX_PAIRS];

static const char no_proxy[] =
    "HTTP/1.1 503 The network proxy of this sandbox is gone\r\n"
    "Content-Type: text/plain\r\nConnection: close\r\nContent-Length: 43\r\n\r\n"
    "The network proxy of this sandbox is gone.\n";

/* --- opening --- */

static int bring_up_loopback(int any_socket) {
  struct ifreq request = {.ifr_name = "lo"};
  if (ioctl(any_socket, SIOCGIFFLAGS, &request) != 0) return -1;
  if (request.ifr_flags & IFF_UP) return 0;
  request.ifr_flags |= IFF_UP;
  return ioctl(any_socket, SIOCSIFFLAGS, &request);
}

int relay_listen(uint16_t port) {
  const int yes = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return -1;
  if (bring_up_loopback(listener) == 0 && setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
      bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, MAX_PAIRS) == 0)
    return listener;
  int error = errno;
  close(listener);
  errno = error;
  return -1;
}

static int connect_proxy(const struct sockaddr_un *address) {
  int proxy = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  /* A UNIX socket connects immediately or fails. */
  if (proxy < 0 || connect(proxy, (const struct sockaddr *)address, sizeof *address) == 0) return proxy;
  close(proxy);
  return -1;
}

static struct pair *free_pair(void) {
  for (struct pair *pair = pairs; pair < pairs + MAX_PAIRS; pair++)
    if (!pair->used) return pair;
  return NULL;
}

static void refuse(int inside) {
  if (send(inside, no_proxy, sizeof no_proxy - 1, MSG_NOSIGNAL | MSG_DONTWAIT) > 0) shutdown(inside, SHUT_WR);
  close(inside);
}

static void open_pair(struct pair *pair, int inside, const struct sockaddr_un *address) {
  const int yes = 1;
  int outside = connect_proxy(address);
  if (outside < 0) return refuse(inside);
  /* mmap, so that a connection that ended keeps no memory. */
  uint8_t *memory = mmap(NULL, 2 * BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    close(outside);
    return refuse(inside);
  }
  setsockopt(inside, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  *pair = (struct pair){.used = 1, .ends = {inside, outside}, .memory = memory};
  pair->flows[INSIDE].bytes = memory;
  pair->flows[OUTSIDE].bytes = memory + BUFFER;
}

static void close_pair(struct pair *pair) {
  close(pair->ends[INSIDE]);
  close(pair->ends[OUTSIDE]);
  munmap(pair->memory, 2 * BUFFER);
  pair->used = 0;
}

/* --- carrying --- */

static int is_later(void) { return errno == EAGAIN || errno == EINTR; }

/* Reads only into an empty buffer: a full one is what slows a fast sender down. */
static int fill(struct flow *flow, int from) {
  if (flow->has_ended || flow->from < flow->to) return 0;
  ssize_t length = recv(from, flow->bytes, BUFFER, 0);
  if (length < 0) return is_later() ? 0 : -1;
  flow->from = 0;
  flow->to = (size_t)length;
  if (length == 0) flow->has_ended = 1;
  return 0;
}

static void drain(struct flow *flow, int to) {
  while (flow->from < flow->to) {
    ssize_t length = send(to, flow->bytes + flow->from, flow->to - flow->from, MSG_NOSIGNAL);
    if (length < 0 && is_later()) return;
    /* The receiver is gone, but its own bytes may still be on the way: only this direction ends. */
    if (length < 0) flow->has_ended = 1;
    flow->from = length < 0 ? flow->to : flow->from + (size_t)length;
  }
  if (!flow->has_ended || flow->is_shut) return;
  flow->is_shut = 1;
  /* One side may stop sending and go on receiving. */
  shutdown(to, SHUT_WR);
}

static int is_gone(const struct flow *flow, short happened) { return flow->is_shut && happened & (POLLHUP | POLLERR); }

/* Carries bytes in both directions. Returns 0, or -1 when the pair is done. */
static int carry(struct pair *pair, const struct pollfd *polled) {
  for (int end = INSIDE; end <= OUTSIDE; end++) {
    if (is_gone(&pair->flows[end], polled[end].revents) || fill(&pair->flows[end], pair->ends[end]) != 0) return -1;
    drain(&pair->flows[end], pair->ends[!end]);
  }
  return pair->flows[INSIDE].is_shut && pair->flows[OUTSIDE].is_shut ? -1 : 0;
}

/* --- the loop --- */

static struct pollfd watch(const struct pair *pair, int end) {
  const struct flow *out = &pair->flows[end], *in = &pair->flows[!end];
  short events = 0;
  if (!out->has_ended && out->from == out->to) events |= POLLIN;
  if (in->from < in->to) events |= POLLOUT;
  /* poll reports a hangup always and forever, so a closed end is polled only after all its bytes were passed on. */
  return (struct pollfd){events == 0 && !out->is_shut ? -1 : pair->ends[end], events, 0};
}

/* Each pair has two fixed entries, so that results are found by index. */
static void gather(struct pollfd *polled, int listener) {
  polled[0] = (struct pollfd){free_pair() == NULL ? -1 : listener, POLLIN, 0};
  for (int i = 0; i < MAX_PAIRS; i++)
    for (int end = INSIDE; end <= OUTSIDE; end++)
      polled[1 + 2 * i + end] = pairs[i].used ? watch(&pairs[i], end) : (struct pollfd){-1, 0, 0};
}

static void accept_all(int listener, const struct sockaddr_un *address) {
  for (struct pair *pair; (pair = free_pair()) != NULL;) {
    int inside = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    /* Without free descriptors or memory, poll would report the same connection again at once. */
    if (inside < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) poll(NULL, 0, 10);
    if (inside < 0) return;
    open_pair(pair, inside, address);
  }
}

/* Closes everything else: it belongs to the parent process. */
static int keep_only(int handle) {
  if (handle > 3 && syscall(SYS_close_range, 3, (unsigned)handle - 1, 0) != 0) return -1;
  return (int)syscall(SYS_close_range, (unsigned)handle + 1, ~0U, 0);
}

int relay_run(int listener, const char *socket_path) {
  static struct pollfd polled[1 + 2 * MAX_PAIRS];
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(socket_path) >= sizeof address.sun_path) return errno = ENAMETOOLONG, -1;
  strcpy(address.sun_path, socket_path);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (keep_only(listener) != 0) return -1;

  for (;;) {
    gather(polled, listener);
    if (poll(polled, 1 + 2 * MAX_PAIRS, -1) < 0 && errno != EINTR) return -1;
    for (int i = 0; i < MAX_PAIRS; i++) {
      const struct pollfd *ends = &polled[1 + 2 * i];
      if ((ends[INSIDE].revents || ends[OUTSIDE].revents) && carry(&pairs[i], ends) != 0) close_pair(&pairs[i]);
    }
    if (polled[0].revents) accept_all(listener, &address);
  }
}
