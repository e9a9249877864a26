import { chmodSync, readFileSync, rmSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { codeOf, messageOf, shareServer } from './shared-server.ts';

const { at, call, put } = shareServer({
  'src/a.ts': "\uFEFFconst é = '😀';\r\nassertEqual(one, 1); // same\r\nother(assert, 2)\r\n",
  'src/b.ts': 'assertEqual(  two,\n  2)\n',
  'src/c.ts': 'unrelated(3);\n',
  'src/d.go': 'package a\n\nfunc f() { log.Print(1) }\n',
  'vendor/lib/v.ts': 'vendored(1);\n',
});
const text = (path: string) => readFileSync(at(path), 'utf8');
const swap = { pattern: 'assertEqual($A, $B)', rewrite: 'expect($A).toBe($B)', language: 'typescript' };

describe('a rewrite', () => {
  test('is shown first, and changes nothing until it is applied', async () => {
    const before = [text('src/a.ts'), text('src/b.ts')];
    const { text: shown, structured } = await call('ast_replace', swap);
    expect(structured).toMatchObject({
      applied: false,
      files: [
        { path: 'src/a.ts', edits: 1 },
        { path: 'src/b.ts', edits: 1 },
      ],
    });
    expect(shown).toContain('+expect(one).toBe(1); // same');
    expect(shown).toContain('pass apply: true');
    expect([text('src/a.ts'), text('src/b.ts')]).toEqual(before);
  });

  test('changes every file without touching other bytes, keeps the mode, and undo reverts all of it', async () => {
    const before = [text('src/a.ts'), text('src/b.ts')];
    chmodSync(at('src/b.ts'), 0o755);
    expect((await call('ast_replace', { ...swap, apply: true })).structured).toMatchObject({ applied: true });
    expect(text('src/a.ts')).toBe("\uFEFFconst é = '😀';\r\nexpect(one).toBe(1); // same\r\nother(assert, 2)\r\n");
    expect(text('src/b.ts')).toBe('expect(two).toBe(2)\n');
    expect(statSync(at('src/b.ts')).mode & 0o777).toBe(0o755);
    await call('undo', {});
    expect([text('src/a.ts'), text('src/b.ts')]).toEqual(before);
  });

  test('of a call of Go is one, where the grammar takes the pattern for a type', async () => {
    const print = { pattern: 'log.Print($A)', rewrite: 'log.Println($A)', language: 'go', apply: true };
    expect((await call('ast_replace', print)).structured).toMatchObject({ applied: true });
    expect(text('src/d.go')).toBe('package a\n\nfunc f() { log.Println(1) }\n');
  });

  test('is refused as a whole if matches overlap', async () => {
    put('src/nested.ts', 'wrap(wrap(1));\n');
    const refused = await call('ast_replace', { pattern: 'wrap($A)', rewrite: 'w($A)', language: 'ts', apply: true });
    expect(codeOf(refused)).toBe('E_INVALID_INPUT');
    expect(messageOf(refused)).toContain('src/nested.ts:1');
    expect(text('src/nested.ts')).toBe('wrap(wrap(1));\n');
    rmSync(at('src/nested.ts'));
  });

  test('does not reach into vendored code', async () => {
    const refused = await call('ast_replace', { pattern: 'vendored($A)', rewrite: 'x', language: 'ts', apply: true });
    expect(codeOf(refused)).toBe('E_INVALID_INPUT');
    expect(text('vendor/lib/v.ts')).toBe('vendored(1);\n');
  });

  test('without a match says so', async () => {
    const { text: said, structured } = await call('ast_replace', { ...swap, pattern: 'gone($A, $B)', apply: true });
    expect(said).toMatch(/^No match: nothing was changed\./);
    expect(structured).toMatchObject({ applied: false, files: [] });
  });

  test('of several statements is refused', async () => {
    put('src/two.ts', 'function f() {\n  one();\n  two();\n}\n');
    const refused = await call('ast_replace', {
      pattern: 'one()\ntwo()',
      rewrite: 'three()',
      language: 'ts',
      apply: true,
    });
    expect(refused.isError).toBe(true);
    expect(text('src/two.ts')).toContain('one();\n  two();');
    rmSync(at('src/two.ts'));
  });
});
