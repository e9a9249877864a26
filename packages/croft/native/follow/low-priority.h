/* Work that gives way to programs that somebody waits for. */
#ifndef CROFT_LOW_PRIORITY_H
#define CROFT_LOW_PRIORITY_H

/* Runs `work` at a low priority and returns when it has ended. */
void run_with_low_priority(void (*work)(void));

#endif
