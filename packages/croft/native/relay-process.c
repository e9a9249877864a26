#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "command.h"
#include "relay.h"

static const char *proxy_path;
static pid_t relay;

int relay_prepare(const char *socket_path) {
  proxy_path = socket_path;
  return relay_listen(RELAY_PORT);
}

void relay_start(int listener) {
  pid_t child = is_keeper(0) ? fork() : -1;
  if (child == 0) {
    signal(SIGPIPE, SIG_IGN);
    relay_run(listener, proxy_path);
    _exit(1);
  }
  /* Out of processes: whoever asks waits a little, and so does the loop, which would be told again at once. */
  if (child < 0) poll(NULL, 0, 5);
  else relay = (keep_in_mind(child, 0), child);
}

int relay_is_running(void) { return relay > 0; }

void relay_ended(pid_t pid) {
  if (pid == relay) relay = 0;
}
