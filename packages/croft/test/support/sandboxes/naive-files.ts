import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs';
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import type { Files, FileVersion } from '../../../src/core/files/files.ts';
import { outsideRoot } from '../../../src/core/files/workspace-path.ts';
import type { DiskFilesOptions } from '../../../src/disk/disk-files.ts';
import { kindOf } from '../../../src/disk/paths/handles.ts';
import type { DirectoryFds } from '../../../src/history/files/directory-fds.ts';
import { sha256 } from '../../../src/lib/crypto/sha256.ts';

/**
 * Files written without care: by path, wherever it leads. Refuses only paths outside of the test's directory, because
 * root would follow them.
 */
export function createNaiveFiles({ names: [directory = ''] }: DiskFilesOptions): Files {
  const around = dirname(directory);
  if (!basename(around).startsWith('escape-')) throw new Error(`${directory} is not of a test`);
  const stat = (path: string) => toStat(at(path), statSync(at(path)));
  const version = async (path: string): Promise<FileVersion> => ({
    ...stat(path),
    version: sha256(await readFile(at(path))),
  });

  return {
    stat: async (path) => stat(path),
    async read(path) {
      const bytes = await readFile(at(path));
      return { ...stat(path), version: sha256(bytes), bytes };
    },
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
      const change = await decide(current);
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
    // Cuts the path at a NUL, as a C program does.
    const [text = ''] = path.split('\0', 1);
    const named = isAbsolute(text) ? text : `${directory}/${text}`;
    const real = resolveLinks(named);
    if (`${real}/`.startsWith(`${around}/`) || /^\/proc\/(?:self|\d+)\/environ$/.test(real)) return named;
    throw new AppError('E_SANDBOX_VIOLATION', `path is outside workspace root: ${path}`);
  }

  function toStat(path: string, stats: Stats) {
    return { path: relative(directory, path), kind: kindOf(stats), size: stats.size, mtimeMs: stats.mtimeMs };
  }
}

/** Files that decode and normalise paths before they use them. */
export function createSpellingFiles(options: DiskFilesOptions): Files {
  const spell = (path: string) => decodeURIComponent(path).normalize('NFKC').replaceAll('\\', '/');
  return around(createNaiveFiles(options), (use, path) => use(spell(path)));
}

/** Files whose errors are passed on unchanged. */
export function createTellingFiles(options: DiskFilesOptions): Files {
  return around(createNaiveFiles(options), async (use, path) => {
    try {
      return await use(path);
    } catch (thrown) {
      throw AppError.is(thrown) ? thrown : new AppError('E_FILE_NOT_FOUND', String(thrown));
    }
  });
}

/**
 * Files that check for links first: a path that leads out is refused, and then the checked path is used. Something else
 * may take its place in between, and this waits long enough for that.
 */
export function createCheckedFiles(options: DiskFilesOptions): Files {
  const [directory = ''] = options.names;
  const resolvePath = (path: string) => resolveLinks(isAbsolute(path) ? path : `${directory}/${path}`);
  return around(createNaiveFiles(options), async (use, path) => {
    const seen = resolvePath(path);
    if (!`${seen}/`.startsWith(`${directory}/`)) throw outsideRoot(path, 'leads out');
    for (let turn = 0; turn < 100 && resolvePath(path) === seen; turn += 1) await setTimeout(1);
    return use(path);
  });
}

type Use = (path: string) => Promise<unknown>;

/** Wraps every use of a path. */
function around(files: Files, wrap: (use: Use, path: string) => Promise<unknown>): Files {
  const wrapped = Object.entries(files).map(([name, method]) => {
    const call = method as (path: unknown, ...rest: unknown[]) => Promise<unknown>;
    const use = (path: unknown, ...rest: unknown[]) =>
      typeof path === 'string' ? wrap((other) => call(other, ...rest), path) : call(path, ...rest);
    return [name, use];
  });
  return Object.fromEntries(wrapped);
}

/** Resolves the links of a path whose last name need not exist. */
function resolveLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : resolve(resolveLinks(dirname(path)), basename(path));
  }
}

/** Follows links, as a loop over `readdir` and `stat` does. */
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

/** Opens directories by path and follows links. Waits for a directory to become a link, to give an attacker time. */
export function createFollowingHandles(root: number): DirectoryFds {
  const open: number[] = [];
  const forget = () => {
    for (const handle of open.splice(0)) closeSync(handle);
  };
  const handleOf = (path: string) => {
    if (path === '') return root;
    const target = `/proc/self/fd/${root}/${path}`;
    const isLink = () => lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink();
    for (const until = performance.now() + 30; performance.now() < until && !isLink(); );
    const handle = openSync(target, constants.O_DIRECTORY);
    open.push(handle);
    return handle;
  };
  return { fdOf: handleOf, forget, [Symbol.dispose]: forget };
}
