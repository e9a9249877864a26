import { findProgram } from '../../lib/processes/find-program.ts';
import { runProgramSync, spawnProgram } from '../../lib/processes/spawn.ts';
import { mountNatively, unmountNatively } from './mount-natively.ts';
import { isMounted } from './mount-points.ts';

interface OverlayMount {
  /** Descriptors of the lower directories. An earlier one hides what a later one has. */
  readonly lowers: readonly number[];
  /** Descriptor of the directory that contains `upper` and `work`. */
  readonly layerFd: number;
  /** The mount point. */
  readonly target: string;
  /** Whether a power cut may lose the overlay. */
  readonly isVolatile: boolean;
}

const maxWords = 2000;

/**
 * `redirect_dir`: directories can be renamed as elsewhere. `metacopy=off`: a copied-up file is complete. `index=off`:
 * nothing depends on other mounts. The kernel keeps its marks in attributes that only the root of the host may set, so
 * no file of an agent can imitate them.
 */
const overlayOptions = 'redirect_dir=on,metacopy=off,index=off';
/** Number of the first descriptor that the program `mount` gets. */
const firstHandle = 3;

/** Throws an `Error` with the message of the kernel if this host or this file system has no overlays. */
export async function mountOverlay(mount: OverlayMount): Promise<void> {
  const handles = [mount.layerFd, ...mount.lowers];
  if (await mountNatively(mount.target, toOptions(mount, handles))) return;
  await run('mount', toArguments(mount), handles);
}

/** Mounts synchronously, for a workspace that is being opened. */
export function mountOverlayNow(mount: OverlayMount): void {
  const program = mustFind('mount');
  const stdio = ['ignore', 'ignore', 'pipe', mount.layerFd, ...mount.lowers] as const;
  const { code, complaint } = runProgramSync([program, ...toArguments(mount)], { env: { LANG: 'C' }, stdio });
  if (code !== 0) throw new Error(complaint.trim().slice(0, maxWords) || 'mount failed');
}

function toArguments(mount: OverlayMount): string[] {
  const handles = [mount.layerFd, ...mount.lowers].map((_, index) => firstHandle + index);
  const options = `nosuid,nodev,${toOptions(mount, handles)}`;
  return ['-i', '-n', '-t', 'overlay', 'croft', '-o', options, mount.target];
}

/** Names directories by descriptors of the process that mounts, which need no escapes and which nobody can swap. */
function toOptions({ isVolatile }: OverlayMount, handles: readonly number[]): string {
  const [layer, ...lowers] = handles.map((handle) => `/proc/self/fd/${handle}`);
  const directories = `lowerdir=${lowers.join(':')},upperdir=${layer}/upper,workdir=${layer}/work`;
  return [overlayOptions, directories, ...(isVolatile ? ['volatile'] : [])].join(',');
}

/** Unmounts also if something has it open: the mount then loses its name, and exists until the last user closes it. */
export async function unmount(target: string): Promise<void> {
  if (await unmountIfUnused(target)) return;
  await runUnmount(target, true).catch((thrown) => {
    if (isMounted(target)) throw thrown;
  });
}

/**
 * Returns whether the target is no longer mounted. The kernel refuses while any process has it open, on this server or
 * another.
 */
export async function unmountIfUnused(target: string): Promise<boolean> {
  if (!isMounted(target)) return true;
  return runUnmount(target, false).then(
    () => true,
    () => !isMounted(target),
  );
}

async function runUnmount(target: string, isLazy: boolean): Promise<void> {
  if (await unmountNatively(target, isLazy)) return;
  await run('umount', ['-i', '-n', ...(isLazy ? ['-l'] : []), target]);
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
