import { closeSync, constants, type Dirent, fstatSync, openSync, readdirSync, readSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';

const prefix = 'CROFT_SECRET_';
const maxSecretBytes = 64 * 1024;
/** An unreadable file counts as missing and must not hide the other secrets. */
const absentCodes = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EACCES', 'EPERM']);
const isName = /^[A-Za-z0-9_-]+$/;

/**
 * Reads secrets from environment variables, once: `CROFT_SECRET_<NAME>` for all workspaces,
 * `CROFT_SECRET_<WORKSPACE>__<NAME>` for one workspace. Names are lower-cased. In the name of a workspace `_` stands
 * for everything but letters and digits, so that `my-app` and `my.app` are the same here.
 */
export function createSecretEnvironmentSource(environment: Readonly<Record<string, string | undefined>>) {
  const scopes = new Map<string, Map<string, string>>();
  for (const [key, value] of Object.entries(environment)) {
    const { scope, name } = toScopedName(key);
    if (value === undefined || !isName.test(name)) continue;
    scopes.set(scope, (scopes.get(scope) ?? new Map()).set(name, value));
  }
  const secretsOf = (workspace?: string) => scopes.get(workspace === undefined ? '' : toScope(workspace));

  return {
    kind: 'env' as const,
    scopes: () => [...scopes.keys()].filter((scope) => scope !== ''),
    names: (workspace?: string) => [...(secretsOf(workspace)?.keys() ?? [])],
    read: (name: string, workspace?: string) => secretsOf(workspace)?.get(name.toLowerCase()),
  };
}

/**
 * Reads secrets from the files of a directory, again on each call; secrets of one workspace are in a sub-directory of
 * its name. Accepts regular files of at most 64 kB whose name has letters, digits, `_` and `-`, and links that stay in
 * the directory. Newlines at the end are not part of a secret. A missing directory holds no secrets.
 */
export function createSecretDirectorySource(directory: string) {
  return {
    kind: 'file' as const,
    scopes: () => list(directory, (entry) => entry.isDirectory() && !entry.name.startsWith('.')),
    names: (workspace?: string) => namesIn(folderOf(workspace)),
    read(name: string, workspace?: string): string | undefined {
      const folder = folderOf(workspace);
      const names = namesIn(folder);
      const lower = name.toLowerCase();
      const found = names.includes(name) ? name : names.find((each) => each.toLowerCase() === lower);
      return found === undefined ? undefined : openInside(directory, join(folder, found), readText);
    },
  };

  function folderOf(workspace?: string): string {
    if (workspace === undefined) return directory;
    // A name that would lead out of the directory gets a sub-directory that does not exist.
    return /^\.|[/\0]/.test(workspace) ? join(directory, '.none') : join(directory, workspace);
  }

  function namesIn(folder: string): string[] {
    return list(folder, (entry) => isSecretFile(folder, entry)).sort();
  }

  function isSecretFile(folder: string, entry: Dirent): boolean {
    if (!isName.test(entry.name) || entry.isDirectory()) return false;
    return openInside(directory, join(folder, entry.name), () => true) ?? false;
  }
}

function toScopedName(key: string): { scope: string; name: string } {
  if (!key.startsWith(prefix)) return { scope: '', name: '' };
  const rest = key.slice(prefix.length).toLowerCase();
  const cut = rest.indexOf('__');
  if (cut <= 0 || cut + 2 === rest.length) return { scope: '', name: rest };
  return { scope: toScope(rest.slice(0, cut)), name: rest.slice(cut + 2) };
}

function toScope(workspace: string): string {
  return workspace.toLowerCase().replace(/[^a-z0-9]+/g, '_');
}

function list(folder: string, isWanted: (entry: Dirent) => boolean): string[] {
  const entries = unlessAbsent(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries.filter(isWanted).map(({ name }) => name);
}

/** Opens the file of a secret and calls `use`. Returns `undefined` if the path is not a valid secret file. */
function openInside<Value>(root: string, path: string, use: (handle: number) => Value): Value | undefined {
  return unlessAbsent(() => {
    const real = realpathSync(path);
    if (!real.startsWith(realpathSync(root) + sep)) return undefined;
    // O_NONBLOCK, because opening a named pipe without a writer would block for ever.
    const handle = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(handle);
      return stats.isFile() && stats.size <= maxSecretBytes ? use(handle) : undefined;
    } finally {
      closeSync(handle);
    }
  });
}

function readText(handle: number): string {
  const bytes = Buffer.alloc(maxSecretBytes);
  return withoutNewlines(bytes.toString('utf8', 0, readSync(handle, bytes)));
}

function withoutNewlines(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= text[end - 2] === '\r' ? 2 : 1;
  return text.slice(0, end);
}

function unlessAbsent<Value>(run: () => Value): Value | undefined {
  try {
    return run();
  } catch (thrown) {
    const { code = '' } = thrown as NodeJS.ErrnoException;
    if (!absentCodes.has(code)) throw thrown;
    return undefined;
  }
}
