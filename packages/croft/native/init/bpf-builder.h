/* Builds a seccomp filter from rules. Each rule is about one system call, and starts and ends with the call number
   loaded. */
#ifndef CROFT_BPF_BUILDER_H
#define CROFT_BPF_BUILDER_H

#include <linux/filter.h>

/* Starts a new filter. Instructions emitted before the first rule run before all rules. */
void filter_begin(void);

void filter_emit(unsigned short code, unsigned int k, unsigned char yes, unsigned char no);

/* The next `length` instructions apply to that call only. */
void filter_rule(int call, unsigned char length);

/* Finishes the filter, which allows every call that no rule answers. Returns 0, or -1 with errno if it is too long. */
int filter_finish(struct sock_fprog *filter);

#endif
