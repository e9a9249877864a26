import { stripControlSequences } from '../lib/text/strip-control-sequences.ts';
import type { Examination } from './examine-host.ts';
import type { CheckState, HostCheck, HostFix } from './host-check.ts';

const marks: Readonly<Record<CheckState, string>> = { holds: '✓', weaker: '!', missing: '✗' };
const columns = 100;

/** Renders one row per check, then the steps that fix the rows that do not hold. */
export function renderTable({ checks }: Examination): string {
  const indent = Math.max(...checks.map(({ name }) => name.length)) + 4;
  const rows = checks.map((check) => toRow(check, indent));
  const fixes = checks.flatMap(({ name, fix }) => (fix ? [{ name, fix }] : []));
  const steps = fixes.map(({ name, fix }, index) => toStep(index + 1, name, fix));
  return [...rows, '', ...steps, summarize(checks), ''].join('\n');
}

function toRow({ name, state, found }: HostCheck, indent: number): string {
  const lines = wrapText(toPrintableLine(found), columns - indent);
  return `${marks[state]} ${name}`.padEnd(indent) + lines.join(`\n${' '.repeat(indent)}`);
}

/** Does not wrap the command, so that it can be copied. */
function toStep(number: number, name: string, { say, run }: HostFix): string {
  const head = `${String(number).padStart(2)}. `;
  const lines = wrapText(`${name}: ${say}`, columns - head.length);
  const command = run === undefined ? '' : `\n${' '.repeat(head.length)}  ${run}`;
  return `${head}${lines.join(`\n${' '.repeat(head.length)}`)}${command}\n`;
}

function summarize(checks: readonly HostCheck[]): string {
  const count = (state: CheckState) => checks.filter((check) => check.state === state).length;
  const [weak, gone] = [count('weaker'), count('missing')];
  if (gone > 0) return `Agents cannot work here yet: ${gone} missing, ${weak} weaker.`;
  return weak > 0
    ? `Sandboxes open here, with ${weak} checks weaker than they could be.`
    : 'Sandboxes open here, and every check holds.';
}

/** Wraps between words. A word longer than a line is not split. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Removes control characters: the text comes from other programs and goes to a terminal. */
export function toPrintableLine(text: string): string {
  return stripControlSequences(text).replace(/\s+/g, ' ').trim();
}
