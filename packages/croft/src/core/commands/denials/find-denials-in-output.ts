import type { Redact } from '../../../lib/redaction/redact.ts';
import { cutText } from '../../../lib/text/cut-text.ts';
import { stripControlSequences } from '../../../lib/text/strip-control-sequences.ts';
import type { SandboxDenial } from '../sandbox.ts';
import { explainFile, fileClues } from './explain-file.ts';
import { explainLimit, limitClues, overFileSize } from './explain-limit.ts';
import { explainNetwork, networkClues } from './explain-network.ts';
import type { OutputLine, SandboxRules } from './output-line.ts';

export interface FailedCommand extends SandboxRules {
  /** The output of the command, as plain text. */
  readonly output: string;
  readonly exit: { readonly code: number | null; readonly signal: string | null };
  /** Redacts secrets before a text is cut: half of a secret would not be recognized. */
  readonly redact?: Redact | undefined;
}

const maxExplained = 5;
const maxTargetChars = 200;
/** Longer than any path. */
const maxLineChars = 5000;
const maxBeforeChars = 300;
/** Characters read from each end: the first error and the last line. */
const maxHalfChars = 50 * 1024;
/** 128 plus the signal number, as shells report a program that a signal ended. */
const fileSizeExit = 128 + 25;

/** One pass over the whole output; only the lines that match are examined. */
const clue = new RegExp([...fileClues, ...networkClues, ...limitClues].map(({ source }) => source).join('|'), 'gim');

/**
 * Finds denials in the output of a failed command. The kernel refuses some things without reporting them, and only the
 * program's own message shows it. The output is hostile: reading takes linear time, and a result helps the reader but
 * proves nothing.
 */
export function findDenialsInOutput(command: FailedCommand): SandboxDenial[] {
  const { code, signal } = command.exit;
  if (code === 0) return [];
  const found = new Map<string, SandboxDenial>();
  if (signal === 'SIGXFSZ' || code === fileSizeExit) addDenial(found, overFileSize(command));
  for (const line of suspectLines(shorten(command.output))) {
    for (const explain of [explainFile, explainNetwork, explainLimit]) {
      const denial = explain(line, command);
      if (denial) addDenial(found, tidyDenial(denial, command.redact));
    }
    if (found.size >= 2 * maxExplained) break;
  }
  return withTargets([...found.values()]).slice(0, maxExplained);
}

function addDenial(found: Map<string, SandboxDenial>, denial: SandboxDenial): void {
  const key = denialKey(denial);
  if (!found.has(key)) found.set(key, denial);
}

/** Makes a denial fit to show: on one line, without secrets, not too long. */
export function tidyDenial(denial: SandboxDenial, redact: Redact = (text) => text): SandboxDenial {
  const line = redact(stripControlSequences(denial.target)).replace(/\s+/g, ' ');
  const target = line.length > maxTargetChars ? `${cutText(line, maxTargetChars - 1)}…` : line;
  return { ...denial, target };
}

export function denialKey({ layer, rule, target }: SandboxDenial): string {
  return JSON.stringify([layer, rule, target]);
}

/** Drops denials without a target if the same layer has one with a target: programs often report both. */
function withTargets(denials: readonly SandboxDenial[]): SandboxDenial[] {
  const named = denials.filter(({ target }) => target !== '');
  const nameless = denials.filter(
    ({ target, layer }) => target === '' && !named.some((other) => other.layer === layer),
  );
  return [...named, ...nameless.map((denial) => ({ ...denial, target: 'not named' }))];
}

function* suspectLines(text: string): Generator<OutputLine> {
  clue.lastIndex = 0;
  for (let found = clue.exec(text); found; found = clue.exec(text)) {
    const start = text.lastIndexOf('\n', found.index) + 1;
    const newline = text.indexOf('\n', found.index);
    const end = newline < 0 ? text.length : newline;
    if (end - start <= maxLineChars) {
      yield { text: text.slice(start, end), before: text.slice(Math.max(0, start - maxBeforeChars), start) };
    }
    clue.lastIndex = end;
  }
}

/** Keeps both ends of a long text, in whole lines. */
function shorten(text: string): string {
  if (text.length <= 2 * maxHalfChars) return text;
  const [head, tail] = [text.slice(0, maxHalfChars), text.slice(-maxHalfChars)];
  return head.slice(0, head.lastIndexOf('\n') + 1) + tail.slice(tail.indexOf('\n') + 1);
}
