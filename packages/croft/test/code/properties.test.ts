import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fullName } from '../../src/core/code/symbols/symbol-address.ts';
import { editBytes, parseSource } from './edit-source.ts';
import * as languages from './languages/index.ts';

const all = Object.values(languages);
/** A function that every language of the row can take anywhere at its level. */
const inserted: Readonly<Record<string, string>> = {
  'shop.go': 'func zz() {}',
  'shop.py': 'def zz():\n    pass',
  'shop.ts': 'zz() {}',
  'Shop.java': 'void zz() {}',
  'shop.rs': 'fn zz() {}',
  'shop.rb': 'def zz\nend',
  'Shop.swift': 'func zz() {}',
  'Shop.cs': 'void Zz() { }',
};
const methods: Readonly<Record<string, readonly string[]>> = {
  'shop.go': ['Shop.Run', 'Shop.Close', 'Map', 'Limit'],
  'shop.py': ['Shop.size', 'Shop.outer', 'load', 'LIMIT', 'SETTINGS', 'tabbed', 'Shop'],
  'shop.ts': ['Shop.add', 'Shop.size', 'Shop.constructor'],
  'Shop.java': ['Shop.add', 'Shop.close', 'Shop.Color'],
  'shop.rs': ['Shop.new', 'Shop.run', 'LIMIT', 'NAMES', 'inner', 'Id'],
  'shop.rb': ['Shop.add', 'Shop.blank?', 'Shop.build', 'TEXT'],
  'Shop.swift': ['Shop.add', 'top', 'limit', 'Shop.extra'],
  'Shop.cs': ['Shop.Add', 'Shop.Twice'],
};

const form = fc.record({
  hasReturns: fc.boolean(),
  hasMark: fc.boolean(),
  isUnended: fc.boolean(),
  blank: fc.constantFrom('', ' ', '\t'),
});

/** The same source with other line endings, a byte order mark, white space on blank lines, or no last newline. */
function reshape(source: string, shape: { hasReturns: boolean; hasMark: boolean; isUnended: boolean; blank: string }) {
  const spaced = source.replace(/\n\n/g, `\n${shape.blank}\n`);
  const ended = shape.isUnended ? spaced.trimEnd() : spaced;
  return Buffer.from((shape.hasMark ? '\u{feff}' : '') + (shape.hasReturns ? ended.replaceAll('\n', '\r\n') : ended));
}

test('text inserted beside a definition and deleted again leaves the same bytes', async () => {
  const rows = all.flatMap(({ path, source }) =>
    (methods[path] ?? []).flatMap((symbol) =>
      (['before', 'after'] as const).map((edit) => ({ path, source, symbol, edit })),
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...rows), form, async ({ path, source, symbol, edit }, shape) => {
      const bytes = reshape(source, shape);
      const more = await editBytes(path, bytes, edit, symbol, inserted[path]);
      const name = path === 'Shop.cs' ? 'Zz' : 'zz';
      expect((await editBytes(path, more, 'delete', name)).toString()).toBe(bytes.toString());
    }),
    { numRuns: 250 },
  );
});

test('an edit of a body changes no byte outside of that body, or is refused', async () => {
  const rows = all.flatMap(({ path, source, edits }) =>
    edits.filter(({ edit }) => edit === 'body').map(({ symbol }) => ({ path, source, symbol })),
  );
  const pieces = [
    'x',
    '}',
    '{',
    '\n',
    ' ',
    '"',
    "'",
    '`',
    '(',
    ')',
    '/*',
    '//',
    '#',
    ':',
    ';',
    'return 1',
    'end',
    'é😀',
    '\t',
  ];
  const body = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...rows), form, body, async ({ path, source, symbol }, shape, text) => {
      const before = reshape(source, shape);
      const after = await editBytes(path, before, 'body', symbol, text).catch((thrown) => {
        expect(thrown).toMatchObject({ code: 'E_NOT_PARSED' });
      });
      if (!after) return;
      const parsed = await parseSource(path, before);
      const target = parsed.symbols.filter((each) => after.length >= 0 && symbolNames(each).includes(symbol));
      const [first] = target.filter(({ bodyRange }) => bodyRange);
      const isOverloaded = symbol.includes('[') || target.length > 1;
      if (!first?.bodyRange || isOverloaded) return;
      expect(after.subarray(0, first.signatureRange.end)).toEqual(before.subarray(0, first.signatureRange.end));
      const tail = before.length - first.bodyRange.end;
      expect(after.subarray(after.length - tail)).toEqual(before.subarray(before.length - tail));
    }),
    { numRuns: 400 },
  );
});

function symbolNames(symbol: { readonly name: string; readonly containers: readonly string[] }): string[] {
  return [symbol.name, fullName(symbol), [...symbol.containers.slice(-1), symbol.name].join('.')];
}
