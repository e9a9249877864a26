/* What the spawner has started and not seen end. */
#ifndef CROFT_JOBS_H
#define CROFT_JOBS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

int jobs_prepare(pid_t server);

/* Waits for the first `count` and for all jobs, and passes on what these say. Answers the first. */
struct pollfd *jobs_poll(const struct pollfd *first, int count);

/* A request is NUL-terminated: owner and group or nothing, "gate" or nothing, the number of the server's handle of the
   workspace, its path, its device:inode, how many control groups there are, the file of each, and the arguments. 0, or
   -1 with errno. */
int job_start(uint32_t id, const char *request, size_t length, int connection);
void job_let_run(uint32_t id);
void job_kill(uint32_t id);
void job_ended(pid_t pid);
void job_fail(uint32_t id, const char *why);

#endif
