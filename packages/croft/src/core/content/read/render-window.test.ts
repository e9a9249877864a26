import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countLines } from '../../../lib/text/lines/lines.ts';
import { cutLines, maxLineLength, renderWhole, renderWindow } from './render-window.ts';

const from = { path: 'a.txt', size: 1 };

function slowly(content: string) {
  const window = { offset: 1, limit: 2000, column: 1 };
  const totalLines = countLines(Buffer.from(content));
  return renderWindow({ ...from, lines: cutLines(content, window), lossy: false, window, totalLines });
}

test('renderWhole gives what the windowed rendering gives, or leaves the text to it', () => {
  const piece = fc.constantFrom(
    'a',
    'é',
    '𝒳',
    ' ',
    '\t',
    '\n',
    '\n\n',
    '\r\n',
    '\r',
    '\uFEFF',
    'x'.repeat(maxLineLength),
  );
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 12 }), (pieces) => {
      const content = pieces.join('');
      const whole = renderWhole({ ...from, content }, { offset: 1, limit: 2000, column: 1 });
      if (whole) expect(whole).toEqual(slowly(content));
      else expect(content).toMatch(/[\r\uFEFF]|.{2000}/u);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['another first line', { offset: 2, limit: 2000, column: 1 }],
  ['another first character', { offset: 1, limit: 2000, column: 2 }],
  ['fewer lines than there are', { offset: 1, limit: 2, column: 1 }],
])('%s is left to the windowed rendering', (_, window) => {
  expect(renderWhole({ ...from, content: 'a\nb\nc\n' }, window)).toBeUndefined();
});
