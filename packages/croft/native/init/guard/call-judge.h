/* Judges the system calls by which programs create, move and remove names. The seccomp filter hands these calls to a
   thread of the init that has no filter itself. The thread checks the names, makes the call in place of the program,
   and answers. So no program can change a name between the check and the call, and nothing becomes a git directory
   unnoticed.

   Only this thread touches what it owns: held files, copies, git directories. */
#ifndef CROFT_CALL_JUDGE_H
#define CROFT_CALL_JUDGE_H

#include <stddef.h>

extern const char *judged_workspace;

/* Directories in which programs may write, ended by NULL. */
extern const char *const *judged_writable;

/* Starts the thread. It keeps the capabilities that it needs; all others give theirs up afterwards. */
int judge_start(void);

/* From now on the thread answers calls from this listener. */
void judge_listen(int listener);

/* Called before a command starts. Ends the sandbox unless everything is still held. */
void judge_check(void);

/* Called after a command has ended. Reports what was held back meanwhile. */
void judge_tell_held(void);

/* Called when no program is left. Nothing has to be watched until the next command. */
void judge_rest(void);

/* Called while all programs are stopped. Reads the events that the kernel has so far. */
void judge_hear(void);

/* Sends a text to the server, once per command. */
void judge_tell(const char *text, size_t length);

#endif
