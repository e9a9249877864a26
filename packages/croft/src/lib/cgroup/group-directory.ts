import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * The directory above all groups of this process. It exists only while the process has groups, so that nothing is left
 * behind.
 */
export interface GroupParent {
  readonly path: string;
  ensure(): void;
  /** Removes the directory if it is empty. */
  remove(): void;
}

/**
 * Name of the directory above the groups of a process. It includes the PID namespace, because the same number is a
 * different process in another namespace.
 */
export function groupParentName(pid: number): string {
  return `croft-${pid}-${statSync('/proc/self/ns/pid').ino}`;
}

/** The processes in the group of a directory. None if the directory is gone. */
export function readProcessIds(directory: string): readonly number[] {
  try {
    return readFileSync(join(directory, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Directories that are removed when this process ends. */
const ownDirectories = new Set<string>();

/** Prepares the directory above the groups of this process, and removes such directories of servers that are gone. */
export function createGroupParent(base: string, name: string, prepare: (path: string) => void): GroupParent {
  for (const found of readdirSync(base)) {
    const pid = /^croft-(\d+)-/.exec(found)?.[1];
    if (pid !== undefined && found === groupParentName(Number(pid)) && !isAlive(Number(pid)))
      removeWithChildren(join(base, found));
  }
  const path = join(base, name);
  if (ownDirectories.size === 0) process.once('exit', () => ownDirectories.forEach(removeWithChildren));
  ownDirectories.add(path);
  return {
    path,
    ensure() {
      if (!existsSync(path) && mkdirSync(path, { recursive: true }) !== undefined) prepare(path);
    },
    remove: () => void tryRemove(path),
  };
}

/**
 * Makes directories and sets their limits. On failure the new directories are removed, because a process could
 * otherwise be put in a group without limits. Directories that existed before are not removed.
 */
export function makeGroupDirectories(directories: readonly string[], setLimits: () => void): void {
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
 * Removes directories, which the kernel keeps busy until every process in them is reaped (by others, not by this
 * process). After about three seconds `onStuck` is called and the removal goes on in the background.
 */
export async function removeGroupDirectories(
  directories: readonly string[],
  { onGone, onStuck }: RemoveOptions,
): Promise<void> {
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

/**
 * Removes a directory and the directories in it, unless something still runs there; the next server that starts tries
 * again.
 */
export function removeWithChildren(directory: string): void {
  try {
    const below = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of below) tryRemove(join(directory, name));
  } catch {
    // The directory is missing.
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

export function writeSetting(directory: string, file: string, value: string | number): void {
  writeFileSync(`${directory}/${file}`, String(value));
}

/** Moves a process into the groups. Asynchronous, because the kernel takes a while and other work need not wait. */
export async function moveProcess(directories: readonly string[], pid: number): Promise<void> {
  await Promise.all(directories.map((directory) => writeFile(join(directory, 'cgroup.procs'), String(pid))));
}

export function tryWriteSetting(directory: string, file: string, value: string | number): void {
  try {
    writeSetting(directory, file, value);
  } catch {
    // Not every kernel has this file.
  }
}

/** Lets other groups run first if `isLast`. Kernels before 5.15 have no `cpu.idle` and get a low weight instead. */
export function setCpuIdle(directory: string, weightFile: string, weight: number, isLast: boolean): void {
  try {
    writeSetting(directory, 'cpu.idle', isLast ? 1 : 0);
  } catch {
    tryWriteSetting(directory, weightFile, weight);
  }
}

export function readSetting(directory: string, file: string): string {
  return readFileSync(`${directory}/${file}`, 'utf8').trim();
}

export function readCounter(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}
