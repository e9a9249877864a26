import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectCheap } from '../../../test/support/expect-cheap.ts';
import { compactDiff } from './compact-diff.ts';

const ten = 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n';

test.each([
  ['equal texts', 'a\n', 'a\n', []],
  ['two empty texts', '', '', []],
  ['a changed line', ten, ten.replace('e', 'E'), ['@@ -3,5 +3,5 @@', ' c', ' d', '-e', '+E', ' f', ' g']],
  ['an added line', 'a\nc\n', 'a\nb\nc\n', ['@@ -1,2 +1,3 @@', ' a', '+b', ' c']],
  ['a removed line', 'a\nb\nc\n', 'a\nc\n', ['@@ -1,3 +1,2 @@', ' a', '-b', ' c']],
  ['a text from nothing', '', 'a\nb\n', ['@@ -0,0 +1,2 @@', '+a', '+b']],
  ['a text to nothing', 'a\n', '', ['@@ -1,1 +0,0 @@', '-a']],
  ['a half-equal line', 'x\nab\n', 'x\ncb\n', ['@@ -1,2 +1,2 @@', ' x', '-ab', '+cb']],
  [
    'an end grown into a line',
    'a\nc',
    'a\nbc',
    ['@@ -1,2 +1,2 @@', ' a', '-c', '\\ No newline at end of file', '+bc', '\\ No newline at end of file'],
  ],
  ['a lost final newline', 'a\n', 'a', ['@@ -1,1 +1,1 @@', '-a', '+a', '\\ No newline at end of file']],
  ['a gained final newline', 'a', 'a\n', ['@@ -1,1 +1,1 @@', '-a', '\\ No newline at end of file', '+a']],
  [
    'an unchanged missing newline',
    'a\nb',
    'x\nb',
    ['@@ -1,2 +1,2 @@', '-a', '+x', ' b', '\\ No newline at end of file'],
  ],
  ['CRLF lines', 'a\r\nb\r\n', 'a\r\nB\r\n', ['@@ -1,2 +1,2 @@', ' a', '-b', '+B']],
  ['changed line endings', 'a\r\n', 'a\n', ['@@ -1,1 +1,1 @@', '-a', '+a']],
  ['empty lines', '\n\n', '\n\n\n', ['@@ -1,2 +1,3 @@', ' ', ' ', '+']],
])('shows %s', (_, before, after, lines) => {
  expect(compactDiff(before, after)).toBe(lines.join('\n'));
});

test('distant changes are separate hunks, near ones share a hunk', () => {
  const after = ten.replace('b', 'B').replace('i', 'I');
  const heads = (context: number) => compactDiff(ten, after, { context }).match(/^@@.*/gm);
  expect(heads(1)).toEqual(['@@ -1,3 +1,3 @@', '@@ -8,3 +8,3 @@']);
  expect(heads(3)).toEqual(['@@ -1,10 +1,10 @@']);
});

test('without context an insertion is numbered by the line above it', () => {
  expect(compactDiff('a\nc\n', 'a\nb\nc\n', { context: 0 })).toBe('@@ -1,0 +2,1 @@\n+b');
});

test('a long diff is cut, and says how much is missing', () => {
  const after = Array.from({ length: 20 }, (_, index) => `${index}\n`).join('');
  const lines = compactDiff('', after, { maxLines: 5 }).split('\n');
  expect(lines).toEqual(['@@ -0,0 +1,20 @@', '+0', '+1', '+2', '+3', '… (16 more diff lines)']);
  expect(compactDiff('', after, { maxLines: 21 })).not.toContain('…');
});

const large = Array.from({ length: 600 }, (_, index) => `same ${index}\nold ${index}\n`).join('');

test('of a large region only the changed lines are shown if their number stays', () => {
  const after = large.replaceAll(/^old (\d*)0$/gm, 'new $10');
  const lines = compactDiff(large, after, { context: 0, maxLines: 10_000 }).split('\n');
  expect(lines.filter((line) => line.startsWith('@@'))).toHaveLength(60);
  expect(lines.slice(0, 3)).toEqual(['@@ -2,1 +2,1 @@', '-old 0', '+new 0']);
});

test('a region too large to compare becomes one replaced block', () => {
  const before = large;
  const after = before.replaceAll('old', 'new').replace('new 300', 'new\n300');
  const lines = compactDiff(before, after, { maxLines: 10_000 }).split('\n');
  expect(lines.filter((line) => line.startsWith('@@'))).toHaveLength(1);
  expect(lines.slice(2, 5)).toEqual(['-old 0', '-same 1', '-old 1']);
});

test('one change in a large text is found quickly', async () => {
  const before = Array.from({ length: 200_000 }, (_, index) => `a line of text with a number, ${index}\n`).join('');
  const after = before.replace(', 150000', ', changed');
  expect(compactDiff(before, after)).toContain('@@ -149999,5 +149999,5 @@');
  await expectCheap(() => compactDiff(before, after), 4);
});

test('the diff applied to the old text gives the new text', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\n', 'é'), maxLength: 60 });
  fc.assert(
    fc.property(text, text, fc.nat(4), (before, after, context) => {
      const diff = compactDiff(before, after, { context, maxLines: Number.POSITIVE_INFINITY });
      expect(applyDiff(before, diff)).toBe(after);
      expect(diff === '').toBe(before === after);
    }),
    { numRuns: 3000 },
  );
});

test('a few edits to a longer text survive the round trip', () => {
  const lines = fc.array(fc.constantFrom<string[]>('x\n', 'y\n', '\n', 'a longer line of text\n'), {
    minLength: 20,
    maxLength: 60,
  });
  const edits = fc.array(fc.tuple(fc.nat(60), fc.constantFrom('', 'new\n', 'x\n')), { maxLength: 4 });
  fc.assert(
    fc.property(lines, edits, (old, changes) => {
      const now = changes.reduce((text, [at, line]) => text.toSpliced(at, 1, line), old);
      const diff = compactDiff(old.join(''), now.join(''), { maxLines: Number.POSITIVE_INFINITY });
      expect(applyDiff(old.join(''), diff)).toBe(now.join(''));
    }),
  );
});

/** Checks the numbers in each hunk header and every line that the hunk names. */
function applyDiff(before: string, diff: string): string {
  if (diff === '') return before;
  const old = before.match(/[^\n]*\n|[^\n]+/g) ?? [];
  const result: string[] = [];
  let at = 0;
  for (const hunk of diff.split(/^(?=@@ )/m)) {
    const [header = '', ...rows] = hunk
      .replaceAll('\n\\ No newline at end of file', '\0')
      .replace(/\n$/, '')
      .split('\n');
    const [, oldStart, oldCount, newStart, newCount] = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/
      .exec(header)!
      .map(Number) as number[];
    const lines = rows.map((row) => ({
      sign: row[0],
      line: row.endsWith('\0') ? row.slice(1, -1) : `${row.slice(1)}\n`,
    }));
    const start = oldCount === 0 ? oldStart! : oldStart! - 1;
    result.push(...old.slice(at, start));
    expect(newCount === 0 ? newStart : newStart! - 1).toBe(result.length);
    const removed = lines.filter(({ sign }) => sign !== '+').map(({ line }) => line);
    const added = lines.filter(({ sign }) => sign !== '-').map(({ line }) => line);
    expect(removed).toEqual(old.slice(start, start + oldCount!));
    expect(added).toHaveLength(newCount!);
    result.push(...added);
    at = start + oldCount!;
  }
  return [...result, ...old.slice(at)].join('');
}

test.each([
  ['at its start', 0],
  ['in the middle', 250_000],
  ['at its end', 499_990],
])('the diff of a line of half a megabyte that changes %s shows the change and little else', (_, at) => {
  const line = (word: string) => `${'x'.repeat(at)}${word}${'y'.repeat(500_000 - at)}\nend\n`;
  const rows = compactDiff(line('OLD'), line('NEW')).split('\n');
  expect(rows.map((row) => row[0])).toEqual(['@', '-', '+', ' ']);
  expect(rows[1]).toContain('OLD');
  expect(rows[2]).toContain('NEW');
  expect(rows.join('').length).toBeLessThan(2500);
});

test('the diff of several long lines pairs each with its new text', () => {
  const line = (word: string) => `${'x'.repeat(5000)}${word}${'y'.repeat(5000)}\n`;
  const diff = compactDiff(line('a1') + line('a2') + line('a3'), `${line('b1') + line('b2')}short\n`);
  for (const word of ['a1', 'a2', 'b1', 'b2', 'short']) expect(diff).toContain(word);
  expect(diff.length).toBeLessThan(6000);
  expect(diff.isWellFormed()).toBe(true);
});
