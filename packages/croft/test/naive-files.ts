import { existsSync, lstatSync, readdirSync, realpathSync, rmdirSync, type Stats, statSync, unlinkSync } from 'node:fs';
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { AppError } from '@croft/protocol';
import type { Files, FileVersion } from '../src/core/files.ts';
import type { DiskFilesOptions } from '../src/disk/files.ts';
import { kindOf } from '../src/disk/handles.ts';
import { sha256 } from '../src/lib/sha256.ts';

/**
 * Files as one writes them without a thought: by path, wherever that leads. Except that nothing is read or changed that
 * is not of the test, because it would be root who does it.
 */
export function createNaiveFiles({ names: [directory = ''] }: DiskFilesOptions): Files {
  const around = dirname(directory);
  if (!basename(around).startsWith('croft-escape-')) throw new Error(`${directory} is not of a test`);
  const stat = (path: string) => toStat(at(path), statSync(at(path)));
  const version = async (path: string): Promise<FileVersion> => ({
    ...stat(path),
    version: sha256(await readFile(at(path))),
  });

  return {
    stat: async (path) => stat(path),
    read: async (path) => ({ ...(await version(path)), bytes: await readFile(at(path)) }),
    version: async (path) => (existsSync(at(path)) ? version(path) : undefined),
    modifiedTimes: async (paths) => paths.map((path) => statSync(at(path), { throwIfNoEntry: false })?.mtimeMs ?? 0),
    async open(path) {
      const file = await open(at(path));
      const chunks = ({ start = 0, end = Number.POSITIVE_INFINITY } = {}) =>
        file.createReadStream({ autoClose: false, start, end: end - 1 });
      return { stat: stat(path), chunks, [Symbol.asyncDispose]: () => file.close() };
    },
    async list(path) {
      const entries = readdirSync(at(path), { withFileTypes: true }).map(({ name }) => {
        const stats = lstatSync(join(at(path), name));
        return { name, kind: kindOf(stats), size: stats.size };
      });
      return { path, entries, cut: false };
    },
    write,
    async change(path, decide) {
      const bytes = existsSync(at(path)) ? await readFile(at(path)) : undefined;
      const current = bytes && { ...(await version(path)), mode: 0o644, bytes, content: () => bytes };
      const change = decide(current);
      const written = await write(path, change.bytes);
      return { written, change, replacement: { path, before: current, after: { ...written, mode: 0o644, ...change } } };
    },
    async upload(path, pieces) {
      const isNew = !existsSync(at(path));
      return { ...(await write(path, Buffer.concat(await Array.fromAsync(pieces)))), isNew };
    },
    async remove(path) {
      return { path, kind: kindOf(lstatSync(at(path))), removed: remove(at(path)) };
    },
    async rename(from, to) {
      const kind = kindOf(lstatSync(at(from)));
      await mkdir(dirname(at(to)), { recursive: true });
      await rename(at(from), at(to));
      return { from, to, kind };
    },
  };

  async function write(path: string, bytes: Uint8Array): Promise<FileVersion> {
    await mkdir(dirname(at(path)), { recursive: true });
    await writeFile(at(path), bytes);
    return version(path);
  }

  function at(path: string): string {
    const named = isAbsolute(path) ? path : `${directory}/${path}`;
    const real = resolveLinks(named);
    // Whoever opens a pipe waits in one of the few threads there are.
    if (statSync(real, { throwIfNoEntry: false })?.isFIFO()) throw new AppError('E_NOT_A_FILE', `a pipe: ${path}`);
    if (`${real}/`.startsWith(`${around}/`) || /^\/proc\/(?:self|\d+)\/environ$/.test(real)) return named;
    throw new AppError('E_SANDBOX_VIOLATION', `path is outside workspace root: ${path}`);
  }

  function toStat(path: string, stats: Stats) {
    return { path: relative(directory, path), kind: kindOf(stats), size: stats.size, mtimeMs: stats.mtimeMs };
  }
}

/** Where a path leads, of which the end need not be there. */
function resolveLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : resolve(resolveLinks(dirname(path)), basename(path));
  }
}

/** Follows links, as a loop over what `readdir` and `stat` say does. */
function remove(path: string): number {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    unlinkSync(path);
    return 1;
  }
  const below = readdirSync(path).reduce((sum, name) => sum + remove(join(path, name)), 0);
  if (lstatSync(path).isSymbolicLink()) unlinkSync(path);
  else rmdirSync(path);
  return below + 1;
}
