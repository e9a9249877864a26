import type { EscapeFixture } from './escape.ts';
import type { Problem } from './to-verdict.ts';
import { revealsSecret, watchDirectory } from './watch-outside-workspace.ts';

export type AttackCall = readonly [tool: string, input: Readonly<Record<string, unknown>>];

const maxProblems = 5;

interface AttackOptions {
  /** The directory that must not change. By default the canary's. */
  readonly directory?: string;
  /** The text that no answer may contain. By default the canary. */
  readonly secret?: string;
  /** Whether a call may succeed. A search may succeed and find nothing. */
  readonly mayAnswer?: boolean;
  /** Stop after this many problems. */
  readonly enough?: number;
}

/** Makes calls that must be refused and that must neither reveal nor change anything outside. */
export async function attemptCalls(fixture: EscapeFixture, calls: readonly AttackCall[], attempts: AttackOptions = {}) {
  const { directory = fixture.outside, secret = fixture.canary, mayAnswer = false, enough = maxProblems } = attempts;
  const changes = watchDirectory(directory);
  const problems: Problem[] = [];
  for (const [tool, input] of calls) {
    const answer = await fixture.call(tool, input);
    const what = `${tool} ${JSON.stringify(input).slice(0, 120)}`;
    problems.push(revealsSecret(answer, secret, what));
    if (!mayAnswer && !answer.isError) problems.push(`${what} was not refused`);
    if (isUnexpectedFailure(answer.text)) problems.push(`${what} failed in an unexpected way`);
    // Without guards, the next call could wait forever for input.
    if (problems.filter(Boolean).length >= enough) break;
  }
  return [...problems, ...changes()];
}

/** Calls of every file tool for a path outside the workspace. */
export function fileCalls(path: string): AttackCall[] {
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

/** Calls that do not follow a link at the end of a path. */
function leafCalls(path: string): AttackCall[] {
  return [
    ['move', { from: path, to: 'taken.txt' }],
    ['delete', { file_path: path }],
  ];
}

/** Calls of every search in a directory outside the workspace. */
export function searchCalls(directory: string): AttackCall[] {
  return [
    ['grep', { pattern: 'canary', path: directory }],
    ['grep', { pattern: '.', path: directory, output_mode: 'files_with_matches' }],
    ['glob', { pattern: '**', path: directory }],
    ['glob', { pattern: `${directory}/**` }],
    ['grep', { pattern: '.', glob: `${directory}/**` }],
  ];
}

export function isUnexpectedFailure(text: string): boolean {
  return text.includes('unexpected failure');
}
