import { readFileSync } from 'node:fs';
import { findProgram } from '../lib/find-program.ts';
import { runProgramNow, spawnProgram } from '../lib/spawn.ts';

export interface OverlayMount {
  /** An open handle of what is shown where nothing was written. */
  readonly lower: number;
  /** An open handle of the directory that has `upper` and `work`. */
  readonly place: number;
  /** Where it is seen: a path of ours. */
  readonly target: string;
  /** Nothing of it has to outlive a power cut. */
  readonly isFleeting: boolean;
}

const maxWords = 2000;

/**
 * Renames of directories work as elsewhere (`redirect_dir`); a copied file is a whole one (`metacopy`); nothing of
 * another mount is relied on (`index`). What such a mount notes about its files is in attributes that only the host's
 * root may set, so no file of an agent can look like one of them.
 */
const overlayOptions = 'nosuid,nodev,redirect_dir=on,metacopy=off,index=off';

/** Throws an `Error` with the words of the kernel where this host or this file system has no overlays. */
export async function mountOverlay(mount: OverlayMount): Promise<void> {
  await run('mount', toArguments(mount), [mount.place, mount.lower]);
}

/** The same while everything waits: for a workspace that is opened. */
export function mountOverlayNow(mount: OverlayMount): void {
  const program = mustFind('mount');
  const stdio = ['ignore', 'ignore', 'pipe', mount.place, mount.lower] as const;
  const { code, complaint } = runProgramNow([program, ...toArguments(mount)], { env: { LANG: 'C' }, stdio });
  if (code !== 0) throw new Error(complaint.trim().slice(0, maxWords) || 'mount failed');
}

function toArguments({ target, isFleeting }: OverlayMount): string[] {
  // By handles, which need no escapes, and which nobody can put something else in the place of.
  const directories = 'lowerdir=/proc/self/fd/4,upperdir=/proc/self/fd/3/upper,workdir=/proc/self/fd/3/work';
  const options = [overlayOptions, directories, ...(isFleeting ? ['volatile'] : [])].join(',');
  return ['-i', '-n', '-t', 'overlay', 'croft', '-o', options, target];
}

/** Also when something still has it open: then it is gone from its name, and whole until that lets go. */
export async function unmount(target: string): Promise<void> {
  if (await unmountIfUnused(target)) return;
  await run('umount', ['-i', '-n', '-l', target]).catch((thrown) => {
    if (isMounted(target)) throw thrown;
  });
}

/** Whether it is not mounted any more: the kernel refuses while anybody has it open, on this server or another. */
export async function unmountIfUnused(target: string): Promise<boolean> {
  if (!isMounted(target)) return true;
  return run('umount', ['-i', '-n', target]).then(
    () => true,
    () => !isMounted(target),
  );
}

export function isMounted(target: string): boolean {
  return mountPoints().includes(target);
}

/** Deepest and newest first, which is the order to take them away in. */
export function mountsBelow(parent: string): string[] {
  return mountPoints()
    .filter((point) => point.startsWith(`${parent}/`))
    .reverse();
}

function mountPoints(): string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return lines.flatMap((line) => {
    const point = line.split(' ')[4];
    return point === undefined ? [] : [unescapePoint(point)];
  });
}

/** The kernel writes white space and backslashes as three octal digits. */
function unescapePoint(point: string): string {
  return point.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

async function run(name: 'mount' | 'umount', args: readonly string[], handles: readonly number[] = []): Promise<void> {
  const program = mustFind(name);
  const child = spawnProgram([program, ...args], {
    env: { LANG: 'C' },
    stdio: ['ignore', 'ignore', 'pipe', ...handles],
  });
  let words = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    words = (words + chunk).slice(0, maxWords);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(words.trim() || `${name} failed`);
}

function mustFind(name: string): string {
  const program = findProgram(name);
  if (program === undefined) throw new Error(`this host has no ${name}`);
  return program;
}
