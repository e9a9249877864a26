import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathResolvesThrough } from '../../lib/files/path-resolves-through.ts';
import { toTarEntry } from '../../lib/files/tar-entry.ts';
import { canReach, ownerOf, realpathOf } from '../../lib/files/workspace-owner.ts';
import { type HostCacheOptions, isDirectory, npmCacheOf } from './host-cache.ts';

const maxFiles = 200_000;
const maxFileBytes = 1024 * 1024;

/**
 * Request headers that npm itself records. npm also records every header that an answer varies by, which may hold
 * tokens.
 */
const plainHeaders = new Set([
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'accept',
  'cache-control',
  'host',
]);

/** Returns the operator's npm index, if the owner of the workspace may read it. */
export function findNpmIndex(options: HostCacheOptions, directoryFd: number): string | undefined {
  const [index, owner] = [join(npmCacheOf(options), 'index-v5'), ownerOf(directoryFd)];
  if (!isDirectory(index) || (owner && !canReach(index, owner))) return undefined;
  return pathResolvesThrough(index, realpathOf(directoryFd)) ? undefined : index;
}

/**
 * Reads the index of npm's cache as a tar archive without credentials: unusual request headers are removed, and entries
 * with a password or token in a URL are left out.
 */
export async function* readNpmIndex(index: string): AsyncGenerator<Buffer> {
  let files = 0;
  for (const first of await listNames(index, /^[0-9a-f]{2}$/)) {
    const buckets = await listBuckets(index, first);
    files += buckets.length;
    if (files > maxFiles) break;
    const texts = await Promise.all(buckets.map((bucket) => readBucket(join(index, bucket))));
    yield* texts.flatMap((text, at) => (text === '' ? [] : [toTarEntry(buckets[at] ?? '', text)]));
  }
  yield Buffer.alloc(1024);
}

async function listBuckets(index: string, first: string): Promise<string[]> {
  const seconds = await listNames(join(index, first), /^[0-9a-f]{2}$/);
  const lists = seconds.map(async (second) => {
    const names = await listNames(join(index, first, second), /^[0-9a-f]{60}$/);
    return names.map((name) => join(first, second, name));
  });
  return (await Promise.all(lists)).flat();
}

async function listNames(directory: string, pattern: RegExp): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => pattern.test(name));
}

async function readBucket(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  if (text.length > maxFileBytes) return '';
  const lines = text.split('\n').flatMap(cleanEntry);
  return lines.map((line) => `\n${line}`).join('');
}

const hasPassword = /:\/\/(?!git@)[^\s/"]*@/;
const hasToken = /[?&][^=&"\s]*(?:token|secret|passw|signature|credential|auth|key)[^=&"\s]*=/i;

/**
 * Cleans one line of the index, a hash and an entry. Returns nothing for a broken line, as npm does, and for an entry
 * that reveals a secret.
 */
export function cleanEntry(line: string): string[] {
  try {
    const entry = JSON.stringify(JSON.parse(line.slice(line.indexOf('\t') + 1), cleanHeaders));
    if (hasPassword.test(entry) || hasToken.test(entry)) return [];
    return [`${createHash('sha1').update(entry).digest('hex')}\t${entry}`];
  } catch {
    return [];
  }
}

function cleanHeaders(key: string, value: unknown): unknown {
  if (key !== 'reqHeaders' || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => plainHeaders.has(name.toLowerCase())));
}
