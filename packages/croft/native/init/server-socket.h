/* The socket to the server, the only way in and out of the init. */
#ifndef CROFT_SERVER_SOCKET_H
#define CROFT_SERVER_SOCKET_H

#include <stdint.h>

#define SOCKET 3
#define CHUNK (64 * 1024) /* largest payload of one frame to the server */

/* Blocks while the server does not read. */
void send_frame(uint8_t type, uint32_t id, uint8_t detail, const void *payload, uint32_t size);
void send_failure(uint32_t id, int error);

/* Called when the server is gone. Ends everything in the sandbox. */
_Noreturn void leave(int code);

_Noreturn void die(const char *what);

#endif
