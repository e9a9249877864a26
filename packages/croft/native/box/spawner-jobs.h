/* The processes that the spawner started and that have not ended. */
#ifndef CROFT_SPAWNER_JOBS_H
#define CROFT_SPAWNER_JOBS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

int jobs_prepare(pid_t server);

/* Waits for the first `count` descriptors and for all jobs, and passes on what the jobs report. Returns the polled
   descriptors, the first ones first. */
struct pollfd *jobs_poll(const struct pollfd *first, int count);

/* A request consists of NUL-terminated strings: owner and group or empty strings, "gate" or an empty string, the
   number of the server's descriptor of the workspace, its path, its device:inode, the number of control groups, the
   file of each, and the arguments. Returns 0, or -1 with errno. */
int job_start(uint32_t id, const char *request, size_t length, int connection);
void job_let_run(uint32_t id);
void job_kill(uint32_t id);
void job_ended(pid_t pid);
void job_fail(uint32_t id, const char *why);

#endif
