import { readdirSync } from 'node:fs';
import type { ErrorCode } from '@croft/protocol';
import { expect } from 'vitest';
import type { Files } from '../../src/core/files/files.ts';

export const bytesOf = (text: string): Buffer => Buffer.from(text);
export const never = new AbortController().signal;
export const plainly = { recursive: false, signal: never };
export const withAll = { recursive: true, signal: never };

export async function* pieces(...texts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield typeof text === 'string' ? bytesOf(text) : text;
}

export async function expectFailure(work: Promise<unknown>, ...codes: ErrorCode[]): Promise<void> {
  const outcome = await work.then(
    (value) => ({ code: 'success', value }),
    (thrown) => thrown,
  );
  expect(codes, `got ${outcome.code}: ${outcome.message ?? JSON.stringify(outcome.value)}`).toContain(outcome.code);
  expect(outcome.name).toBe('AppError');
}

export async function readText(files: Files, path: string): Promise<string> {
  return (await files.read(path)).bytes.toString();
}

/** Every path below a directory, sorted; links are not followed. */
export function pathsBelow(directory: string, prefix = ''): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${prefix}${entry.name}`;
      return entry.isDirectory() ? [path, ...pathsBelow(`${directory}/${entry.name}`, `${path}/`)] : [path];
    })
    .sort();
}

type Operation = (files: Files, path: string) => Promise<unknown>;

/** Every operation that reads what a path leads to. */
export const readOperations: readonly [string, Operation][] = [
  ['stat', (files, path) => files.stat(path)],
  ['read', (files, path) => files.read(path)],
  ['open', (files, path) => files.open(path)],
  ['version', (files, path) => files.version(path)],
  ['list', (files, path) => files.list(path, { limit: 100 })],
];

/** Every operation that changes something by a path. */
export const changeOperations: readonly [string, Operation][] = [
  ['write', (files, path) => files.write(path, bytesOf('new'))],
  ['write as new', (files, path) => files.write(path, bytesOf('new'), { expect: 'absent' })],
  ['change', (files, path) => files.change(path, () => ({ bytes: bytesOf('new') }))],
  ['upload', (files, path) => files.upload(path, pieces('new'), { maxBytes: 100 })],
  ['upload as new', (files, path) => files.upload(path, pieces('new'), { maxBytes: 100, expect: 'absent' })],
  ['remove', (files, path) => files.remove(path, plainly)],
  ['remove all', (files, path) => files.remove(path, withAll)],
  ['rename from', (files, path) => files.rename(path, 'taken-in')],
  ['rename to', (files, path) => files.rename('own.txt', path)],
];

export const operations = [...readOperations, ...changeOperations];
