import { AppError } from '@croft/protocol';
import { createTurns } from '../../../lib/concurrency/turns.ts';
import { temporaryPrefix } from '../../files/temporary-prefix.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { RunningSearch, SearchBox, SearchCommand } from './search-box.ts';

/** Options of every search: hidden files, the rules of `.gitignore`, and nobody's own configuration. */
const commonArguments = [
  ...['--no-config', '--hidden', '--no-require-git', '--color=never', '--null', '--no-context-separator'],
  ...['--glob=!.git', `--glob=!${temporaryPrefix}*`],
];

/** Longer records are cut. Paths and lines that matter are shorter. */
const maxRecordBytes = 64 * 1024;
const maxErrorBytes = 16 * 1024;
/** The kernel accepts 128 kB for one argument. */
const maxArgumentLength = 30_000;

interface RipgrepScope {
  readonly args: readonly string[];
  /** Directory to search, from the root, with links resolved. */
  readonly scope: string;
  readonly signal: AbortSignal;
}

interface RipgrepSearch extends RipgrepScope {
  /** A record is a path, or a path and a line of text. */
  readonly record: 'path' | 'path-and-line';
  /** Called for each record as it arrives. `false` ends the search. */
  onRecord(record: Buffer): boolean;
}

export interface FileSearch extends RipgrepScope {
  /** Only files with this ending are reported; others cost next to nothing. */
  readonly suffix: string;
  /**
   * Whether details of a file are worth a further request, where that costs something. Files whose details come anyway
   * are all reported.
   */
  wants(path: string): boolean;
  /** Called for files as they arrive, and again after that promise has resolved. `false` ends the search. */
  onFiles(files: FoundFile[]): Promise<boolean>;
}

export interface FoundFile {
  /** Path from the root. */
  readonly path: string;
  /** Modification time on a scale of its own, later is more; 0 for a file that is gone. */
  readonly time: number;
}

/**
 * Runs ripgrep in the workspace's search sandbox, where nothing else can be read even if links are swapped meanwhile.
 * Returns how many files could not be read; the other results are valid.
 */
export function runRipgrep(
  workspace: Pick<Workspace, 'withSearchBox'>,
  search: RipgrepSearch,
): Promise<{ unreadable: number }> {
  return workspace.withSearchBox((box) => run(box, toCommand(search), (running) => readRecords(running, search)));
}

/** Like `runRipgrep`, for a search that returns only files, which may be very many. */
export function listFilesWithRipgrep(workspace: Workspace, search: FileSearch): Promise<{ unreadable: number }> {
  if (workspace.listFiles) return workspace.listFiles(search);
  const { suffix } = search;
  const command = { ...toCommand({ ...search, args: ['--files', ...search.args] }), withTimes: { suffix } };
  return workspace.withSearchBox((box) => run(box, command, (running) => readFiles(running, search)));
}

function toCommand({ args, scope, signal }: RipgrepScope): SearchCommand {
  checkArguments(args);
  return { argv: ['rg', ...commonArguments, ...args, ...(scope === '' ? [] : [`./${scope}`])], signal };
}

/** Runs a search. `read` consumes the output and returns whether it stopped before the end. */
async function run(box: SearchBox, command: SearchCommand, read: (running: RunningSearch) => Promise<boolean>) {
  const running = box.start(command);
  const [errors, wasEnough] = await Promise.all([readErrors(running), read(running)]).catch((thrown) => {
    running.kill();
    throw thrown;
  });
  const { code } = await running.exit.catch(searchFailedError);
  command.signal.throwIfAborted();
  // The init shares its exit codes with a refused search.
  if (errors.startsWith('croft-init: '))
    throw new AppError('E_SANDBOX_UNAVAILABLE', 'the search could not be started', { hint: searchAgain });
  if (wasEnough || code === 0 || code === 1) return { unreadable: countUnreadable(errors) };
  const unreadable = countUnreadable(errors);
  if (unreadable > 0) return { unreadable };
  throw searchError(errors.trim());
}

/** A search changes nothing, so that it may always be repeated. */
export const searchAgain =
  'Search again. If the error persists, tell the operator: `croft doctor` says what is missing.';

/** Rewords ripgrep's errors, which name options that callers do not have. */
function searchError(errors: string): AppError {
  const [, type] = /unrecognized file type: (.*)$/.exec(errors) ?? [];
  if (type !== undefined) return new AppError('E_INVALID_INPUT', `type is not valid: there is no file type ${type}`);
  const [words = ''] = errors.split('\n\nConsider enabling multiline mode');
  const advice = words === errors ? '' : '; set multiline to true to allow it';
  return new AppError('E_BAD_PATTERN', `the search was refused: ${words.slice(0, 1000)}${advice}`);
}

/** The search sandbox has no free handle, or is gone. */
function searchFailedError(cause: Error): never {
  throw new AppError('E_SANDBOX_UNAVAILABLE', `the search did not finish: ${cause.message}`, {
    cause,
    hint: searchAgain,
  });
}

/** Ripgrep indents a pattern that it quotes; messages about files are not indented. */
function countUnreadable(errors: string): number {
  return errors.startsWith('regex parse error') ? 0 : (errors.match(/^\S.*\(os error \d+\)$/gm)?.length ?? 0);
}

function checkArguments(args: readonly string[]): void {
  for (const argument of args) {
    if (argument.includes('\0')) throw new AppError('E_INVALID_INPUT', 'a search cannot hold a NUL byte');
    if (argument.length > maxArgumentLength) {
      throw new AppError('E_INVALID_INPUT', `a pattern is longer than ${maxArgumentLength} characters`);
    }
  }
}

/** Returns whether the caller stopped before the end. */
async function readRecords(running: RunningSearch, { record, onRecord }: RipgrepSearch): Promise<boolean> {
  const findEnd = record === 'path' ? endOfPath : endOfLine;
  const turn = createTurns();
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of running.stdout) {
    const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = findEnd(bytes, start); end !== -1; end = findEnd(bytes, start)) {
      const wait = turn();
      if (wait) await wait;
      if (!onRecord(bytes.subarray(start, Math.min(end, start + maxRecordBytes)))) {
        running.kill();
        return true;
      }
      start = end + 1;
    }
    rest = bytes.subarray(start, start + maxRecordBytes);
  }
  return false;
}

/** Decodes all files of a chunk at once, because most of the time per file goes into decoding it alone. */
async function readFiles(running: RunningSearch, { onFiles }: FileSearch): Promise<boolean> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of running.stdout) {
    const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(0);
    rest = bytes.subarray(end + 1, end + 1 + maxRecordBytes);
    if (end === -1) continue;
    if (await onFiles(bytes.toString('utf8', 0, end).split('\0').map(toFile))) continue;
    running.kill();
    return true;
  }
  return false;
}

/** Parses a time, a space and a path. */
function toFile(record: string): FoundFile {
  const start = record.indexOf(' ') + 1;
  return {
    path: record.slice(record.startsWith('./', start) ? start + 2 : start),
    time: Number(record.slice(0, start)),
  };
}

function endOfPath(bytes: Buffer, start: number): number {
  return bytes.indexOf(0, start);
}

/** A path may hold newlines: the newline that ends the record comes after the NUL of the path. */
function endOfLine(bytes: Buffer, start: number): number {
  const path = bytes.indexOf(0, start);
  return path === -1 ? -1 : bytes.indexOf(10, path);
}

async function readErrors(running: RunningSearch): Promise<string> {
  let text = '';
  for await (const chunk of running.stderr.setEncoding('utf8')) if (text.length < maxErrorBytes) text += chunk;
  return text;
}
