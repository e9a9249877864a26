/* A filter of system calls, put together of rules. Each is about one call, and begins and ends with its number loaded. */
#ifndef CROFT_FILTER_H
#define CROFT_FILTER_H

#include <linux/filter.h>

/* Forgets what there is. What is emitted before the first rule comes before all of them. */
void filter_begin(void);

void filter_emit(unsigned short code, unsigned int k, unsigned char yes, unsigned char no);

/* What is emitted next, so many instructions, is for that call alone. */
void filter_rule(int call, unsigned char length);

/* What no rule answers is allowed. 0, or -1 with errno if it is too long. */
int filter_finish(struct sock_fprog *filter);

#endif
