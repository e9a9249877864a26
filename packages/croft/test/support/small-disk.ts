import { execFileSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';
import { makeDirectory } from './harness.ts';

/** A directory of a fixture, which unmounts what is below it. */
type Fixture = Pick<ReturnType<typeof makeDirectory>, 'at'>;

/** Mounts a new disk of its own at `name` in a fixture, and returns its path. */
export function mountDisk(fixture: Fixture, name: string, size: string): string {
  const [image, path] = [fixture.at(`${name}.img`), fixture.at(name)];
  mkdirSync(path);
  execFileSync('truncate', ['--size', size, image]);
  execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
  execFileSync('mount', ['-o', 'loop', image, path]);
  return path;
}

export function freeOf(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** Takes root, a loop device and the programs for it. */
export function canMountDisks(): boolean {
  using fixture = makeDirectory();
  const image = fixture.at('disk.img');
  const script = `truncate --size 8M '${image}' && mkfs.ext4 -q -F '${image}' && mount -o loop '${image}' /mnt`;
  try {
    execFileSync('unshare', ['--mount', 'sh', '-c', script], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
