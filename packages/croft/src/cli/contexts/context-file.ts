import { lstatSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'smol-toml';
import { errorMessage } from '../../lib/error-message.ts';
import { readFileIfPresent, replacePrivateFile } from '../../lib/files/private-file.ts';
import { UsageError } from '../../lib/usage-error.ts';

/** A server and how to get a key for it. The key itself is never in this file. */
export interface Context {
  readonly server: string;
  readonly key_file?: string;
  /** A shell command that prints the key, such as one of a password manager. */
  readonly key_command?: string;
}

export interface Contexts {
  /** The name of the context that commands use. */
  readonly current?: string | undefined;
  readonly contexts: Readonly<Record<string, Context>>;
}

export function contextFile(configHome: string): string {
  return join(configHome, 'croft', 'config.toml');
}

/** Reads the contexts of this user. A file that others may write is refused: it holds commands, and where keys go. */
export function readContexts(configHome: string): Contexts {
  const file = contextFile(configHome);
  const text = readFileIfPresent(file);
  if (text === undefined) return { contexts: {} };
  mustBeOwn(file);
  try {
    return toContexts(parse(text));
  } catch (thrown) {
    throw new UsageError(`${file}: ${errorMessage(thrown)}`);
  }
}

export function writeContexts(configHome: string, { current, contexts }: Contexts): void {
  const text = stringify({ ...(current !== undefined && { current }), contexts });
  replacePrivateFile(contextFile(configHome), text, 'always');
}

function mustBeOwn(file: string): void {
  const own = process.geteuid?.();
  for (const path of [dirname(file), file]) {
    const { uid, mode } = statSync(path);
    if (own !== undefined && (uid !== own || (mode & 0o022) !== 0))
      throw new UsageError(`${path} may be changed by other users; make it yours alone: chmod go-w ${path}`);
  }
  if (lstatSync(file).isFile() && (statSync(file).mode & 0o077) !== 0)
    throw new UsageError(`${file} may be read by other users; make it yours alone: chmod 600 ${file}`);
}

function toContexts(found: unknown): Contexts {
  const { current, contexts = {}, ...rest } = toTable(found, 'the file');
  refuseOthers(rest, 'the file');
  if (current !== undefined && typeof current !== 'string') throw new Error('current takes the name of a context');
  const entries = Object.entries(toTable(contexts, 'contexts')).map(([name, value]) => [name, toContext(name, value)]);
  return { current, contexts: Object.fromEntries(entries) };
}

function toContext(name: string, found: unknown): Context {
  const where = `the context ${name}`;
  const { server, key_file, key_command, ...rest } = toTable(found, where);
  refuseOthers(rest, where);
  for (const [key, value] of Object.entries({ key_file, key_command }))
    if (value !== undefined && typeof value !== 'string') throw new Error(`${where}: ${key} takes a text`);
  if (typeof server !== 'string' || !URL.canParse(server)) throw new Error(`${where}: server takes a URL`);
  return {
    server,
    ...(typeof key_file === 'string' && { key_file }),
    ...(typeof key_command === 'string' && { key_command }),
  };
}

function toTable(found: unknown, where: string): Record<string, unknown> {
  if (typeof found !== 'object' || found === null || Array.isArray(found)) throw new Error(`${where} must be a table`);
  return { ...found };
}

function refuseOthers(rest: Record<string, unknown>, where: string): void {
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new Error(`${where} has ${unknown}, which is not known`);
}
