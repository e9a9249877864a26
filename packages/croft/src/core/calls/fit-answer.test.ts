import fc from 'fast-check';
import { expect, test } from 'vitest';
import { endOfLines, maxAnswerLines, startOfLines } from '../answers/answer-line-limits.ts';
import { createAnswerStore } from '../answers/answer-store.ts';
import { fitAnswer } from './fit-answer.ts';

const linesOf = (text: string) => text.split(/(?<=\n)/);

test('a text is split at line ends', () => {
  const text = fc.array(fc.constantFrom('a', '\n', '\n\n', 'bc\n'), { maxLength: 30 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 40 }), (whole, count) => {
      const lines = linesOf(whole);
      expect(whole.slice(0, endOfLines(whole, 0, count))).toBe(lines.slice(0, count).join(''));
      expect(whole.slice(startOfLines(whole, count))).toBe(count === 0 ? '' : lines.slice(-count).join(''));
    }),
  );
});

test.each([
  ['as many lines as may be', 'x\n'.repeat(maxAnswerLines), false],
  ['one line more', 'x\n'.repeat(maxAnswerLines + 1), true],
  ['empty lines', '\n'.repeat(100_000), true],
  ['one long line', 'x'.repeat(100_000), true],
])('%s: all of the answer can be read, and no client cuts it', (_, text, isCut) => {
  const pages = createAnswerStore().open('a');
  const fitted = fitAnswer({ text, structured: {} }, { maxBytes: 38_000, pages });
  expect(fitted.text === text).toBe(!isCut);
  expect(linesOf(fitted.text).length).toBeLessThanOrEqual(maxAnswerLines);
  if (!isCut) return;
  let [whole, cursor]: [string, string | undefined] = ['', fitted.structured.nextCursor as string];
  while (cursor !== undefined) {
    const page = pages.read(cursor);
    whole += page.text;
    cursor = page.nextCursor;
  }
  expect(whole).toBe(text);
});
