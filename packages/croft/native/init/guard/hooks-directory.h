/* The hooks directory of a repository. */
#ifndef CROFT_HOOKS_DIRECTORY_H
#define CROFT_HOOKS_DIRECTORY_H

#include <stddef.h>

/* Creates a new, empty `hooks` in a git directory, in place of one that holds only samples. Returns 0 or -1. */
int hooks_renew(int directory);

/* Whether it is the name of a sample, which git does not execute. */
int is_sample(const char *name);

/* Whether the directory holds no other names than these. */
int lists_only(int directory, const char *const *names, size_t count);

#endif
