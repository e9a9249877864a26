/* The only way out of a sandbox with a restricted network: carries bytes between a port inside and the proxy's
   socket outside, without understanding them. */
#ifndef CROFT_RELAY_H
#define CROFT_RELAY_H

#include <stdint.h>
#include <sys/types.h>

#define RELAY_PORT 3128

/* Opens a listener on 127.0.0.1 of this network namespace, close-on-exec. Returns -1 with errno on failure. */
int relay_listen(uint16_t port);

/* Relays every connection to a new connection to `socket_path`. Runs in a process of its own: keeps only the
   listener and the standard streams open, and returns only on failure, -1 with errno. */
int relay_run(int listener, const char *socket_path);

/* --- in the init --- */

/* Opens the listener for `socket_path` at RELAY_PORT. Call relay_start when it is readable. For NO_NETWORK of
   deny-nscd.h there is no relay, and the init answers itself. */
int relay_prepare(const char *socket_path);

/* Starts the relay process on the first connection, and again if it was ended. */
void relay_start(int listener);
int relay_is_running(void);
void relay_ended(pid_t pid);

#endif
