import { AppError } from '@croft/protocol';
import { createTurns } from '../../../lib/concurrency/turns.ts';
import { createByteLineSplitter } from '../../../lib/text/lines/byte-line-splitter.ts';
import { searchAgain } from '../../content/search/ripgrep.ts';
import type { RunningSearch } from '../../content/search/search-box.ts';
import { temporaryPrefix } from '../../files/temporary-prefix.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { explainAstGrepFailure } from './explain-ast-grep-failure.ts';
import { type PatternMatch, parsePatternMatch } from './pattern-match.ts';

interface PatternQuery {
  /** Arguments that say what to find: a pattern or a rule, the language, a rewrite. */
  readonly args: readonly string[];
  /** File or directory to search, from the root, with links resolved. */
  readonly scope: string;
  readonly signal: AbortSignal;
  /** Called for each match as it arrives. `false` ends the search. */
  onMatch(match: PatternMatch): boolean;
}

/** The configuration that the search box has: see `providers/search-box`. Never the one of the workspace. */
const commonArguments = ['--config=/etc/ast-grep.yml', '--color=never', '--no-ignore=hidden'];
const leftOut = ['.git', `${temporaryPrefix}*`];
/** A match of more bytes is no use to a model. Its line is skipped. */
const maxLineBytes = 512 * 1024;
const maxErrorBytes = 16 * 1024;
/** The kernel accepts 128 kB for one argument. */
const maxArgumentLength = 30_000;

/**
 * Runs ast-grep in the workspace's search box, where it can read the workspace and nothing else. Throws `E_BAD_PATTERN`
 * for a pattern that it does not understand. Resolves with what it printed besides matches, and with how many matches
 * were too long.
 */
export async function runAstGrep(
  workspace: Workspace,
  query: PatternQuery,
): Promise<{ said: string; skipped: number }> {
  checkArguments(query.args);
  return workspace.withSearchBox(async (box) => {
    const running = box.start({ argv: toCommand(query), signal: query.signal });
    const [said, end] = await Promise.all([readErrors(running), readMatches(running, query)]).catch((thrown) => {
      running.kill();
      throw thrown;
    });
    const { code } = await running.exit.catch((cause: Error): never => {
      throw new AppError('E_SANDBOX_UNAVAILABLE', `the search did not finish: ${cause.message}`, {
        cause,
        hint: searchAgain,
      });
    });
    query.signal.throwIfAborted();
    if (!end.wasEnough && code !== 0 && code !== 1) throw explainAstGrepFailure(said);
    return { said, skipped: end.skipped };
  });
}

/** A scope in node_modules is searched; otherwise node_modules is left out, as in `grep`. */
function toCommand({ args: [verb = 'run', ...args], scope }: PatternQuery): readonly [string, ...string[]] {
  const globs = [...leftOut, ...(scope.includes('node_modules') ? [] : ['node_modules'])];
  return [
    ...(['ast-grep', verb, ...commonArguments, '--json=stream'] as const),
    ...globs.map((glob) => `--globs=!${glob}`),
    ...args,
    `./${scope}`,
  ];
}

function checkArguments(args: readonly string[]): void {
  for (const argument of args) {
    if (argument.includes('\0')) throw new AppError('E_INVALID_INPUT', 'a pattern cannot hold a NUL byte');
    if (argument.length > maxArgumentLength)
      throw new AppError('E_INVALID_INPUT', `a pattern is longer than ${maxArgumentLength} characters`);
  }
}

async function readMatches({ stdout, kill }: RunningSearch, { onMatch }: PatternQuery) {
  const turn = createTurns();
  const end = { wasEnough: false, skipped: 0 };
  let isTooLong = false;
  const split = createByteLineSplitter(
    maxLineBytes,
    (line) => {
      const match = isTooLong || line.length > maxLineBytes ? undefined : parsePatternMatch(line.toString());
      isTooLong = false;
      if (!match) end.skipped += 1;
      else if (!end.wasEnough && !onMatch(match)) end.wasEnough = true;
    },
    () => {
      isTooLong = true;
    },
  );
  for await (const chunk of stdout as AsyncIterable<Buffer>) {
    split(chunk);
    if (end.wasEnough) {
      kill();
      break;
    }
    await turn();
  }
  return end;
}

async function readErrors(running: RunningSearch): Promise<string> {
  let text = '';
  for await (const chunk of running.stderr.setEncoding('utf8')) if (text.length < maxErrorBytes) text += chunk;
  return text;
}
