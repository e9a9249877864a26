import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergeText } from './merge-text.ts';

const base = 'a\nb\nc\nd\ne\nf\n';
const merge = (ours: string, theirs: string, from = base) => mergeText({ base: from, ours, theirs }, 'fork');

describe('a merge of lines', () => {
  test('takes changes of both sides', () => {
    expect(merge('A\nb\nc\nd\ne\nf\n', 'a\nb\nc\nd\ne\nF\n')).toEqual({
      text: 'A\nb\nc\nd\ne\nF\n',
      hasConflicts: false,
    });
  });

  test('takes a change that both sides made only once', () => {
    expect(merge('a\nX\nc\nd\ne\nf\n', 'a\nX\nc\nd\ne\nf\n')).toEqual({
      text: 'a\nX\nc\nd\ne\nf\n',
      hasConflicts: false,
    });
  });

  test('puts both sides of a conflict between markers, each on its own lines', () => {
    const conflict = 'a\n<<<<<<< workspace\nour\n=======\ntheir\n>>>>>>> fork\nc\nd\ne\nf\n';
    expect(merge('a\nour\nc\nd\ne\nf\n', 'a\ntheir\nc\nd\ne\nf\n')).toEqual({ text: conflict, hasConflicts: true });
    expect(merge('our', 'their', 'x')?.text).toBe('<<<<<<< workspace\nour\n=======\ntheir\n>>>>>>> fork\n');
  });

  test('reports a conflict if one side removes the lines that the other changes', () => {
    expect(merge('a\nc\nd\ne\nf\n', 'a\nB\nc\nd\ne\nf\n')?.hasConflicts).toBe(true);
  });

  test('reports a conflict if both sides insert different lines in one place', () => {
    expect(merge('a\n1\nb\nc\nd\ne\nf\n', 'a\n2\nb\nc\nd\ne\nf\n')?.hasConflicts).toBe(true);
  });

  test('keeps line endings, and a last line without one', () => {
    expect(merge('A\r\nb\nc', 'a\r\nb\nC', 'a\r\nb\nc')).toEqual({ text: 'A\r\nb\nC', hasConflicts: false });
  });
});

/** Each line of the base is its own, so that there is one way to compare it with a changed text. */
const lineCount = 30;
interface LineChange {
  readonly owner: 'nobody' | 'ours' | 'theirs';
  readonly keeps: boolean;
  readonly added: number;
}
const Change: fc.Arbitrary<LineChange> = fc.record({
  owner: fc.constantFrom('nobody', 'ours', 'theirs'),
  keeps: fc.boolean(),
  added: fc.integer({ min: 0, max: 3 }),
});

function textOf(changes: readonly LineChange[], takes: (owner: LineChange['owner']) => boolean): string {
  return changes
    .flatMap(({ owner, keeps, added }, at) => {
      const line = `line ${at}\n`;
      if (!takes(owner)) return [line];
      return [...(keeps ? [line] : []), ...Array.from({ length: added }, (_, more) => `${owner} ${at} ${more}\n`)];
    })
    .join('');
}

test('changes that are separated by an unchanged line merge without a conflict', () => {
  const changes = fc
    .array(Change, { minLength: lineCount, maxLength: lineCount })
    .map((all) => all.map((change, at) => (at % 3 === 1 ? change : { ...change, owner: 'nobody' as const })));
  fc.assert(
    fc.property(changes, (all) => {
      const from = textOf(all, () => false);
      const merged = merge(
        textOf(all, (owner) => owner === 'ours'),
        textOf(all, (owner) => owner === 'theirs'),
        from,
      );
      expect(merged).toEqual({ text: textOf(all, (owner) => owner !== 'nobody'), hasConflicts: false });
    }),
  );
});

test('a side without changes takes the other side, whatever that is', () => {
  const lines = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', 'd'), { maxLength: 20 }).map((all) => all.join(''));
  fc.assert(
    fc.property(lines, lines, (from, changed) => {
      expect(merge(changed, from, from)).toEqual({ text: changed, hasConflicts: false });
      expect(merge(from, changed, from)).toEqual({ text: changed, hasConflicts: false });
      expect(merge(changed, changed, from)).toEqual({ text: changed, hasConflicts: false });
    }),
  );
});
