import { UsageError } from '../../lib/usage-error.ts';

/** A path of a workspace, or one of this machine. */
export type FileLocation =
  | { readonly workspace: string; readonly path: string }
  | { readonly workspace?: undefined; readonly path: string };

/** `notes:src` is in the workspace `notes`. `./notes:src` and everything without a colon is on this machine. */
export function parseLocation(word: string): FileLocation {
  const [, workspace, path = ''] = /^([^/:]+):(.*)$/s.exec(word) ?? [];
  return workspace === undefined ? { path: word } : { workspace, path: trim(path) };
}

/** A path of a workspace. A workspace alone is its root. */
export function parseRemote(word: string): { readonly workspace: string; readonly path: string } {
  const { workspace, path } = parseLocation(word);
  if (workspace !== undefined) return { workspace, path };
  if (!word.includes('/')) return { workspace: word, path: '' };
  throw new UsageError(`say in which workspace, such as notes:${word}`);
}

function trim(path: string): string {
  return path.replace(/^(?:\.?\/)+|\/+$/g, '').replace(/^\.$/, '');
}

export function joinPath(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('/');
}

/** Whether a path from elsewhere stays below the directory that it is joined to, on every system. */
export function staysBelow(path: string): boolean {
  return path !== '' && !/[\0\\]/.test(path) && path.split('/').every((name) => !/^(?:|\.|\.\.|[a-z]:.*)$/i.test(name));
}
