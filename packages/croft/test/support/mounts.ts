import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';

/** Lists the mounts at or below a directory. */
export function mountsIn(path: string): string[] {
  const real = realpathSync(path);
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(real));
}

/** Unmounts everything below, as a restart of the machine would. A killed server leaves its forks mounted. */
export function unmountBelow(path: string): void {
  for (const line of mountsIn(path)) spawnSync('umount', ['-l', line.split(' ')[4] ?? '']);
}
