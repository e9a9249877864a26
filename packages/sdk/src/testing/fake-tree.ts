import { CroftError } from '../errors/croft-error.ts';

/** The files of a workspace at one time, by path. Folders are there while something is in them. */
export type Tree = ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
export type MutableTree = Map<string, Uint8Array<ArrayBuffer>>;

const encoder = new TextEncoder();

export function toBytes(content: string | Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return typeof content === 'string' ? encoder.encode(content) : content;
}

export function toText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** A path without `./` and slashes at its ends. One that leaves the workspace is refused. */
export function cleanPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (!parts.includes('..') && !path.startsWith('/')) return parts.join('/');
  throw new CroftError('E_SANDBOX_VIOLATION', `path is outside the workspace: ${path}`, { details: { path } });
}

export function isDirectory(tree: Tree, path: string): boolean {
  return path === '' || [...tree.keys()].some((name) => name.startsWith(`${path}/`));
}

export function mustHave(tree: Tree, path: string): Uint8Array<ArrayBuffer> {
  const bytes = tree.get(path);
  if (bytes) return bytes;
  if (isDirectory(tree, path))
    throw new CroftError('E_NOT_A_FILE', `not a regular file: ${path}`, { details: { path } });
  throw new CroftError('E_FILE_NOT_FOUND', `no such file or directory: ${path}`, { details: { path } });
}

/** The paths of everything at or below a path. */
export function pathsAt(tree: Tree, path: string): string[] {
  return [...tree.keys()].filter((name) => path === '' || name === path || name.startsWith(`${path}/`));
}

/** A fingerprint of the bytes, in hexadecimal (FNV-1a). */
export function hashOf(bytes: Uint8Array): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}

/** Matches `*`, `?`, `**` and `{a,b}`. A pattern without a slash matches names at any depth. */
export function matchesGlob(pattern: string, path: string): boolean {
  const source = pattern.replaceAll(/\*\*\/|\*\*|[*?{},]|[.+^$()|[\]\\]/g, (sign) => globSigns[sign] ?? `\\${sign}`);
  const whole = new RegExp(`^${source}$`);
  return whole.test(pattern.includes('/') ? path : (path.split('/').at(-1) ?? ''));
}

const globSigns: Readonly<Record<string, string>> = {
  ...{ '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' },
  ...{ '{': '(?:', '}': ')', ',': '|' },
};

export interface TreeChange {
  readonly path: string;
  readonly before: Uint8Array<ArrayBuffer> | undefined;
  readonly after: Uint8Array<ArrayBuffer> | undefined;
}

export function compareTrees(before: Tree, after: Tree): TreeChange[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((path) => {
    const [old, now] = [before.get(path), after.get(path)];
    return old && now && hashOf(old) === hashOf(now) ? [] : [{ path, before: old, after: now }];
  });
}

/** The change as one hunk: every line that was, and every line that is. */
export function renderDiff({ path, before, after }: TreeChange): string {
  const lines = (bytes: Uint8Array | undefined, sign: string) =>
    bytes
      ? toText(bytes)
          .replace(/\n$/, '')
          .split('\n')
          .map((line) => `${sign}${line}\n`)
          .join('')
      : '';
  return `--- a/${path}\n+++ b/${path}\n@@ @@\n${lines(before, '-')}${lines(after, '+')}`;
}

export function reportChanges(changes: readonly TreeChange[]) {
  const pathsOf = (isOne: (change: TreeChange) => boolean) => changes.filter(isOne).map(({ path }) => path);
  return {
    added: pathsOf(({ before }) => !before),
    changed: pathsOf(({ before, after }) => before !== undefined && after !== undefined),
    removed: pathsOf(({ after }) => !after),
    refused: [],
  };
}
