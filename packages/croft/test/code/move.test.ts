import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { codeOf, messageOf } from '../e2e/shared-server.ts';
import { machines, shareCodeWorkspace } from './code-workspace.ts';

describe.each(machines)('a move with its imports, on %s', (machine) => {
  const { at, call, path, put, text } = shareCodeWorkspace(machine, {
    'tsconfig.json': '{"compilerOptions":{"strict":true,"noEmit":true,"module":"esnext","moduleResolution":"bundler"}}',
  });
  const compiler = new URL('../../../../node_modules/.bin/tsc', import.meta.url).pathname;
  const compile = () => execFileSync(compiler, ['-p', path], { encoding: 'utf8' });
  const move = (from: string, to: string) => call('move', { from, to, update_imports: true });

  function make(name: string): Record<string, string> {
    const files = {
      [`${name}/one.ts`]: 'import { base } from "./base";\nexport const one = base;\n',
      [`${name}/base.ts`]: 'export const base = 1;\n',
      [`${name}/use.ts`]: 'import { one } from "./one";\nexport const use = one;\n',
      [`${name}/also.ts`]: 'export * from "./one";\nexport const later = import("./one");\n',
    };
    for (const [file, content] of Object.entries(files)) put(file, content);
    return files;
  }

  test('of a file changes all of them, compiles, and is one step of undo', async () => {
    const files = make('whole');
    const answer = await move('whole/one.ts', 'whole/deep/one.ts');
    expect(answer.structured).toMatchObject({
      ...{ from: 'whole/one.ts', to: 'whole/deep/one.ts', kind: 'file' },
      updated: [{ path: 'whole/also.ts', edits: 2 }, { path: 'whole/one.ts' }, { path: 'whole/use.ts', edits: 1 }],
    });
    expect(answer.text).toMatch(/^moved whole\/one\.ts to whole\/deep\/one\.ts; imports changed in 3 file\(s\)\n/);
    expect(answer.text).toMatch(/\n\+import \{ one \} from ".\/deep\/one";\n/);
    expect(text('whole/deep/one.ts')).toMatch(/^import \{ base \} from "..\/base";/);
    expect(compile()).toBe('');
    await call('undo');
    for (const [file, content] of Object.entries(files)) expect(text(file)).toBe(content);
    expect(existsSync(at('whole/deep/one.ts'))).toBe(false);
  });

  test('of a directory changes those that lead into it and out of it', async () => {
    make('dir');
    put('dir-user.ts', 'import { use } from "./dir/use";\nexport const used = use;\n');
    put('dir/out.ts', 'export * from "../dir-user";\n');
    const { structured } = await move('dir', 'moved/dir');
    expect(structured).toMatchObject({ kind: 'directory' });
    expect(text('dir-user.ts')).toMatch(/from ".\/moved\/dir\/use"/);
    expect(text('moved/dir/out.ts')).toBe('export * from "../../dir-user";\n');
    expect(compile()).toBe('');
  });

  test('without it, nothing but the file changes', async () => {
    make('plain');
    await call('move', { from: 'plain/one.ts', to: 'plain/other.ts' });
    expect(text('plain/use.ts')).toMatch(/".\/one"/);
  });

  test.each([
    ['outside', '../out.ts', 'E_SANDBOX_VIOLATION'],
    ['onto another file', 'refused/base.ts', 'E_ALREADY_EXISTS'],
    ['onto a control file', '.vscode/tasks.json', 'E_CONTROL_FILE'],
  ])('%s is refused, and no import changes', async (_, to, code) => {
    const files = make('refused');
    const answer = await move('refused/one.ts', to);
    expect(codeOf(answer)).toBe(code);
    for (const [file, content] of Object.entries(files)) expect(text(file)).toBe(content);
  });

  test('that would change vendored code is refused as a whole', async () => {
    const files = make('own');
    put('own/vendor/dep.ts', 'export * from "../one";\n');
    const answer = await move('own/one.ts', 'own/two.ts');
    expect(messageOf(answer)).toMatch(/nothing was changed: the change would reach own\/vendor\/dep\.ts/);
    for (const [file, content] of Object.entries(files)) expect(text(file)).toBe(content);
  });

  test('that no server can tell about is refused, and says what to do', async () => {
    put('py/a.py', 'x = 1\n');
    put('ex/a.ex', 'defmodule A do\nend\n');
    for (const [from, words] of [
      ['py/a.py', /nothing was moved: .*does not update imports\nNext: Call move without update_imports/],
      ['ex/a.ex', /nothing was moved: .*expert is not installed/],
    ] as const) {
      const answer = await move(from, 'elsewhere');
      expect(codeOf(answer)).toBe('E_NO_SERVER');
      expect(answer.text).toMatch(words);
    }
    expect(readdirSync(path)).not.toContain('elsewhere');
  });
});
