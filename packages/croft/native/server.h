/* The socket to the server, the only way in and out of the init. */
#ifndef CROFT_SERVER_H
#define CROFT_SERVER_H

#include <stdint.h>

#define SOCKET 3
#define CHUNK (64 * 1024) /* the most that one frame to the server carries */

/* Waits while the server does not read. */
void send_frame(uint8_t type, uint32_t id, uint8_t detail, const void *payload, uint32_t size);
void send_failure(uint32_t id, int error);

/* The server is gone, and with it goes everything in here. */
_Noreturn void leave(int code);

_Noreturn void die(const char *what);

#endif
