import type { Redact } from '../../lib/redact.ts';
import { cutText } from '../../lib/text/cut-text.ts';
import { stripControl } from '../../lib/text/strip-control.ts';
import { explainFile, fileClues } from './explain/file.ts';
import { explainLimit, limitClues, overFileSize } from './explain/limit.ts';
import type { Fence, Line } from './explain/line.ts';
import { explainNetwork, networkClues } from './explain/network.ts';
import type { Denial } from './sandbox.ts';

export interface FailedCommand extends Fence {
  /** What it printed, as plain text. */
  readonly output: string;
  readonly exit: { readonly code: number | null; readonly signal: string | null };
  /** Takes secrets out of what is to be cut short: half of one would not be known for what it is. */
  readonly redact?: Redact | undefined;
}

const maxExplained = 5;
const maxTargetChars = 200;
/** Longer than a path may be. */
const maxLineChars = 5000;
const maxBeforeChars = 300;
/** From each end: the first error and the last word. */
const maxHalfChars = 50 * 1024;
/** 128 and the number of the signal, as shells say it of a program they ran. */
const fileSizeExit = 128 + 25;

/** One look at the whole output; only the lines it stops at are examined. */
const clue = new RegExp([...fileClues, ...networkClues, ...limitClues].map(({ source }) => source).join('|'), 'gim');

/**
 * What the kernel refuses without telling anybody shows only in the words of the program that was refused: this finds
 * the usual ones in the output of a command that failed. The output is hostile, so it takes linear time whatever it
 * is, and what it finds is a help to the reader and no proof.
 */
export function explainDenials(command: FailedCommand): Denial[] {
  const { code, signal } = command.exit;
  if (code === 0) return [];
  const found = new Map<string, Denial>();
  if (signal === 'SIGXFSZ' || code === fileSizeExit) add(found, overFileSize(command));
  for (const line of suspectLines(shorten(command.output))) {
    for (const explain of [explainFile, explainNetwork, explainLimit]) {
      const denial = explain(line, command);
      if (denial) add(found, tidy(denial, command.redact));
    }
    if (found.size >= 2 * maxExplained) break;
  }
  return withNames([...found.values()]).slice(0, maxExplained);
}

function add(found: Map<string, Denial>, denial: Denial): void {
  const key = keyOf(denial);
  if (!found.has(key)) found.set(key, denial);
}

/** For a reader: on one line, without secrets, not too long. */
export function tidy(denial: Denial, redact: Redact = (text) => text): Denial {
  const line = redact(stripControl(denial.target)).replace(/\s+/g, ' ');
  const target = line.length > maxTargetChars ? `${cutText(line, maxTargetChars - 1)}…` : line;
  return { ...denial, target };
}

export function keyOf({ layer, rule, target }: Denial): string {
  return JSON.stringify([layer, rule, target]);
}

/** Programs often say it twice, once without a name: that is only worth telling if it is all there is. */
function withNames(denials: readonly Denial[]): Denial[] {
  const named = denials.filter(({ target }) => target !== '');
  const nameless = denials.filter(
    ({ target, layer }) => target === '' && !named.some((other) => other.layer === layer),
  );
  return [...named, ...nameless.map((denial) => ({ ...denial, target: 'not named' }))];
}

function* suspectLines(text: string): Generator<Line> {
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

/** In whole lines. */
function shorten(text: string): string {
  if (text.length <= 2 * maxHalfChars) return text;
  const [head, tail] = [text.slice(0, maxHalfChars), text.slice(-maxHalfChars)];
  return head.slice(0, head.lastIndexOf('\n') + 1) + tail.slice(tail.indexOf('\n') + 1);
}
