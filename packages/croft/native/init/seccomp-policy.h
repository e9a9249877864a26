/* The system calls that no process in a sandbox may make. The filter is loaded once, inherited by all and never
   removed. */
#ifndef CROFT_SECCOMP_POLICY_H
#define CROFT_SECCOMP_POLICY_H

#include <linux/seccomp.h>

/* Sets no_new_privs and loads the filter. Returns 0, or -1 with errno. `listener` becomes readable when a call waits
   to be refused or judged. */
int seccomp_load(int *listener);

/* Loads the filter for one search, beside and after which other searches run. Returns 0, or -1 with errno. */
int seccomp_load_for_search(void);

/* Returns the name of a call that must be refused and sets `error`, or NULL for a call that must be judged. */
const char *seccomp_refusal(const struct seccomp_data *data, int *error);

#endif
