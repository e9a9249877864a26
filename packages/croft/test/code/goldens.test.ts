import { describe, expect, test } from 'vitest';
import { fullName } from '../../src/core/code/symbols/symbol-address.ts';
import { editSource, parseSource } from './edit-source.ts';
import * as languages from './languages/index.ts';

describe.each(Object.entries(languages))('%s', (_, { path, source, outline, edits }) => {
  test('every definition is found, with its kind and its containers', async () => {
    const { symbols, errors } = await parseSource(path, source);
    expect(errors).toBe(0);
    expect(symbols.map((symbol) => `${symbol.kind} ${fullName(symbol)}`)).toEqual(outline);
  });

  test.each(edits.map((edit) => [edit.edit, edit.symbol, edit] as const))(
    '%s of %s changes exactly these bytes',
    async (name, symbol, { text, from, to }) => {
      expect(source.split(from)).toHaveLength(2);
      const expected = source.split(from).join(to);
      expect(await editSource(path, source, name, symbol, text)).toBe(expected);
      const withReturns = (each: string) => each.replaceAll('\n', '\r\n');
      // Raw line ends in literals of the new text become those of the file too.
      expect(await editSource(path, withReturns(source), name, symbol, text)).toBe(withReturns(expected));
      const marked = await editSource(path, `\u{feff}${source}`, name, symbol, text);
      expect(marked).toBe(`\u{feff}${expected}`);
    },
  );
});
