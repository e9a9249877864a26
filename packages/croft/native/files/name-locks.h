#ifndef CROFT_NAME_LOCKS_H
#define CROFT_NAME_LOCKS_H

#include <errno.h>

/*
 * Locks between processes, by flock on small files in a directory of Croft's own. The kernel releases a lock when its
 * holder dies. No lock is a file of a workspace, because a command in a sandbox could hold that. These functions never
 * wait: `src/disk/durable/directory-locks.ts` waits, with a deadline.
 */

/* LOCK_HELD: another process has the lock. LOCKS_GONE: the directory of locks was removed. No call about files
   returns either errno. */
enum { LOCK_HELD = EALREADY, LOCKS_GONE = ENOLCK };

/*
 * Takes the lock file `name` in an open directory, and creates it if it is missing. Returns a descriptor, which
 * releases the lock when closed, or a negated errno: LOCK_HELD, LOCKS_GONE or another.
 */
int lock_file(int directory, const char *name);

/* Sets the directory of the locks that `lock_names` takes; -1 for none. */
void use_locks(int directory);

/* Returns the number of the lock for the names in an open directory, whatever path led there, or a negated errno. */
int lock_number(int directory);

/* Takes that lock, like `lock_file`. Returns -ENOSYS if no directory of locks is set. */
int lock_names(int directory);

#endif
