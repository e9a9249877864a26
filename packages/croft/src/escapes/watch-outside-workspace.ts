import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CalledTool, EscapeFixture } from './escape.ts';
import type { Problem } from './to-verdict.ts';

/** Makes a directory beside the workspace that is removed when it is disposed. */
export function makeDirectoryBeside({ workspace }: EscapeFixture, prefix = join(dirname(workspace), 'beside-')) {
  const path = mkdtempSync(prefix);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Returns the name of the file in `outside` that holds the canary. */
export function canaryName({ outside, canary }: EscapeFixture): string {
  const isIt = (name: string) =>
    lstatSync(join(outside, name)).isFile() && readText(join(outside, name)).includes(canary);
  const name = readdirSync(outside).find(isIt);
  if (name === undefined) throw new Error('there is no canary to look after');
  return name;
}

/** Records the state of a directory. The returned function reports what changed since. */
export function watchDirectory(directory: string): () => Problem[] {
  const before = recordState(directory);
  return () => {
    const now = recordState(directory);
    const names = new Set([...before.keys(), ...now.keys()]);
    return [...names].filter((name) => before.get(name) !== now.get(name)).map((name) => `outside changed: ${name}`);
  };
}

/** Reports an answer that contains the secret. */
export function revealsSecret(answer: CalledTool, secret: string, what: string): Problem {
  return (answer.text + JSON.stringify(answer.structured)).includes(secret) && `${what} told what is outside`;
}

function readText(path: string): string {
  return readFileSync(path, 'utf8');
}

function recordState(directory: string, name = '.', picture = new Map<string, string>()): Map<string, string> {
  const path = join(directory, name);
  const stats = lstatSync(path);
  picture.set(name, `${stats.mode} ${stats.uid} ${stats.nlink} ${stats.mtimeMs} ${describe(path, stats)}`);
  if (stats.isDirectory()) for (const child of readdirSync(path)) recordState(directory, join(name, child), picture);
  return picture;
}

function describe(path: string, stats: ReturnType<typeof lstatSync>): string {
  if (stats?.isSymbolicLink()) return readlinkSync(path);
  return stats?.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
}
