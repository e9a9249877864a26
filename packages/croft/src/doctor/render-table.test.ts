import { expect, test } from 'vitest';
import type { Examination } from './examine-host.ts';
import { renderTable } from './render-table.ts';

const host = { system: 'Debian', kernel: '6.1.0', container: null, uid: 1000 };
const table = (...checks: Examination['checks']) => renderTable({ host, checks });
const long = 'a word and another one, '.repeat(20).trim();

test('prints a mark, a name and a finding per row, in columns', () => {
  const text = table(
    { name: 'kernel', state: 'holds', found: 'Linux 6.1' },
    { name: 'control groups', state: 'weaker', found: 'none' },
    { name: 'bubblewrap', state: 'missing', found: 'not installed' },
  );
  expect(text.split('\n').slice(0, 4)).toEqual([
    '✓ kernel          Linux 6.1',
    '! control groups  none',
    '✗ bubblewrap      not installed',
    '',
  ]);
  expect(text).toContain('1 missing, 1 weaker');
});

test('numbers the fixes, each with the name of its row and its whole command', () => {
  const run = `run ${'x'.repeat(150)}`;
  const text = table(
    { name: 'one', state: 'missing', found: 'no', fix: { say: long, run } },
    { name: 'two', state: 'weaker', found: 'no' },
    { name: 'three', state: 'weaker', found: 'no', fix: { say: 'Do.' } },
  );
  expect(text).toMatch(/^ 1\. one: a word/m);
  expect(text).toMatch(/^ 2\. three: Do\.$/m);
  expect(text).toContain(`\n      ${run}\n`);
});

test('fits 100 columns, apart from text to copy', () => {
  const lines = table(
    { name: 'one', state: 'weaker', found: long, fix: { say: long } },
    { name: 'another', state: 'missing', found: long },
  ).split('\n');
  expect(lines.length).toBeGreaterThan(12);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
});

test('removes terminal sequences from the output of other programs', () => {
  const found = 'bwrap: \u001b[31mred\u001b]0;title\u0007\r\nline\u009b2J\u202e';
  expect(table({ name: 'one', state: 'missing', found })).toContain('✗ one  bwrap: red line\n');
});
