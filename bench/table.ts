import type { Row } from './bench.ts';
import type { Summary } from './statistics.ts';

const header = ['what', 'against', 'ours p50/p95/p99 ms', 'theirs p50/p95/p99 ms', 'ratio', 'goal', 'met'];

export function renderTable(rows: readonly Row[]): string {
  const cells = [header, ...rows.map(toCells)];
  const widths = header.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}

function toCells({ what, against, ours, theirs, ratio, goal, isMet, note }: Row): string[] {
  return [
    note === undefined ? what : `${what} (${note})`,
    against ?? '–',
    toTimes(ours),
    theirs ? toTimes(theirs) : '–',
    ratio === undefined ? '–' : `${ratio.toPrecision(2)}×`,
    goal,
    isMet ? 'met' : 'MISSED',
  ];
}

function toTimes({ p50, p95, p99 }: Summary): string {
  return [p50, p95, p99].map((ms) => ms.toFixed(ms < 10 ? 2 : ms < 100 ? 1 : 0)).join(' / ');
}
