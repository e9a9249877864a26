import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectCheap } from '../../../../test/support/expect-cheap.ts';
import { toPlainCommands } from './plain-commands.ts';

test.each([
  ['a b', [['a', 'b']]],
  ['a \'b c\' "d e"f', [['a', 'b c', 'd ef']]],
  ['a && b c; d | e || f & g', [['a'], ['b', 'c'], ['d'], ['e'], ['f'], ['g']]],
  ['a "x && y"', [['a', 'x && y']]],
  ['a $X && b', [['b']]],
  ['a "$X" && b \'$X\'', [['b', '$X']]],
  ['a > out; b `c`; d $(e); f \\\n g; h', [['f', 'g'], ['h']]],
  ['a "b', []],
  ['', []],
])('%j', (line, commands) => {
  expect(toPlainCommands(line)).toEqual(commands);
});

test('any text is parsed without an exception, in little time', async () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("'", '"', ' ', 'a', '&', '$', '\n') }),
      (line) => void toPlainCommands(line),
    ),
  );
  for (const part of ["'", '"', "'a", `"'`]) {
    const line = part.repeat(1_000_000);
    await expectCheap(() => toPlainCommands(line), 20);
  }
});
