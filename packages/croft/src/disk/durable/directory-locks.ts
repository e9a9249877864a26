import { closeSync, readFileSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { getSystemErrorName } from 'node:util';
import { AppError } from '@croft/protocol';
import { type OpenedDirectory, openOrMakeOwn, openTemporaryBase } from '../../lib/files/temporary-base.ts';
import { type Addon, addon } from '../paths/native-addon.ts';

/*
 * Two Croft processes may change one tree: two editors on one repository, or a server and an editor. Each checks what
 * is there, and then replaces it. A lock around both steps makes the second process see the change of the first.
 *
 * One lock covers the names in one directory, identified by device and inode: processes that opened different parents,
 * or reach the directory by another mount, share it. Locks are files below `<dir>/croft-<uid>`, mode 0700, in the first
 * directory of the list below that belongs to this user: processes of one user that see the same `/dev/shm` share them,
 * whatever their TMPDIR and data directory. No sandbox sees that directory. Processes of different users, or in
 * containers of their own, share no lock: only the check itself separates them, which leaves a gap of microseconds.
 */

/** Fixed directories, because TMPDIR differs between two terminals. `undefined`, the last resort, is TMPDIR. */
const lockParents = ['/dev/shm', '/tmp', '/var/tmp', undefined];
const defaultWaitMs = 10_000;
const [firstPauseMs, longestPauseMs] = [1, 16];
const { EALREADY, ENOLCK } = constants.errno;

let opened: OpenedDirectory | 'none' | undefined;

/** The directory of the locks. Opened on first use, and again after somebody removed it. */
function locksOf({ useLocks }: Addon): OpenedDirectory | undefined {
  if (opened === undefined) {
    opened = openLocks() ?? 'none';
    useLocks(opened === 'none' ? -1 : opened.fd);
  }
  return opened === 'none' ? undefined : opened;
}

function openLocks(): OpenedDirectory | undefined {
  for (const parent of lockParents) {
    try {
      using base = openTemporaryBase(parent);
      const locks = base && openOrMakeOwn(base, 'writers', 0o700);
      if (locks) return locks;
    } catch {
      // The directory is missing or not safe.
    }
  }
  return undefined;
}

/** Makes the next lock open the directory again. The old handle stays open, because a thread may be using it. */
function reopenLocks(): void {
  opened = undefined;
}

export interface LockWait {
  /** The path as the caller wrote it, for the error. */
  readonly path: string;
  /** Handle of the directory whose names are changed. */
  directoryFd(): number;
  /** Defaults to ten seconds. */
  readonly waitMs?: number | undefined;
}

/**
 * Repeats `attempt`, which takes the lock itself and returns an errno, until the errno is not "locked". Throws
 * `E_TIMEOUT` if another process holds the lock for too long.
 */
export async function retryWhileLocked(
  attempt: (given: Addon) => number | Promise<number>,
  given: Addon,
  { path, directoryFd, waitMs = defaultWaitMs }: LockWait,
): Promise<number> {
  const endsAt = performance.now() + waitMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const locks = locksOf(given);
    const errno = await attempt(given);
    if (errno === ENOLCK) reopenLocks();
    else if (errno !== EALREADY) return errno;
    if (performance.now() > endsAt)
      throw lockTimeout(path, waitMs, locks && findHolder(locks, given.lockNumber(directoryFd())));
    await setTimeout(pauseMs);
  }
}

/**
 * Runs `work` while no other process changes names in these directories. `directories` is called before each attempt,
 * and `work` runs synchronously after the successful one, so the handles need to be valid only until the next await.
 */
export async function withDirectoryLocks<T>(
  path: string,
  directoryFds: () => readonly number[],
  work: () => T,
  waitMs?: number,
): Promise<T> {
  if (!addon) return work();
  let done: { readonly result: T } | undefined;
  const attempt = (given: Addon): number => {
    using locks = takeLocks(given, directoryFds());
    if (locks.errno === 0) done = { result: work() };
    return locks.errno;
  };
  const errno = await retryWhileLocked(attempt, addon, { path, directoryFd: () => directoryFds()[0] ?? -1, waitMs });
  if (!done) throw failure(errno);
  return done.result;
}

/** Takes all locks or none, so that two callers that want the same locks never deadlock. */
function takeLocks(given: Addon, directoryFds: readonly number[]): { readonly errno: number } & Disposable {
  const handles: number[] = [];
  const release = () => {
    for (const handle of handles.splice(0)) closeSync(handle);
  };
  const locks = locksOf(given);
  const numbers = locks ? [...new Set(directoryFds.map((directory) => given.lockNumber(directory)))] : [];
  for (const number of numbers) {
    const answer = number < 0 || !locks ? number : given.lock(locks.fd, String(number));
    if (answer >= 0) handles.push(answer);
    else {
      release();
      return { errno: -answer, [Symbol.dispose]: release };
    }
  }
  return { errno: 0, [Symbol.dispose]: release };
}

function failure(errno: number): Error {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`the lock of a directory could not be taken: ${code}`), { code, syscall: 'flock' });
}

function lockTimeout(path: string, waitMs: number, pid: number | undefined): AppError {
  const holder = pid === undefined ? 'another Croft process' : `the Croft process ${pid}`;
  return new AppError(
    'E_TIMEOUT',
    `${path} was not changed: ${holder} on this machine has held the lock of its directory for ${waitMs / 1000} seconds`,
    {
      details: { path, ...(pid !== undefined && { pid }) },
      hint: 'Make the same call again. If it fails again, that process is stopped or hangs: ask the person to end or continue it.',
    },
  );
}

/**
 * The process that holds a lock, according to `/proc/locks`. `undefined` if it is not listed or not visible from here.
 */
function findHolder({ fd }: OpenedDirectory, number: number): number | undefined {
  try {
    const { ino } = statSync(`/proc/self/fd/${fd}/${number}`);
    const pattern = new RegExp(`^\\d+: FLOCK +\\S+ +WRITE +(\\d+) +\\S+:${ino} `, 'm');
    const pid = Number(pattern.exec(readFileSync('/proc/locks', 'utf8'))?.[1] ?? 0);
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}
