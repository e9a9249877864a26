import { posix } from 'node:path';
import { AppError } from '@croft/protocol';
import { startCommand } from '../../commands/run-command.ts';
import type { Sandbox } from '../../commands/sandbox.ts';
import type { HistoryStore } from '../ports/history-store.ts';
import type { PathChange } from '../ports/tree.ts';

/** Limits of one restore in a sandbox: number of files, and bytes in them. */
export const maxRestoredFiles = 200;
export const maxRestoredBytes = 8 * 1024 * 1024;

interface RestoreInSandboxOptions {
  readonly store: Pick<HistoryStore, 'read'>;
  readonly signal: AbortSignal;
}

/**
 * Restores files in a sandbox to what they were before each of these changes. Commands inside the sandbox do the work,
 * so no path leads further than the sandbox allows. A file whose former content is missing or cannot be written is
 * removed instead, so that nobody takes it for unchanged. Throws `E_TOO_LARGE`, and `E_INVALID_PATH` for a name that
 * cannot be an argument of a command.
 */
export async function restoreInSandbox(
  sandbox: Sandbox,
  changes: readonly PathChange[],
  { store, signal }: RestoreInSandboxOptions,
) {
  if (changes.length > maxRestoredFiles) throw tooMuch();
  let left = maxRestoredBytes;
  for (const { path, before } of changes) {
    if (!path.isWellFormed()) throw new AppError('E_INVALID_PATH', 'a file name that is not UTF-8 cannot be restored');
    if (before?.kind !== 'file') continue;
    // The size is only a claim, so the bytes are counted below as well.
    if (before.size > left) throw tooMuch();
    // The history does not store every content.
    const bytes = await store.read(before.hash).catch(() => undefined);
    left -= bytes?.length ?? 0;
    if (left < 0) throw tooMuch();
    await restoreOrRemove(sandbox, { path, mode: before.mode, bytes }, signal);
  }
}

interface FileToRestore {
  readonly path: string;
  readonly mode: number;
  readonly bytes: Buffer | undefined;
}

async function restoreOrRemove(
  sandbox: Sandbox,
  { path, mode, bytes }: FileToRestore,
  signal: AbortSignal,
): Promise<void> {
  if (bytes && (await run(sandbox, restoreScript, [path, mode.toString(8)], { signal, bytes }))) return;
  if (await run(sandbox, removeScript, [path], { signal })) return;
  throw new AppError('E_CONFLICT', `${path} cannot be restored as it was`);
}

/** Enters the directory of the file. Fails at a link on the way: the file would be written somewhere else. */
const enterScript = 'cd -P "$1" && root=$(pwd) && mkdir -p "$1$2" && cd -P "$1$2" && test "$(pwd)" = "$root$2"';
/** Removes the name first, so that a link in place of the file is not followed either. */
const restoreScript = `${enterScript} && rm -f "./$3" && cat > "./$3" && chmod "$4" "./$3"`;
const removeScript = `${enterScript} && rm -rf "./$3"`;

interface RunOptions {
  readonly signal: AbortSignal;
  readonly bytes?: Buffer;
}

async function run(
  sandbox: Sandbox,
  script: string,
  [path = '', ...more]: readonly string[],
  { signal, bytes = Buffer.alloc(0) }: RunOptions,
): Promise<boolean> {
  const { dir, base } = posix.parse(path);
  const below = dir === '' ? '' : `/${dir}`;
  const argv = ['sh', '-c', script, 'place', sandbox.workspacePath, below, base, ...more] as const;
  const started = startCommand(sandbox, { argv, signal, hasInput: true }, { bytes: { headBytes: 1000, tailBytes: 0 } });
  // A script that stops early does not read its input. Its exit status reports that.
  started.running.stdin.on('error', () => {});
  started.running.stdin.end(bytes);
  const { code } = await started.ended;
  return code === 0;
}

function tooMuch(): AppError {
  const message = `at most ${maxRestoredFiles} files and ${maxRestoredBytes} bytes can be restored as they were`;
  return new AppError('E_TOO_LARGE', message);
}
