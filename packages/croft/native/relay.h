/* The one way out of a sandbox whose network is restricted: carries bytes between a port inside and the proxy's
   socket outside, and understands none of them. */
#ifndef CROFT_RELAY_H
#define CROFT_RELAY_H

#include <stdint.h>
#include <sys/types.h>

#define RELAY_PORT 3128

/* A listener on 127.0.0.1 of this network namespace, or -1 with errno. Close on exec. */
int relay_listen(uint16_t port);

/* Relays every connection to a new one to `socket_path`. For a process of its own: keeps nothing open but the listener
   and the standard streams, and returns only on failure, -1 with errno. */
int relay_run(int listener, const char *socket_path);

/* --- in the init --- */

/* The listener for `socket_path` at RELAY_PORT. When it becomes readable, relay_start. */
int relay_prepare(const char *socket_path);

/* In a process of its own, made when somebody first asks for it, and again if somebody ended it. */
void relay_start(int listener);
int relay_is_running(void);
void relay_ended(pid_t pid);

#endif
