import { execFile } from 'node:child_process';
import { lstat, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { env } from 'node:process';
import { promisify } from 'node:util';
import { parse } from 'smol-toml';
import { z } from 'zod';
import type { ServerAccess } from '../client/request.ts';
import { CroftError } from '../errors/croft-error.ts';
import { type AccessOptions, type AccessSource, chooseAccess, toSource } from './choose-access.ts';

const Context = z.strictObject({
  server: z.string(),
  key_file: z.string().optional(),
  key_command: z.string().optional(),
});
const Contexts = z.strictObject({
  current: z.string().optional(),
  contexts: z.record(z.string(), Context).default({}),
});

const keyCommandMs = 30_000;

/** Options win, then `CROFT_*`, then the context that `croft login` made. A context that is named wins over `CROFT_*`. */
export async function findAccess(options: AccessOptions): Promise<ServerAccess> {
  const own = toSource(options);
  if (own.server !== undefined && own.readKey) return chooseAccess([own]);
  const named = options.context ?? env.CROFT_CONTEXT;
  const environment = options.context === undefined ? [readEnvironment()] : [];
  return chooseAccess([own, ...environment, await findContext(named)]);
}

function readEnvironment(): AccessSource {
  const { CROFT_SERVER: server, CROFT_KEY: key, CROFT_KEY_FILE: file } = env;
  if (key !== undefined) return toSource({ server, key });
  return { server, readKey: file === undefined ? undefined : () => readSecret(file) };
}

async function findContext(named: string | undefined): Promise<AccessSource> {
  const { current, contexts } = await readContexts();
  const name = named ?? current;
  if (name === undefined) return {};
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (!context) {
    const known = Object.keys(contexts).join(', ') || 'none';
    throw new CroftError(
      'E_INVALID_INPUT',
      `there is no context ${name}; there are: ${known}. Add it with: croft context add`,
    );
  }
  const { server, key_file: file, key_command: command } = context;
  if (command !== undefined) return { server, readKey: () => runKeyCommand(command) };
  return { server, readKey: file === undefined ? undefined : () => readSecret(file) };
}

async function readContexts(): Promise<z.output<typeof Contexts>> {
  const file = join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'croft', 'config.toml');
  const text = await readFile(file, 'utf8').catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return undefined;
    throw thrown;
  });
  if (text === undefined) return { contexts: {} };
  await mustBeOwn(file);
  const found = Contexts.safeParse(parse(text));
  if (!found.success) throw new CroftError('E_INVALID_INPUT', `${file}: ${z.prettifyError(found.error)}`);
  return found.data;
}

/** A file that others may write is refused: it holds commands, and where keys go. */
async function mustBeOwn(file: string): Promise<void> {
  const own = process.geteuid?.();
  if (own === undefined) return;
  for (const path of [dirname(file), file]) {
    const { uid, mode } = await stat(path);
    if (uid !== own || (mode & 0o022) !== 0)
      throw new CroftError(
        'E_INVALID_INPUT',
        `${path} may be changed by other users; make it yours alone: chmod go-w ${path}`,
      );
  }
  if ((await lstat(file)).isFile() && ((await stat(file)).mode & 0o077) !== 0)
    throw new CroftError(
      'E_INVALID_INPUT',
      `${file} may be read by other users; make it yours alone: chmod 600 ${file}`,
    );
}

async function readSecret(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).trim();
}

async function runKeyCommand(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command], { timeout: keyCommandMs });
  const key = stdout.trim();
  if (key !== '') return key;
  throw new CroftError('E_INVALID_INPUT', 'the key_command of the context printed no key');
}
