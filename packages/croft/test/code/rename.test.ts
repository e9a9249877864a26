import { execFileSync } from 'node:child_process';
import { chmodSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { codeOf, messageOf } from '../e2e/shared-server.ts';
import { machines, shareCodeWorkspace } from './code-workspace.ts';

describe.each(machines)('on %s', (machine) => {
  const { at, bytes, call, path, put, text } = shareCodeWorkspace(machine, {
    'tsconfig.json': '{"compilerOptions":{"strict":true,"noEmit":true,"module":"esnext","moduleResolution":"bundler"}}',
  });

  /** Files of one test, below a directory of their own, of which the first was read. */
  async function make(name: string, files: Record<string, string | Buffer>): Promise<string> {
    for (const [file, content] of Object.entries(files)) put(`${name}/${file}`, content);
    const [first = ''] = Object.keys(files);
    await call('read', { file_path: `${name}/${first}` });
    return `${name}/${first}`;
  }

  const three = {
    'a.ts': 'export function first(): number {\n  return 1;\n}\n',
    'b.ts': 'import { first } from "./a";\nexport const b = first();\n',
    'c.ts': 'import { first } from "./a";\nexport const c = first() + first();\n',
  };

  test('a preview shows all edits and writes nothing', async () => {
    const file_path = await make('preview', three);
    const answer = await call('rename_symbol', { file_path, symbol: 'first', new_name: 'second' });
    expect(answer.text).toMatch(/^Rename → "second" would touch 3 file\(s\):\n {2}- preview\/a\.ts \(1 edit\(s\)\)\n/);
    expect(answer.text).toMatch(
      /\n--- a\/preview\/b\.ts\n\+\+\+ b\/preview\/b\.ts\n@@ -1,2 \+1,2 @@\n-import \{ first \}/,
    );
    expect(answer.structured).toMatchObject({ applied: false, complete: true });
    expect(text('preview/a.ts')).toBe(three['a.ts']);
    expect(text('preview/c.ts')).toBe(three['c.ts']);
  });

  test('an applied rename compiles, and is one step of undo', async () => {
    const file_path = await make('applied', three);
    const answer = await call('rename_symbol', { file_path, symbol: 'first', new_name: 'second', dry_run: false });
    expect(answer.structured).toMatchObject({ applied: true, files: [{ edits: 1 }, { edits: 2 }, { edits: 3 }] });
    expect(text('applied/c.ts')).toBe('import { second } from "./a";\nexport const c = second() + second();\n');
    const compiler = new URL('../../../../node_modules/.bin/tsc', import.meta.url).pathname;
    expect(execFileSync(compiler, ['-p', path], { encoding: 'utf8' })).toBe('');
    await call('undo');
    for (const [name, content] of Object.entries(three)) expect(text(`applied/${name}`)).toBe(content);
  });

  test('a file that was not read is not renamed from, and a change after the read is found', async () => {
    put('unread/a.ts', three['a.ts']);
    const rename = { file_path: 'unread/a.ts', symbol: 'first', new_name: 'x', apply: true };
    expect(messageOf(await call('rename_symbol', rename))).toBe('refusing to rename from unread/a.ts: Read it first');
    await call('read', { file_path: 'unread/a.ts' });
    put('unread/a.ts', `// more\n${three['a.ts']}`);
    expect(codeOf(await call('rename_symbol', rename))).toBe('E_STALE');
  });

  test('line ends, the byte order mark, the mode and every other byte stay', async () => {
    const before = Buffer.from('\uFEFFexport const kept = 1;\r\nexport const é = "😀" + kept;\r\n\tkept;');
    const file_path = await make('kept', { 'a.ts': before });
    chmodSync(at(file_path), 0o755);
    const answer = await call('rename_symbol', { file_path, line: 2, symbol: 'kept', new_name: 'ñew', apply: true });
    expect(answer.structured).toMatchObject({ applied: true, files: [{ path: file_path, edits: 3 }] });
    expect(bytes(file_path).equals(Buffer.from(before.toString().replaceAll('kept', 'ñew')))).toBe(true);
    expect(statSync(at(file_path)).mode & 0o777).toBe(0o755);
  });

  test.each([
    ['class', /class is a reserved word/],
    ['two words', /cannot be a name/],
    ['x;rm', /cannot be a name/],
  ])('%j cannot be a name', async (new_name, words) => {
    const file_path = await make('words', three);
    const answer = await call('rename_symbol', { file_path, symbol: 'first', new_name, apply: true });
    expect(codeOf(answer)).toBe('E_INVALID_INPUT');
    expect(messageOf(answer)).toMatch(words);
    expect(text('words/a.ts')).toBe(three['a.ts']);
  });

  test('a rename that would reach vendored code is refused as a whole', async () => {
    const vendored = put('own/vendor/dep/index.ts', 'import { mine } from "../../a";\nmine();\n');
    const file_path = await make('own', { 'a.ts': 'export function mine() {}\n' });
    const answer = await call('rename_symbol', { file_path, line: 1, symbol: 'mine', new_name: 'other', apply: true });
    expect(messageOf(answer)).toMatch(/nothing was changed: the change would reach own\/vendor\/dep\/index\.ts/);
    expect(text(file_path)).toBe('export function mine() {}\n');
    expect(text(vendored)).toMatch(/^import \{ mine \}/);
  });

  test('a Python rename reaches every file', async () => {
    put('py/n.py', 'from m import add_py\nprint(add_py(1))\n');
    put('py/m.py', 'def add_py(a):\n    return a\n');
    await call('read', { file_path: 'py/m.py' });
    await call('rename_symbol', { file_path: 'py/m.py', line: 1, symbol: 'add_py', new_name: 'plus', apply: true });
    expect(text('py/n.py')).toBe('from m import plus\nprint(plus(1))\n');
    expect(text('py/m.py')).toBe('def plus(a):\n    return a\n');
  });

  test('without a server nothing is renamed', async () => {
    const file_path = await make('ex', { 'a.ex': 'defmodule A do\n  def add_ex, do: 1\nend\n' });
    const answer = await call('rename_symbol', { file_path, line: 2, symbol: 'add_ex', new_name: 'x', apply: true });
    expect(codeOf(answer)).toBe('E_NO_SERVER');
    expect(answer.text).toMatch(/expert is not installed.*\nNext: Use ast_replace, .*a rename by text would change/);
  });

  test('a proposed change is listed, and made by its number', async () => {
    put('fix/lib.ts', 'export function helper(): number {\n  return 1;\n}\n');
    const file_path = await make('fix', { 'use.ts': 'export const n = helper();\n' });
    const { structured, text: listed } = await call('code_actions', { file_path, line: 1 });
    const { number } = structured.actions.find(({ title }: { title: string }) => /import/i.test(title));
    expect(listed).toMatch(/^proposed changes:\n {2}1\. /);
    expect(text(file_path)).toBe('export const n = helper();\n');
    expect((await call('code_actions', { file_path, line: 1, apply: number })).structured.diff).toMatch(
      /\+import \{ helper \}/,
    );
    expect(text(file_path)).toMatch(/^import \{ helper \} from ".\/lib";\n/);
  });
});
