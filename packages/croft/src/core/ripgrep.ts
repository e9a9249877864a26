import { AppError } from '@croft/protocol';
import type { Running } from './sandbox.ts';
import { temporaryPrefix } from './temporary.ts';
import type { Workspace } from './workspace.ts';

/** What every search takes: hidden files, the rules of .gitignore, and no one's own configuration. */
const commonArguments = [
  ...['--no-config', '--hidden', '--no-require-git', '--color=never', '--null'],
  ...['--glob=!.git', `--glob=!${temporaryPrefix}*`],
];

/** Beyond this a record is cut. Paths and lines that matter are shorter. */
const maxRecordBytes = 64 * 1024;
const maxErrorBytes = 16 * 1024;

export interface Search {
  readonly args: readonly string[];
  /** Relative to the root, links resolved. Searched from there down. */
  readonly scope: string;
  /** The byte that ends a record. */
  readonly separator: number;
  readonly signal: AbortSignal;
  /** Called for each record as it arrives. False ends the search. */
  onRecord(record: Buffer): boolean;
}

/**
 * Runs ripgrep in the workspace's sandbox, where nothing else can be read whatever links are swapped meanwhile.
 * Answers how many files could not be read; the rest of the results stand.
 */
export async function runRipgrep(workspace: Workspace, search: Search): Promise<{ unreadable: number }> {
  const sandbox = await workspace.sandbox();
  const scope = search.scope === '' ? [] : [`./${search.scope}`];
  const running = sandbox.start({
    argv: ['rg', ...commonArguments, ...search.args, ...scope],
    signal: search.signal,
  });
  const [errors, wasEnough] = await Promise.all([readErrors(running), readRecords(running, search)]);
  const { code } = await running.exit;
  search.signal.throwIfAborted();
  const unreadable = errors.match(/\(os error \d+\)/g)?.length ?? 0;
  if (wasEnough || code === 0 || code === 1 || unreadable > 0) return { unreadable };
  if (/No such file or directory/.test(errors)) {
    throw new AppError('E_SANDBOX_UNAVAILABLE', 'ripgrep (rg) is not installed where the sandbox can see it');
  }
  throw new AppError('E_BAD_PATTERN', `the search was refused: ${errors.trim().slice(0, 1000)}`);
}

/** Whether the caller had enough before the end. */
async function readRecords(running: Running, { separator, onRecord }: Search): Promise<boolean> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of running.stdout) {
    const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(separator); end !== -1; end = bytes.indexOf(separator, start)) {
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

async function readErrors(running: Running): Promise<string> {
  let text = '';
  for await (const chunk of running.stderr.setEncoding('utf8')) if (text.length < maxErrorBytes) text += chunk;
  return text;
}
