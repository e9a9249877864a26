import { fstatSync } from 'node:fs';
import { findInit } from '../../init/find-init.ts';
import { sharedSpawner } from '../../init/shared-spawner.ts';

/** Number of the first descriptor of a mount in the small process: `native/init/mount-overlay.h`. */
export const firstNativeHandle = 10;

const fromKernel = 'kernel: ';

interface NativeMount {
  readonly target: string;
  readonly options: string;
  readonly handles: readonly [number, ...number[]];
}

/**
 * Mounts with one system call from a small process. Starting `mount` from this process takes ten times as long. Returns
 * false if it cannot be tried. Throws an `Error` with the message of the kernel.
 */
export function mountNatively({ target, options, handles }: NativeMount): Promise<boolean> {
  const [directoryFd] = handles;
  return run(['--mount', String(process.pid), target, options, ...handles.map(nameOf)], directoryFd);
}

export function unmountNatively(target: string, isLazy: boolean, directoryFd: number): Promise<boolean> {
  return run(['--unmount', target, ...(isLazy ? ['lazily'] : [])], directoryFd);
}

async function run(args: readonly string[], directoryFd: number): Promise<boolean> {
  const job = await start(args, directoryFd).catch(() => undefined);
  if (!job) return false;
  try {
    await job.infoText;
    return true;
  } catch {
    const words = (await job.ended).trim();
    if (words.startsWith(fromKernel)) throw new Error(words.slice(fromKernel.length));
    return false;
  } finally {
    job.socket.destroy();
  }
}

async function start(args: readonly string[], directoryFd: number) {
  return sharedSpawner.start({
    argv: [findInit(), ...args],
    ...{ owner: undefined, directoryFd, groups: [], hasGate: false },
  });
}

function nameOf(handle: number): string {
  const { dev, ino } = fstatSync(handle, { bigint: true });
  return `${handle}:${dev}:${ino}`;
}
