import { describe, expect, test } from 'vitest';
import type { ToolAnswer } from '../support/harness.ts';
import { machines, shareCodeWorkspace } from './code-workspace.ts';

const { stringify } = JSON;

describe.each(machines)('after an edit on %s', (machine) => {
  const { call, put } = shareCodeWorkspace(machine, {
    'tsconfig.json': stringify({ compilerOptions: { strict: true, noEmit: true, module: 'esnext' } }),
    'a.ts': 'export const a: string = "a";\nexport const b: string = "b";\n',
    'helper.ts': 'export const helper = 1;\n',
    'deep/keep.ts': 'export {};\n',
    'm.py': 'x: int = 1\n',
  });
  const read = (file_path: string) => call('read', { file_path });
  const edit = (file_path: string, old_string: string, new_string: string) =>
    call('edit', { file_path, old_string, new_string });
  const diagnosticsOf = ({ structured }: ToolAnswer) => structured.effects?.diagnostics;

  test('nothing is said while no server runs, and none is started', async () => {
    await read('a.ts');
    expect(diagnosticsOf(await edit('a.ts', '"a"', '1'))).toBeUndefined();
    const answer = await edit('a.ts', '1', '"a"');
    expect(diagnosticsOf(answer)).toBeUndefined();
    expect(answer.text).not.toMatch(/new errors/);
  });

  test('new errors are told, in the text and to programs', async () => {
    await call('hover', { file_path: 'a.ts', line: 1, symbol: 'a' });
    await read('a.ts');
    const answer = await edit('a.ts', '"a"', '1');
    expect(answer.text).toMatch(/\n\nnew errors: 1 \(errors in all: 1\)\na\.ts:1:14 error 2322: Type 'number' is not/);
    expect(diagnosticsOf(answer)).toMatchObject({
      ...{ known: true, new_errors: 1, errors: 1 },
      items: [{ path: 'a.ts', line: 1, severity: 'error', code: '2322' }],
    });
  });

  test('old errors are not, though their lines move, and of two with the same words the new one is', async () => {
    const above = await edit('a.ts', 'export const a:', '\n\nexport const a:');
    expect(diagnosticsOf(above)).toMatchObject({ known: true, new_errors: 0, errors: 1, items: [] });
    expect(above.text).toMatch(/\n\nnew errors: 0 \(errors in all: 1\)$/);
    const second = await edit('a.ts', '\nexport const a:', 'const z: string = 2;\nexport const a:');
    expect(diagnosticsOf(second)).toMatchObject({ new_errors: 1, errors: 2, items: [{ line: 2 }] });
    const mended = await edit('a.ts', 'string = 1', 'string = "1"');
    expect(diagnosticsOf(mended)).toMatchObject({ new_errors: 0, errors: 1, items: [] });
  });

  test('each of twenty edits in a row has what is new by this edit', async () => {
    put('row.ts', 'export const n: number = 0;\n');
    await read('row.ts');
    for (let round = 1; round <= 10; round += 1) {
      const wrong = await edit('row.ts', 'n: number = 0', `n: number = "${round}"`);
      expect(diagnosticsOf(wrong)).toMatchObject({ known: true, new_errors: 1, errors: 1 });
      const right = await edit('row.ts', `"${round}"`, '0');
      expect(diagnosticsOf(right)).toMatchObject({ known: true, new_errors: 0, errors: 0 });
    }
  });

  test('what another file changed meanwhile is not taken for new', async () => {
    put('lib.ts', 'export const shared = 1;\n');
    put('user.ts', 'import { shared } from "./lib";\nexport const n: number = shared;\n');
    await read('user.ts');
    expect(diagnosticsOf(await edit('user.ts', 'n:', 'm:'))).toMatchObject({ errors: 0 });
    put('lib.ts', 'export const shared = "1";\n');
    expect(diagnosticsOf(await edit('user.ts', 'm:', 'n:'))).toMatchObject({ new_errors: 0, errors: 1, items: [] });
  });

  test('of a new file, all are new; symbol edits, renames and moves tell them too', async () => {
    const made = await call('write', {
      file_path: 'made.ts',
      content: 'export function one(): number {\n  return "";\n}\n',
    });
    expect(diagnosticsOf(made)).toMatchObject({ new_errors: 1, items: [{ path: 'made.ts', line: 2 }] });
    const body = await call('edit_function_body', {
      file_path: 'made.ts',
      function_name: 'one',
      new_body: 'return 1;',
    });
    expect(diagnosticsOf(body)).toMatchObject({ new_errors: 0, errors: 0 });
    await call('write', {
      file_path: 'two.ts',
      content: 'import { helper } from "./helper";\nexport const one = helper;\n',
    });
    const clash = { file_path: 'two.ts', line: 2, symbol: 'one', new_name: 'helper', apply: true };
    expect(diagnosticsOf(await call('rename_symbol', clash)).new_errors).toBeGreaterThan(0);
    await call('undo');
    const moved = await call('move', { from: 'two.ts', to: 'deep/two.ts' });
    expect(diagnosticsOf(moved)).toMatchObject({ new_errors: 1, items: [{ path: 'deep/two.ts', code: '2307' }] });
  });

  test('a server that publishes them, as that of Python, is waited for', async () => {
    await call('hover', { file_path: 'm.py', line: 1, symbol: 'x' });
    await read('m.py');
    expect(diagnosticsOf(await edit('m.py', '= 1', '= "1"'))).toMatchObject({ known: true, new_errors: 1 });
    expect(diagnosticsOf(await edit('m.py', '= "1"', '= 2'))).toMatchObject({ known: true, new_errors: 0, errors: 0 });
  });
});
