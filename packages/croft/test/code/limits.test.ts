import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSyntax } from '../../src/syntax/create-syntax.ts';
import { syntax } from './edit-source.ts';
import * as languages from './languages/index.ts';

const { signal } = new AbortController();
const parse = (path: string, content: string | Uint8Array, by = syntax) =>
  by.parse({ path, bytes: Buffer.from(content) }, signal);
const notParsed = { code: 'E_NOT_PARSED' };

test('a file that is too large, too wide or binary is not parsed', async () => {
  await expect(parse('a.ts', 'x;\n'.repeat(340_000))).rejects.toMatchObject(notParsed);
  await expect(parse('a.ts', 'x'.repeat(10_000_000))).rejects.toMatchObject(notParsed);
  await expect(parse('a.ts', `a${' '.repeat(20_001)}b`)).rejects.toMatchObject(notParsed);
  await expect(parse('a.ts', 'a\0b')).rejects.toMatchObject(notParsed);
  expect(await parse('a.unknown', 'x')).toBeUndefined();
});

test('200,000 opening brackets end within the deadline, and the next file is parsed', async () => {
  for (const bracket of ['(', '[', '{', '<a ', '`${']) {
    const lines = `${bracket.repeat(100)}\n`.repeat(Math.floor(200_000 / 100 / bracket.length));
    const began = performance.now();
    await parse('a.ts', lines).catch((thrown) => {
      expect(thrown).toMatchObject(notParsed);
    });
    expect(performance.now() - began).toBeLessThan(20_000);
  }
  expect((await parse('a.ts', 'function f() {}'))?.symbols).toHaveLength(1);
});

test('a parse beyond its deadline is given up, and one whose thread does not obey is ended', async () => {
  const large = 'const x = { a: [1, 2, 3], b: (c) => c + 1 };\n'.repeat(20_000);
  const hasty = createSyntax({ timeoutMs: 1, threads: 1 });
  await expect(parse('a.ts', large, hasty)).rejects.toThrow('parsing took longer than 0.001 s');
  // The grammar is loaded now, so that the time to load it counts no more.
  const strict = createSyntax({ timeoutMs: 60_000, graceMs: -59_999, threads: 1 });
  expect((await parse('a.ts', 'const x = 1;', strict))?.errors).toBe(0);
  await expect(parse('a.ts', large, strict)).rejects.toThrow('parsing took longer than');
  // Another thread has taken its place.
  expect((await parse('a.ts', 'const x = 1;', strict))?.errors).toBe(0);
});

test('many definitions, deep nesting and long names stay small', async () => {
  const patient = createSyntax({ timeoutMs: 60_000 });
  expect((await parse('a.ts', 'let a;\n'.repeat(9100), patient))?.symbols).toHaveLength(8000);
  const deep = `${'function f() {'.repeat(1000)}${'}'.repeat(1000)}`.replaceAll('{f', '{\nf').replaceAll('}}', '}\n}');
  const nested = await parse('a.js', deep.replaceAll('{', '{\n').replaceAll('}', '}\n'));
  expect(Math.max(...(nested?.symbols ?? []).map(({ containers }) => containers.length))).toBeLessThanOrEqual(51);
  const named = await parse('a.js', `function ${'n'.repeat(5000)}() {}\nfunction short() {}`);
  expect(named?.symbols.map(({ name }) => name)).toEqual(['short']);
});

test('random bytes and cut sources are parsed or refused, and ranges stay inside the file', async () => {
  const rows = fc.constantFrom(...Object.values(languages));
  const cut = fc.record({
    language: rows,
    from: fc.double({ min: 0, max: 1, noNaN: true }),
    noise: fc.uint8Array({ maxLength: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(cut, async ({ language: { path, source }, from, noise }) => {
      const bytes = Buffer.from(source);
      const at = Math.floor(bytes.length * from);
      const broken = Buffer.concat([
        bytes.subarray(0, at),
        noise,
        bytes.subarray(Math.min(bytes.length, at + noise.length)),
      ]);
      const parsed = await parse(path, broken).catch((thrown) => {
        expect(thrown).toMatchObject(notParsed);
      });
      for (const { range, nameRange, declarationRange, bodyRange = nameRange } of parsed?.symbols ?? []) {
        expect(range.start).toBeLessThanOrEqual(declarationRange.start);
        expect(range.end).toBeLessThanOrEqual(broken.length);
        for (const inner of [nameRange, bodyRange]) {
          expect(inner.start).toBeGreaterThanOrEqual(range.start);
          expect(inner.end).toBeLessThanOrEqual(range.end);
        }
      }
    }),
    { numRuns: 600 },
  );
});

test('positions are bytes for edits and UTF-16 units for people', async () => {
  const source = "const é = '😀'; function 名() {}\n";
  const parsed = await parse('a.ts', source);
  const found = parsed?.symbols.find(({ name }) => name === '名');
  expect(found?.at).toEqual({ line: 1, col: source.indexOf('名') + 1 });
  expect(found?.nameRange.start).toBe(Buffer.from(source).indexOf('名'));
  const latin = Buffer.from("// \xe9\nfunction f() { return '\xff'; }\n", 'latin1');
  const [symbol] = (await parse('a.ts', latin))?.symbols ?? [];
  expect(latin.subarray(symbol?.nameRange.start, symbol?.nameRange.end).toString()).toBe('f');
});
