#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "init/commands/command-table.h"
#include "relay/deny-nscd.h"
#include "relay/relay.h"

static const char *proxy_path;
static pid_t relay;

int relay_prepare(const char *socket_path) {
  if (strcmp(socket_path, NO_NETWORK) == 0) return names_prepare();
  proxy_path = socket_path;
  return relay_listen(RELAY_PORT);
}

void relay_start(int listener) {
  if (proxy_path == NULL) return names_serve(listener);
  pid_t child = is_subreaper(0) ? fork() : -1;
  if (child == 0) {
    signal(SIGPIPE, SIG_IGN);
    relay_run(listener, proxy_path);
    _exit(1);
  }
  /* No process can be started: wait a little, because the listener stays readable. */
  if (child < 0) poll(NULL, 0, 5);
  else relay = (replace_subreaper(child, 0), child);
}

int relay_is_running(void) { return relay > 0; }

void relay_ended(pid_t pid) {
  if (pid == relay) relay = 0;
}
