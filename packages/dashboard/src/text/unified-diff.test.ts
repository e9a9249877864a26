import { expect, test } from 'vitest';
import { findChangedPart } from './find-changed-part.ts';
import { pairChangedLines, parseUnifiedDiff, toSplitRows } from './unified-diff.ts';

const diff = `--- a/one.ts
+++ b/one.ts
@@ -1,4 +1,5 @@ function first()
 one
-two
-three
+2
+3
+4
 last
@@ -10 +11 @@
-end
\\ No newline at end of file
+END
`;

test('hunks, lines and their numbers', () => {
  const { hunks, added, removed } = parseUnifiedDiff(diff);
  expect([added, removed, hunks.length]).toEqual([4, 3, 2]);
  expect(hunks[0]?.heading).toBe('function first()');
  expect(hunks[0]?.lines.map(({ kind, text, before, after }) => [kind, text, before, after])).toEqual([
    ['same', 'one', 1, 1],
    ['removed', 'two', 2, undefined],
    ['removed', 'three', 3, undefined],
    ['added', '2', undefined, 2],
    ['added', '3', undefined, 3],
    ['added', '4', undefined, 4],
    ['same', 'last', 4, 5],
  ]);
  expect(hunks[1]?.lines.map(({ kind }) => kind)).toEqual(['removed', 'note', 'added']);
});

test('a removed line that looks like a heading is a line', () => {
  const { hunks } = parseUnifiedDiff('@@ -1,2 +1,1 @@\n--- a/x\n-@@ -1 +1 @@\n+++ b/y\n');
  expect(hunks).toHaveLength(1);
  expect(hunks[0]?.lines.map(({ kind, text }) => [kind, text])).toEqual([
    ['removed', '-- a/x'],
    ['removed', '@@ -1 +1 @@'],
    ['added', '++ b/y'],
  ]);
});

test('what is no diff has no hunks', () => {
  expect(parseUnifiedDiff('rm -rf /')).toEqual({ hunks: [], added: 0, removed: 0 });
  expect(parseUnifiedDiff('').hunks).toEqual([]);
});

test('two columns: changed lines beside each other', () => {
  const [hunk] = parseUnifiedDiff(diff).hunks;
  const rows = toSplitRows(hunk?.lines ?? []).map(({ left, right }) => [left?.text, right?.text]);
  expect(rows).toEqual([
    ['one', 'one'],
    ['two', '2'],
    ['three', '3'],
    [undefined, '4'],
    ['last', 'last'],
  ]);
});

test('changed words, in pairs of lines', () => {
  const { hunks } = parseUnifiedDiff('@@ -1 +1 @@\n-const a = one;\n+const a = two;\n');
  const [removed, added] = hunks[0]?.lines ?? [];
  expect(removed && pairChangedLines(hunks[0]?.lines ?? []).get(removed)).toBe(added);
  expect(findChangedPart('const a = one;', 'const a = two;')).toEqual([
    { text: 'const a = ', isChanged: false },
    { text: 'one', isChanged: true },
    { text: ';', isChanged: false },
  ]);
  expect(findChangedPart('all', 'other')).toEqual([{ text: 'all', isChanged: false }]);
});
