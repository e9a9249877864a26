import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeText } from './merge-text.ts';

const lines = (text: string) => text.replaceAll(' ', '\n');
const merge = (base: string, ours: string, theirs: string) =>
  mergeText({ base: lines(base), ours: lines(ours), theirs: lines(theirs) }, 'fork');

test('changes of different lines are both taken', () => {
  expect(merge('a b c d e ', 'A b c d e ', 'a b c d E ')).toEqual({ text: lines('A b c d E '), hasConflicts: false });
});

test('an insertion and a removal elsewhere are both taken', () => {
  expect(merge('a b c d ', 'a x b c d ', 'a b c ')).toEqual({ text: lines('a x b c '), hasConflicts: false });
});

test('different changes of one line stand between markers, and so do changes of neighbouring lines', () => {
  const marked = lines('a <<<<<<<_workspace B c ======= b C >>>>>>>_fork d ').replaceAll('_', ' ');
  expect(merge('a b c d ', 'a B c d ', 'a b C d ')).toEqual({ text: marked, hasConflicts: true });
});

test('a last line without an end gets one before a marker', () => {
  const text = '<<<<<<< workspace\nours\n=======\ntheirs\n>>>>>>> fork\n';
  expect(merge('base', 'ours', 'theirs')).toEqual({ text, hasConflicts: true });
});

test('texts that take too long to compare are not merged', () => {
  const numbered = (mark: string) => Array.from({ length: 9000 }, (_, at) => `${mark}${at}`).join('\n');
  expect(mergeText({ base: numbered('a'), ours: numbered('b'), theirs: numbered('c') }, 'fork')).toBeUndefined();
});

const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', '}\n'), { maxLength: 30 }).map((all) => all.join(''));

test('a side that changed nothing takes the text of the other, and two equal changes are one', () => {
  fc.assert(
    fc.property(text, text, (base, changed) => {
      const merged = { text: changed, hasConflicts: false };
      expect(mergeText({ base, ours: base, theirs: changed }, 'fork')).toEqual(merged);
      expect(mergeText({ base, ours: changed, theirs: base }, 'fork')).toEqual(merged);
      expect(mergeText({ base, ours: changed, theirs: changed }, 'fork')).toEqual(merged);
    }),
  );
});
