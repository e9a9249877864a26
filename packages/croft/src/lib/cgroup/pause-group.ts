import { readFileSync } from 'node:fs';
import type { Group } from './group.ts';

/** New processes may start while others are stopped; a pass that finds none ends it. */
const maxPasses = 100;

/**
 * Stops every process of a group. The returned function lets them continue. Signals and not the kernel's freezer: that
 * is a hierarchy of its own in version 1, which few hosts delegate.
 */
export function pauseGroup({ processIds }: Pick<Group, 'processIds'>): () => void {
  const seen = new Set<number>();
  const stopped = new Set<number>();
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const fresh = processIds().filter((pid) => !seen.has(pid));
    if (fresh.length === 0) break;
    for (const pid of fresh) {
      seen.add(pid);
      // A program may have stopped another by itself, which must stay so.
      if (!isStopped(pid) && send(pid, 'SIGSTOP')) stopped.add(pid);
    }
  }
  return () => {
    // A number may be of another process by now.
    for (const pid of processIds()) if (stopped.has(pid)) send(pid, 'SIGCONT');
  };
}

function isStopped(pid: number): boolean {
  try {
    return /^\d+ \(.*\) [Tt] /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Returns whether the process was there. */
function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
