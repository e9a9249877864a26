import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A directory above all groups of this process. Not there while there are none, so that nothing stays of us. */
export interface Parent {
  readonly path: string;
  ensure(): void;
  /** If nothing is in it. */
  remove(): void;
}

/** Of the directory of a process. The same number is another process elsewhere, which is not ours to judge. */
export function parentName(pid: number): string {
  return `croft-${pid}-${statSync('/proc/self/ns/pid').ino}`;
}

/** What is cleared away when this process ends. */
const own = new Set<string>();

/** Where that of a server that is gone is found, it is cleared away. */
export function createParent(base: string, name: string, prepare: (path: string) => void): Parent {
  for (const found of readdirSync(base)) {
    const pid = /^croft-(\d+)-/.exec(found)?.[1];
    if (pid !== undefined && found === parentName(Number(pid)) && !isAlive(Number(pid))) clear(join(base, found));
  }
  const path = join(base, name);
  if (own.size === 0) process.once('exit', () => own.forEach(clear));
  own.add(path);
  return {
    path,
    ensure() {
      if (!existsSync(path) && mkdirSync(path, { recursive: true }) !== undefined) prepare(path);
    },
    remove: () => void tryRemove(path),
  };
}

/** A group without its limits must not stay: somebody could be put in it. One that was there is not ours to remove. */
export function makeWith(directories: readonly string[], setLimits: () => void): void {
  const made: string[] = [];
  try {
    for (const directory of directories) {
      mkdirSync(directory);
      made.push(directory);
    }
    setLimits();
  } catch (thrown) {
    made.forEach(tryRemove);
    throw thrown;
  }
}

interface RemoveOptions {
  onGone(): void;
  readonly onStuck: ((directories: readonly string[]) => void) | undefined;
}

/**
 * The kernel says busy until every process is reaped, which is not ours to do. What takes long is no longer waited
 * for, but tried again until it is done.
 */
export async function removeAll(directories: readonly string[], { onGone, onStuck }: RemoveOptions): Promise<void> {
  const isGone = () => directories.map(tryRemove).every(Boolean);
  for (let waitMs = 1; waitMs < 3000; waitMs *= 2) {
    if (isGone()) return onGone();
    await delay(waitMs);
  }
  onStuck?.(directories);
  const timer = setInterval(() => {
    if (!isGone()) return;
    clearInterval(timer);
    onGone();
  }, 1000).unref();
}

/** What still runs in it keeps it; whoever starts next tries again. */
function clear(directory: string): void {
  try {
    const below = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of below) tryRemove(join(directory, name));
  } catch {
    // It is not there.
  }
  tryRemove(directory);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM';
  }
}

function tryRemove(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
  }
}

export function put(directory: string, file: string, value: string | number): void {
  writeFileSync(`${directory}/${file}`, String(value));
}

/** The kernel takes its time to move a process, which others need not wait for. */
export async function moveInto(directories: readonly string[], pid: number): Promise<void> {
  await Promise.all(directories.map((directory) => writeFile(join(directory, 'cgroup.procs'), String(pid))));
}

export function tryPut(directory: string, file: string, value: string | number): void {
  try {
    put(directory, file, value);
  } catch {
    // Not every kernel has it.
  }
}

export function get(directory: string, file: string): string {
  return readFileSync(`${directory}/${file}`, 'utf8').trim();
}

export function counter(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}
