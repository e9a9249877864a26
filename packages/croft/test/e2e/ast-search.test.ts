import { symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { codeOf, messageOf, shareServer } from './shared-server.ts';

const { at, call } = shareServer({
  'src/a.ts':
    "const é = '😀'; add(1, 2);\nfunction add(a: number, b: number) {\n  return a + b;\n}\nadd(\n  3,\n  4,\n);\n",
  'src/b.py': 'def add(a, b):\n    return a + b\n\n\nadd(1, 2)\n',
  'src/calls.go': 'package a\n\nimport "fmt"\n\nfunc f() error { return fmt.Errorf("a %d", 1) }\n',
  'src/calls.c': 'int f(int a) {\n  check(a);\n  return a;\n}\n',
  'src/block.ts': 'function run() {\n  first();\n  open(1);\n  close(1);\n  last();\n}\n',
  'src/new\nline.ts': 'add(5, 6);\n',
  'src/.hidden.ts': 'add(7, 8);\n',
  'node_modules/m/index.ts': 'add(9, 9);\n',
  // ast-grep would load the library, and fail for the second document, if it obeyed the workspace.
  'sgconfig.yml': 'customLanguages: {evil: {libraryPath: evil.so, extensions: [ts]}}\nruleDirs: [{]\n',
});

const locations = async (args: Record<string, unknown>) => {
  const { text, isError, structured } = await call('ast_search', args);
  expect(isError, text).toBe(false);
  return structured.items.map(
    (item: { path: string; line: number; col: number }) => `${item.path}:${item.line}:${item.col}`,
  );
};

describe('patterns', () => {
  test('match by structure, whatever the spacing, with columns as editors count them', async () => {
    const found = await call('ast_search', { pattern: 'add($A, $B)', language: 'typescript' });
    expect(
      found.structured.items.map(({ path, line, col, end }: Record<string, unknown>) => [path, line, col, end]),
    ).toEqual([
      ['src/.hidden.ts', 1, 1, 1],
      ['src/a.ts', 1, 17, 1],
      ['src/a.ts', 5, 1, 8],
      ['src/new\nline.ts', 1, 1, 1],
    ]);
    expect(found.structured).toMatchObject({ total: 4, complete: true, notes: [] });
    expect(found.text).toContain('src/a.ts:1:17 add(1, 2)');
  });

  test('without a language are read in the language of each file', async () => {
    expect(await locations({ pattern: 'add(1, 2)' })).toEqual(['src/a.ts:1:17', 'src/b.py:5:1']);
  });

  test('search below path only, and node_modules only by its name', async () => {
    expect(await locations({ pattern: 'add($$$A)', language: 'ts', path: 'src/a.ts' })).toHaveLength(2);
    expect(await locations({ pattern: 'add($$$A)', language: 'ts', path: 'node_modules' })).toEqual([
      'node_modules/m/index.ts:1:1',
    ]);
  });

  test('stop at the limit, and say so', async () => {
    const { structured, text } = await call('ast_search', { pattern: 'add($$$A)', limit: 2 });
    expect(structured).toMatchObject({ total: 2, complete: false });
    expect(text).toContain('more than 2 matches');
  });

  test.each([
    ['fmt.Errorf($$$A)', 'go', 'src/calls.go:5:25'],
    ['check($A)', 'c', 'src/calls.c:2:3'],
  ])('of a call find calls, where the grammar takes %s of %s for something else', async (pattern, language, place) => {
    expect(await locations({ pattern, language })).toEqual([place]);
  });

  test('of several statements find the block around them', async () => {
    const { structured, text } = await call('ast_search', { pattern: 'open($A)\nclose($A)', language: 'ts' });
    expect(structured.items).toMatchObject([{ path: 'src/block.ts', line: 1, end: 6 }]);
    expect(text).toContain('several statements');
    const python = await call('ast_search', { pattern: 'open()\nclose()', language: 'python' });
    expect(codeOf(python)).toBe('E_BAD_PATTERN');
    expect(messageOf(python)).toContain('precedes or follows');
  });

  test('without a match are shown as they were parsed', async () => {
    const { text, structured } = await call('ast_search', { pattern: 'gone($A)', language: 'ts' });
    expect(text).toMatch(/^No match\.[\s\S]*call_expression\n {2}identifier gone/);
    expect(structured).toMatchObject({ items: [], complete: true });
  });

  test('that are not valid code are refused', async () => {
    const refused = await call('ast_search', { pattern: 'add(($A', language: 'ts' });
    expect(codeOf(refused)).toBe('E_BAD_PATTERN');
    expect(refused.text).toContain('write the pattern as complete code');
  });
});

describe('rules', () => {
  test('find nodes by kind and by what is around them', async () => {
    const rule = { kind: 'call_expression', inside: { kind: 'statement_block', stopBy: 'end' } };
    expect(await locations({ rule, language: 'typescript' })).toHaveLength(4);
  });

  test.each([
    [{ rule: { kind: 'call_expression' } }, 'E_INVALID_INPUT', 'a rule needs language'],
    [{ rule: { kinds: 'x' }, language: 'ts' }, 'E_BAD_PATTERN', 'unknown field `kinds`'],
    [{ rule: { kind: 'call' }, language: 'klingon' }, 'E_UNKNOWN_LANGUAGE', 'typescript'],
    [{ pattern: 'x', language: 'klingon' }, 'E_UNKNOWN_LANGUAGE', 'there is no language klingon'],
    [{ pattern: 'x', rule: { kind: 'call' } }, 'E_INVALID_INPUT', 'not both'],
    [{ pattern: 'a\0b' }, 'E_INVALID_INPUT', 'NUL'],
    [{ pattern: '--update-all', rewrite: 'x' }, 'E_INVALID_INPUT', 'rewrite'],
  ])('%j is refused', async (args, code, message) => {
    const refused = await call('ast_search', args);
    expect(codeOf(refused)).toBe(code);
    expect(messageOf(refused)).toContain(message);
  });
});

test('a pattern too long for a command line is refused', async () => {
  const refused = await call('ast_search', { pattern: 'x'.repeat(40_000) });
  expect(codeOf(refused)).toBe('E_INVALID_INPUT');
  expect(messageOf(refused)).toContain('longer than 30000');
});

test('a link out of the workspace is not searched', async () => {
  symlinkSync('/etc', at('src/etc'));
  expect(codeOf(await call('ast_search', { pattern: 'root', path: 'src/etc' }))).toBe('E_SANDBOX_VIOLATION');
  expect(await locations({ pattern: 'add(5, 6)', language: 'ts' })).toEqual(['src/new\nline.ts:1:1']);
});
