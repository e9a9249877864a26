import { closeSync } from 'node:fs';
import { openRoot } from '../disk/handles.ts';
import { findProgram } from '../lib/find-program.ts';
import { runProgramNow, spawnProgram } from '../lib/spawn.ts';
import { firstNativeHandle, mountNatively, unmountNatively } from './mount-natively.ts';
import { isMounted } from './mount-points.ts';

export interface OverlayMount {
  /** Open handles of what is shown where nothing was written: what an earlier one has hides what a later one has. */
  readonly lowers: readonly number[];
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
const overlayOptions = 'redirect_dir=on,metacopy=off,index=off';
const firstHandle = 3;

/** Throws an `Error` with the words of the kernel where this host or this file system has no overlays. */
export async function mountOverlay(mount: OverlayMount): Promise<void> {
  const { target, place, lowers } = mount;
  const options = toOptions(mount, firstNativeHandle);
  if (await mountNatively({ target, options, handles: [place, ...lowers] })) return;
  // Whoever was to do it may have ended between having done it and saying so.
  if (!isMounted(target)) await run('mount', toArguments(mount), [place, ...lowers]);
}

/** The same while everything waits: for a workspace that is opened. */
export function mountOverlayNow(mount: OverlayMount): void {
  const program = mustFind('mount');
  const stdio = ['ignore', 'ignore', 'pipe', mount.place, ...mount.lowers] as const;
  const { code, complaint } = runProgramNow([program, ...toArguments(mount)], { env: { LANG: 'C' }, stdio });
  if (code !== 0) throw new Error(complaint.trim().slice(0, maxWords) || 'mount failed');
}

function toArguments(mount: OverlayMount): string[] {
  const options = `nosuid,nodev,${toOptions(mount, firstHandle)}`;
  return ['-i', '-n', '-t', 'overlay', 'croft', '-o', options, mount.target];
}

/** By handles, which need no escapes, and which nobody can put something else in the place of. */
function toOptions({ lowers, isFleeting }: OverlayMount, first: number): string {
  const at = (index: number) => `/proc/self/fd/${first + index}`;
  const below = lowers.map((_, index) => at(index + 1)).join(':');
  const directories = `lowerdir=${below},upperdir=${at(0)}/upper,workdir=${at(0)}/work`;
  return [overlayOptions, directories, ...(isFleeting ? ['volatile'] : [])].join(',');
}

/** Also when something still has it open: then it is gone from its name, and whole until that lets go. */
export async function unmount(target: string): Promise<void> {
  if (await unmountIfUnused(target)) return;
  await runUnmount(target, true).catch((thrown) => {
    if (isMounted(target)) throw thrown;
  });
}

/** Whether it is not mounted any more: the kernel refuses while anybody has it open, on this server or another. */
export async function unmountIfUnused(target: string): Promise<boolean> {
  if (!isMounted(target)) return true;
  return runUnmount(target, false).then(
    () => true,
    () => !isMounted(target),
  );
}

async function runUnmount(target: string, isLazy: boolean): Promise<void> {
  const anywhere = openRoot('/');
  try {
    if (await unmountNatively(target, isLazy, anywhere)) return;
  } finally {
    closeSync(anywhere);
  }
  if (isMounted(target)) await run('umount', ['-i', '-n', ...(isLazy ? ['-l'] : []), target]);
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
