import { fstatSync } from 'node:fs';
import { createInitFinder } from '../init/binary.ts';
import { sharedSpawner } from '../init/shared-spawner.ts';

/** What the handles of a mount are called there: `native/mount.h`. */
export const firstNativeHandle = 10;

const findInit = createInitFinder();
const fromKernel = 'kernel: ';

export interface NativeMount {
  readonly target: string;
  readonly options: string;
  readonly handles: readonly [number, ...number[]];
}

/**
 * By one call of the kernel from a process that is small: to start a program from here, which then asks for the same,
 * takes ten times as long. False where that cannot be tried. Throws an `Error` with the words of the kernel.
 */
export function mountNatively({ target, options, handles }: NativeMount): Promise<boolean> {
  const [directory] = handles;
  return run(['--mount', String(process.pid), target, options, ...handles.map(nameOf)], directory);
}

export function unmountNatively(target: string, isLazy: boolean, directory: number): Promise<boolean> {
  return run(['--unmount', target, ...(isLazy ? ['lazily'] : [])], directory);
}

async function run(args: readonly string[], directory: number): Promise<boolean> {
  const job = await start(args, directory).catch(() => undefined);
  if (!job) return false;
  try {
    await job.told;
    return true;
  } catch {
    const words = (await job.gone).trim();
    if (words.startsWith(fromKernel)) throw new Error(words.slice(fromKernel.length));
    return false;
  } finally {
    job.socket.destroy();
  }
}

async function start(args: readonly string[], directory: number) {
  return sharedSpawner.start({
    argv: [findInit(), ...args],
    ...{ owner: undefined, directory, groups: [], hasGate: false },
  });
}

function nameOf(handle: number): string {
  const { dev, ino } = fstatSync(handle, { bigint: true });
  return `${handle}:${dev}:${ino}`;
}
