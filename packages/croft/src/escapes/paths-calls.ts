import type { Ground } from './escape.ts';
import { tells, watchOver } from './outside.ts';
import type { Problem } from './verdict.ts';

export type ToolCall = readonly [tool: string, input: Readonly<Record<string, unknown>>];

const maxProblems = 5;

interface Attempts {
  /** What must stay as it is, the canary's directory if left out. */
  readonly directory?: string;
  /** What must not be told, the canary if left out. */
  readonly secret?: string;
  /** An answer is no success by itself: a search may well find nothing. */
  readonly mayAnswer?: boolean;
  /** After so many problems no more calls are made. */
  readonly enough?: number;
}

/** Makes calls of which none may tell or touch anything outside, and which are to be refused. */
export async function attemptCalls(ground: Ground, calls: readonly ToolCall[], attempts: Attempts = {}) {
  const { directory = ground.outside, secret = ground.canary, mayAnswer = false, enough = maxProblems } = attempts;
  const changes = watchOver(directory);
  const problems: Problem[] = [];
  for (const [tool, input] of calls) {
    const answer = await ground.call(tool, input);
    const what = `${tool} ${JSON.stringify(input).slice(0, 120)}`;
    problems.push(tells(answer, secret, what));
    if (!mayAnswer && !answer.isError) problems.push(`${what} was not refused`);
    if (isUnforeseen(answer.text)) problems.push(`${what} failed in a way that nobody thought of`);
    // Where nothing holds, the next call could wait for input that never comes.
    if (problems.filter(Boolean).length >= enough) break;
  }
  return [...problems, ...changes()];
}

/** Every file tool on a path to a file that is not inside. */
export function fileCalls(path: string): ToolCall[] {
  return [
    ['read', { file_path: path }],
    ['write', { file_path: path, content: 'evil\n' }],
    ['edit', { file_path: path, old_string: 'a', new_string: 'evil', replace_all: true }],
    ['write', { file_path: `${path}-new`, content: 'evil\n' }],
    ['write', { file_path: `${path}-new/deep/er`, content: 'evil\n' }],
    ['move', { from: 'own.txt', to: `${path}-moved` }],
    ['list', { path: `${path}/..` }],
    ...leafCalls(path),
  ];
}

/** Those that do not follow a link at the end of a path. */
function leafCalls(path: string): ToolCall[] {
  return [
    ['move', { from: path, to: 'taken.txt' }],
    ['delete', { file_path: path }],
  ];
}

/** Every search in a directory that is not inside. */
export function searchCalls(directory: string): ToolCall[] {
  return [
    ['grep', { pattern: 'canary', path: directory }],
    ['grep', { pattern: '.', path: directory, output_mode: 'files_with_matches' }],
    ['glob', { pattern: '**', path: directory }],
    ['glob', { pattern: `${directory}/**` }],
    ['grep', { pattern: '.', glob: `${directory}/**` }],
  ];
}

export function isUnforeseen(text: string): boolean {
  return text.includes('unexpected failure');
}
