import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';

/** What is mounted at or below a directory, as the kernel lists it. */
export function mountsIn(path: string): string[] {
  const real = realpathSync(path);
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(real));
}

/** As after a start of the machine, and before a directory is removed: a server that was killed leaves forks mounted. */
export function unmountBelow(path: string): void {
  for (const line of mountsIn(path)) spawnSync('umount', ['-l', line.split(' ')[4] ?? '']);
}
