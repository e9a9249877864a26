import type { EscapeOutcome } from '../escapes/escape.ts';
import { escapeGroups } from '../escapes/escape-groups.ts';
import type { EscapeReport, runEscapes } from '../escapes/run-escapes.ts';
import { UsageError } from '../lib/usage-error.ts';
import { toPrintableLine, wrapText } from './render-table.ts';

export interface ProofOptions {
  /** Escape ids or group letters. Empty means all. */
  readonly ids: readonly string[];
  readonly signal: AbortSignal;
  write(text: string): void;
  readonly runEscapes: typeof runEscapes;
}

/**
 * Runs the escapes and prints each result as it comes. A proof with no results, or one that was stopped, does not pass.
 */
export async function proveEscapesFail({ ids, signal, write, runEscapes: run }: ProofOptions) {
  const only = ids.map((id) => id.charAt(0).toUpperCase() + id.slice(1).toLowerCase());
  const print = createPrinter(write);
  const escapes: EscapeReport[] = [];
  const onResult = (report: EscapeReport) => {
    // An interrupted attempt has no result.
    if (signal.aborted) return;
    escapes.push(report);
    print(report);
  };
  await run({ onResult, signal, ...(only.length > 0 && { only }) });
  refuseUnknown(only, escapes, signal);
  write(`\n${summarize(escapes)}${signal.aborted ? '; stopped before the end' : ''}\n`);
  const hasHeld = escapes.length > 0 && !signal.aborted && !escapes.some(({ outcome }) => hasGotOut(outcome));
  return {
    groups: escapeGroups.filter(({ letter }) => escapes.some(({ id }) => id.startsWith(letter))),
    escapes,
    hasHeld,
  };
}

function refuseUnknown(only: readonly string[], escapes: readonly EscapeReport[], { aborted }: AbortSignal): void {
  const known = new Set(escapes.flatMap(({ id }) => [id, id.replace(/[a-z]$/, ''), id.charAt(0)]));
  const unknown = only.filter((wanted) => !known.has(wanted));
  if (unknown.length === 0 || aborted) return;
  throw new UsageError(`there is no attempt ${unknown.join(', ')}; see them all: croft doctor --prove`);
}

function createPrinter(write: (text: string) => void): (report: EscapeReport) => void {
  let last = '';
  return (report) => {
    const letter = report.id.charAt(0);
    if (letter !== last) write(`\n${toHeading(letter)}\n`);
    last = letter;
    write(`${toLine(report)}\n`);
  };
}

function toHeading(letter: string): string {
  const group = escapeGroups.find((one) => one.letter === letter);
  if (!group) return `${letter}  others`;
  const lines = [`covers: ${group.covers}`, `leaves out: ${group.leavesOut}`].flatMap((text) => wrapText(text, 94));
  return [`${letter}  ${group.title}`, ...lines.map((line) => `   ${line}`)].join('\n');
}

function toLine({ id, title, guards, outcome, durationMs }: EscapeReport): string {
  const head = `${id.padEnd(4)} ${toPrintableLine(title)}`;
  if ('skipped' in outcome) return `  - ${head}: skipped, ${toPrintableLine(outcome.skipped)}`;
  if (outcome.held) return `  ✓ ${head} (${Math.round(durationMs)} ms)`;
  return `  ✗ ${head}\n         got out: ${toPrintableLine(outcome.how)}\n         should have been held by: ${guards.join(', ')}`;
}

function hasGotOut(outcome: EscapeOutcome): boolean {
  return 'held' in outcome && !outcome.held;
}

/** `97 attempts: 96 held, 0 got out, 1 skipped (no compiler)` */
function summarize(escapes: readonly EscapeReport[]): string {
  const skipped = escapes.flatMap(({ outcome }) => ('skipped' in outcome ? [toPrintableLine(outcome.skipped)] : []));
  const out = escapes.filter(({ outcome }) => hasGotOut(outcome)).length;
  const held = escapes.length - out - skipped.length;
  const why = skipped.length > 0 ? ` (${[...new Set(skipped)].join('; ')})` : '';
  return `${escapes.length} attempts: ${held} held, ${out} got out, ${skipped.length} skipped${why}`;
}
