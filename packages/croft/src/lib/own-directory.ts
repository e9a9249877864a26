import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made = new Set<string>();

/**
 * A directory for as long as this process lives, which nobody else can have made. What a process left that was killed is
 * cleared away.
 */
export function makeOwnDirectory(purpose: string): string {
  const prefix = `croft-${purpose}-`;
  sweep(prefix);
  const directory = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-${namespace()}-`));
  if (made.size === 0) process.once('exit', () => made.forEach(remove));
  made.add(directory);
  return directory;
}

function sweep(prefix: string): void {
  for (const name of readdirSync(tmpdir()).filter((found) => found.startsWith(prefix))) {
    const [, pid, where] = /^(\d+)-(\d+)-/.exec(name.slice(prefix.length))?.map(Number) ?? [];
    // The same number is another process elsewhere, which is not ours to judge.
    if (pid !== undefined && where === namespace() && !isAlive(pid)) remove(join(tmpdir(), name));
  }
}

/** What belongs to somebody else stays. */
function remove(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    // Not ours.
  }
}

function namespace(): number {
  return statSync('/proc/self/ns/pid').ino;
}

function isAlive(pid: number): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false }) !== undefined;
}
