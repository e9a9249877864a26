import { AppError } from '@croft/protocol';
import { temporaryPrefix } from '../temporary.ts';
import type { Workspace } from '../workspace.ts';
import type { SearchBox, SearchCommand, Searching } from './search-box.ts';

/** What every search takes: hidden files, the rules of .gitignore, and no one's own configuration. */
const commonArguments = [
  ...['--no-config', '--hidden', '--no-require-git', '--color=never', '--null', '--no-context-separator'],
  ...['--glob=!.git', `--glob=!${temporaryPrefix}*`],
];

/** Beyond this a record is cut. Paths and lines that matter are shorter. */
const maxRecordBytes = 64 * 1024;
const maxErrorBytes = 16 * 1024;
/** The kernel takes 128 kB for one argument. */
const maxArgumentLength = 30_000;

export interface SearchScope {
  readonly args: readonly string[];
  /** Relative to the root, links resolved. Searched from there down. */
  readonly scope: string;
  readonly signal: AbortSignal;
}

export interface Search extends SearchScope {
  /** A record is a path, or a path and a line of text. */
  readonly record: 'path' | 'path-and-line';
  /** Called for each record as it arrives. False ends the search. */
  onRecord(record: Buffer): boolean;
}

export interface FileSearch extends SearchScope {
  /** Files whose path does not end so are left out, and cost next to nothing. */
  readonly suffix: string;
  /** Of which files more is worth asking for, where that costs something. All are told of that come anyway. */
  wants(path: string): boolean;
  /** Called for files as they arrive. False ends the search. */
  onFiles(files: FoundFile[]): boolean;
}

export interface FoundFile {
  /** Relative to the root. */
  readonly path: string;
  /** When it was last changed, on a scale on which later is more; 0 for what is gone. */
  readonly time: number;
}

/**
 * Runs ripgrep in the workspace's sandbox, where nothing else can be read whatever links are swapped meanwhile.
 * Answers how many files could not be read; the rest of the results stand.
 */
export function runRipgrep(workspace: Workspace, search: Search): Promise<{ unreadable: number }> {
  return workspace.withSearchBox((box) => run(box, toCommand(search), (running) => readRecords(running, search)));
}

/** The same for a search that answers with files alone, which may be very many. */
export function listFiles(workspace: Workspace, search: FileSearch): Promise<{ unreadable: number }> {
  if (workspace.listFiles) return workspace.listFiles(search);
  const { suffix } = search;
  const command = { ...toCommand({ ...search, args: ['--files', ...search.args] }), withTimes: { suffix } };
  return workspace.withSearchBox((box) => run(box, command, (running) => readFiles(running, search)));
}

function toCommand({ args, scope, signal }: SearchScope): SearchCommand {
  checkArguments(args);
  return { argv: ['rg', ...commonArguments, ...args, ...(scope === '' ? [] : [`./${scope}`])], signal };
}

/** `read` takes in the output, and says whether that was enough before the end. */
async function run(box: SearchBox, command: SearchCommand, read: (running: Searching) => Promise<boolean>) {
  const running = box.start(command);
  const [errors, wasEnough] = await Promise.all([readErrors(running), read(running)]).catch((thrown) => {
    running.kill();
    throw thrown;
  });
  const { code } = await running.exit.catch(cannotSearch);
  command.signal.throwIfAborted();
  // It shares its exit codes with a search that was refused.
  if (errors.startsWith('croft-init: ')) throw new AppError('E_SANDBOX_UNAVAILABLE', 'the search could not be started');
  if (wasEnough || code === 0 || code === 1) return { unreadable: countUnreadable(errors) };
  const unreadable = countUnreadable(errors);
  if (unreadable > 0) return { unreadable };
  throw refusal(errors.trim());
}

/** Its words speak of its own options, which callers do not have. */
function refusal(errors: string): AppError {
  const [, type] = /unrecognized file type: (.*)$/.exec(errors) ?? [];
  if (type !== undefined) return new AppError('E_INVALID_INPUT', `type is not valid: there is no file type ${type}`);
  const [words = ''] = errors.split('\n\nConsider enabling multiline mode');
  const advice = words === errors ? '' : '; set multiline to true, and it is';
  return new AppError('E_BAD_PATTERN', `the search was refused: ${words.slice(0, 1000)}${advice}`);
}

/** There are more at once than the box has handles for, or it has gone. */
function cannotSearch(cause: Error): never {
  throw new AppError('E_SANDBOX_UNAVAILABLE', `the search did not come to its end: ${cause.message}`, { cause });
}

/** A pattern that ripgrep quotes back is indented; what it says of a file is not. */
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

/** Whether the caller had enough before the end. */
async function readRecords(running: Searching, { record, onRecord }: Search): Promise<boolean> {
  const findEnd = record === 'path' ? endOfPath : endOfLine;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of running.stdout) {
    const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = findEnd(bytes, start); end !== -1; end = findEnd(bytes, start)) {
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

/** Decodes all the files of a chunk at once: by far the most of the time of a file is in looking at it alone. */
async function readFiles(running: Searching, { onFiles }: FileSearch): Promise<boolean> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of running.stdout) {
    const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(0);
    rest = bytes.subarray(end + 1, end + 1 + maxRecordBytes);
    if (end === -1) continue;
    if (onFiles(bytes.toString('utf8', 0, end).split('\0').map(toFile))) continue;
    running.kill();
    return true;
  }
  return false;
}

/** From a time, a space and a path. */
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

/** A path may hold newlines; the one that ends the record comes after the path's own end. */
function endOfLine(bytes: Buffer, start: number): number {
  const path = bytes.indexOf(0, start);
  return path === -1 ? -1 : bytes.indexOf(10, path);
}

async function readErrors(running: Searching): Promise<string> {
  let text = '';
  for await (const chunk of running.stderr.setEncoding('utf8')) if (text.length < maxErrorBytes) text += chunk;
  return text;
}
