import { stripControl } from '../lib/text/strip-control.ts';
import type { Check, Fix, State } from './check.ts';
import type { Examination } from './examine.ts';

const marks: Readonly<Record<State, string>> = { holds: '✓', weaker: '!', missing: '✗' };
const columns = 100;

/** A row a check, and under it what to do about those that do not hold. */
export function toTable({ checks }: Examination): string {
  const indent = Math.max(...checks.map(({ name }) => name.length)) + 4;
  const rows = checks.map((check) => toRow(check, indent));
  const fixes = checks.flatMap(({ name, fix }) => (fix ? [{ name, fix }] : []));
  const steps = fixes.map(({ name, fix }, index) => toStep(index + 1, name, fix));
  return [...rows, '', ...steps, summarize(checks), ''].join('\n');
}

function toRow({ name, state, found }: Check, indent: number): string {
  const lines = wrap(oneLine(found), columns - indent);
  return `${marks[state]} ${name}`.padEnd(indent) + lines.join(`\n${' '.repeat(indent)}`);
}

/** The command is not wrapped: it is there to be copied. */
function toStep(number: number, name: string, { say, run }: Fix): string {
  const head = `${String(number).padStart(2)}. `;
  const lines = wrap(`${name}: ${say}`, columns - head.length);
  const command = run === undefined ? '' : `\n${' '.repeat(head.length)}  ${run}`;
  return `${head}${lines.join(`\n${' '.repeat(head.length)}`)}${command}\n`;
}

function summarize(checks: readonly Check[]): string {
  const count = (state: State) => checks.filter((check) => check.state === state).length;
  const [weak, gone] = [count('weaker'), count('missing')];
  if (gone > 0) return `Agents cannot work here yet: ${gone} missing, ${weak} weaker.`;
  return weak > 0
    ? `Sandboxes open here, with ${weak} weaker than they could be.`
    : 'Sandboxes open here, and all holds.';
}

/** Between words; a word that is longer than a line is left whole. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** What other programs said must not reach a terminal as they said it. */
export function oneLine(text: string): string {
  return stripControl(text).replace(/\s+/g, ' ').trim();
}
