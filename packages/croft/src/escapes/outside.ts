import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Called, Ground } from './escape.ts';
import type { Problem } from './verdict.ts';

/** A directory beside the workspace for what a case needs out there, gone with its scope. */
export function makeBeside({ workspace }: Ground, prefix = join(dirname(workspace), 'beside-')) {
  const path = mkdtempSync(prefix);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** The file outside that says the canary. */
export function canaryName({ outside, canary }: Ground): string {
  const isIt = (name: string) =>
    lstatSync(join(outside, name)).isFile() && readText(join(outside, name)).includes(canary);
  const name = readdirSync(outside).find(isIt);
  if (name === undefined) throw new Error('there is no canary to look after');
  return name;
}

/** Looks at a directory now, and tells later what is no longer as it was. */
export function watchOver(directory: string): () => Problem[] {
  const before = takePicture(directory);
  return () => {
    const now = takePicture(directory);
    const names = new Set([...before.keys(), ...now.keys()]);
    return [...names].filter((name) => before.get(name) !== now.get(name)).map((name) => `outside changed: ${name}`);
  };
}

/** Whether an answer gives away what only the outside knows. */
export function tells(answer: Called, secret: string, what: string): Problem {
  return (answer.text + JSON.stringify(answer.structured)).includes(secret) && `${what} told what is outside`;
}

function readText(path: string): string {
  return readFileSync(path, 'utf8');
}

function takePicture(directory: string, name = '.', picture = new Map<string, string>()): Map<string, string> {
  const path = join(directory, name);
  const stats = lstatSync(path);
  picture.set(name, `${stats.mode} ${stats.uid} ${stats.nlink} ${stats.mtimeMs} ${describe(path, stats)}`);
  if (stats.isDirectory()) for (const child of readdirSync(path)) takePicture(directory, join(name, child), picture);
  return picture;
}

function describe(path: string, stats: ReturnType<typeof lstatSync>): string {
  if (stats?.isSymbolicLink()) return readlinkSync(path);
  return stats?.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
}
