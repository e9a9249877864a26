import type { Outcome } from '../escapes/escape.ts';
import type { EscapeReport, runEscapes } from '../escapes/run.ts';
import { UsageError } from '../lib/usage-error.ts';
import { oneLine } from './table.ts';

export interface ProofOptions {
  /** Those to attempt, by id or by the letter of their group: all if there are none. */
  readonly ids: readonly string[];
  readonly signal: AbortSignal;
  write(text: string): void;
  readonly runEscapes: typeof runEscapes;
}

/** Attempts to get out and tells each attempt as it ends. An empty proof, or one that was stopped, proves nothing. */
export async function prove({ ids, signal, write, runEscapes: run }: ProofOptions) {
  const only = ids.map((id) => id.charAt(0).toUpperCase() + id.slice(1).toLowerCase());
  const tell = createTeller(write);
  const escapes: EscapeReport[] = [];
  const onResult = (report: EscapeReport) => {
    // What was cut off has neither held nor got out.
    if (signal.aborted) return;
    escapes.push(report);
    tell(report);
  };
  await run({ onResult, signal, ...(only.length > 0 && { only }) });
  refuseUnknown(only, escapes, signal);
  write(`\n${summarize(escapes)}${signal.aborted ? '; stopped before the end' : ''}\n`);
  const hasHeld = escapes.length > 0 && !signal.aborted && !escapes.some(({ outcome }) => gotOut(outcome));
  return { escapes, hasHeld };
}

function refuseUnknown(only: readonly string[], escapes: readonly EscapeReport[], { aborted }: AbortSignal): void {
  const known = new Set(escapes.flatMap(({ id }) => [id, id.replace(/[a-z]$/, ''), id.charAt(0)]));
  const unknown = only.filter((wanted) => !known.has(wanted));
  if (unknown.length === 0 || aborted) return;
  throw new UsageError(`there is no attempt ${unknown.join(', ')}; see them all: croft doctor --prove`);
}

const groups: Readonly<Record<string, string>> = {
  A: 'paths and files',
  B: 'the kernel',
  C: 'control files',
  D: 'git',
  E: 'network',
  F: 'secrets',
  G: 'resources',
};

function createTeller(write: (text: string) => void): (report: EscapeReport) => void {
  let group = '';
  return (report) => {
    const own = report.id.charAt(0);
    if (own !== group) write(`\n${own}  ${groups[own] ?? 'others'}\n`);
    group = own;
    write(`${toLine(report)}\n`);
  };
}

function toLine({ id, title, guards, outcome, durationMs }: EscapeReport): string {
  const head = `${id.padEnd(4)} ${oneLine(title)}`;
  if ('skipped' in outcome) return `  - ${head}: skipped, ${oneLine(outcome.skipped)}`;
  if (outcome.held) return `  ✓ ${head} (${Math.round(durationMs)} ms)`;
  return `  ✗ ${head}\n         got out: ${oneLine(outcome.how)}\n         should have been held by: ${guards.join(', ')}`;
}

function gotOut(outcome: Outcome): boolean {
  return 'held' in outcome && !outcome.held;
}

/** `97 attempts: 96 held, 0 got out, 1 skipped (no compiler)` */
function summarize(escapes: readonly EscapeReport[]): string {
  const skipped = escapes.flatMap(({ outcome }) => ('skipped' in outcome ? [oneLine(outcome.skipped)] : []));
  const out = escapes.filter(({ outcome }) => gotOut(outcome)).length;
  const held = escapes.length - out - skipped.length;
  const why = skipped.length > 0 ? ` (${[...new Set(skipped)].join('; ')})` : '';
  return `${escapes.length} attempts: ${held} held, ${out} got out, ${skipped.length} skipped${why}`;
}
