import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, messageOf } from '../e2e/shared-server.ts';
import { connectStdio, type McpSession, type ToolAnswer } from '../support/harness.ts';
import { machines, shareCodeWorkspace } from './code-workspace.ts';

describe.each(machines)('on %s', (machine) => {
  const { at, call, path, put } = shareCodeWorkspace(machine, {
    'tsconfig.json': '{"compilerOptions":{"strict":true,"module":"esnext","moduleResolution":"bundler"}}',
    'src/math.ts': 'export function addUp(a: number, b: number): number {\n  return a + b;\n}\n',
    'src/use.ts': [
      'import { addUp as plus } from "./math";',
      'import { addUp } from "./math";',
      'const s = "é😀"; export const n = addUp(1, addUp(2, 3)) + plus(1, 2) + s.length;',
      'console.log(n);\n',
    ].join('\n'),
    'src/shape.ts':
      'export interface Shape {\n  area(): number;\n}\nexport class Square implements Shape {\n  area() {\n    return 4;\n  }\n}\n',
    'src/loop.ts': 'export function ping(): void {\n  pong();\n}\nexport function pong(): void {\n  ping();\n}\n',
    'src/twice.ts':
      'export namespace A {\n  export const same = 1;\n}\nexport namespace B {\n  export const same = 2;\n}\n',
    'src/merged.ts':
      'export interface Merged {\n  at: number;\n}\nexport const Merged = { at: 1 };\nexport type MergedAt = Merged["at"];\n',
    ...Object.fromEntries(
      Array.from({ length: 25 }, (_, index) => [
        `src/many/of-${index}.ts`,
        `import { Merged } from '../merged';\nexport const own${index} = Merged.at;\n`,
      ]),
    ),
    'README.md': 'Call addUp to add.\n',
    'py/m.py': 'def add_py(a, b):\n    return a + b\n',
    'py/n.py': 'from m import add_py\nx = "é😀"; print(add_py(1, 2), add_py(3, 4))\n',
    'main.ex': 'defmodule Main do\n  def add_ex(a), do: a\n  def main, do: add_ex 1\nend\n',
    'lib/broken.zig': 'const x = 1;\n',
  });

  const definition = (args: Record<string, unknown>) => call('find_definition', args);
  const references = (args: Record<string, unknown>) => call('find_references', args);
  const locationsOf = ({ structured }: ToolAnswer): string[] =>
    structured.items.map(
      ({ path, line, col }: { path: string; line: number; col: number }) => `${path}:${line}:${col}`,
    );

  describe('a definition', () => {
    test('is found across files, by the position of a use', async () => {
      const answer = await definition({ file_path: 'src/use.ts', line: 3, col: 37 });
      expect(answer.text).toBe(
        'Found 1 definition(s) for symbol at src/use.ts:3:35:\n  1. src/math.ts:1:17  export function addUp(a: number, b: number): number {\n',
      );
      expect(answer.structured).toMatchObject({ total: 1, precision: 'server', complete: true, notes: [] });
    });

    test('is found by name alone, with its body', async () => {
      const answer = await definition({ symbol: 'addUp', include_body: true });
      expect(locationsOf(answer)).toEqual(['src/math.ts:1:17']);
      expect(answer.structured.items[0].body).toMatch(/^export function addUp[\s\S]*a \+ b;\n\}$/);
      expect(locationsOf(await definition({ symbol: 'Square.area' }))).toEqual(['src/shape.ts:5:3']);
      expect(locationsOf(await call('goToDefinition', { name_path: 'Square/area' }))).toEqual(['src/shape.ts:5:3']);
    });

    test('is found by the second occurrence of a name on a line', async () => {
      const answer = await definition({ file_path: 'src/use.ts', line: 3, symbol: 'addUp#2' });
      expect(answer.text).toMatch(/symbol at src\/use\.ts:3:44:/);
      expect(codeOf(await definition({ file_path: 'src/use.ts', line: 3, symbol: 'addUp#3' }))).toBe('E_NO_SYMBOL');
    });

    test('of a column without a name lists the names of the line', async () => {
      const answer = await definition({ file_path: 'src/use.ts', line: 4, col: 200 });
      expect(codeOf(answer)).toBe('E_NO_SYMBOL');
      expect(messageOf(answer)).toBe(
        'there is no name at src/use.ts:4:200; names on the line: console (col 1), log (col 9), n (col 13)',
      );
    });

    test('after characters of several bytes has the right column, in TypeScript and Python', async () => {
      expect(locationsOf(await definition({ file_path: 'src/use.ts', line: 3, col: 61 }))).toEqual([
        'src/math.ts:1:17',
      ]);
      expect(locationsOf(await references({ file_path: 'py/n.py', line: 2, col: 18 }))).toEqual([
        ...['py/m.py:1:5', 'py/n.py:1:15', 'py/n.py:2:18', 'py/n.py:2:32'],
      ]);
    });

    test('of an alias is the original', async () => {
      expect(locationsOf(await definition({ file_path: 'src/use.ts', line: 1, symbol: 'plus' }))).toEqual([
        'src/math.ts:1:17',
      ]);
    });

    test('in the standard library is external', async () => {
      const { structured } = await definition({ file_path: 'src/use.ts', line: 4, symbol: 'log' });
      expect(structured.items[0]).toMatchObject({
        external: true,
        path: expect.stringMatching(/^\/.*lib\..*\.d\.ts$/),
      });
    });

    test('of two symbols with one name is ambiguous, and a container picks one', async () => {
      const answer = await definition({ symbol: 'same', file_path: 'src/twice.ts' });
      expect(codeOf(answer)).toBe('E_AMBIGUOUS');
      expect(messageOf(answer)).toMatch(/^ambiguous: same matches 2 declarations at line 2, line 5\n/);
      expect(locationsOf(await definition({ symbol: 'B.same' }))).toEqual(['src/twice.ts:5:16']);
    });

    test('that 25 files import is not ambiguous, and an interface and a constant of one name are one symbol', async () => {
      const [first] = locationsOf(await definition({ symbol: 'Merged' }));
      expect(first).toBe('src/merged.ts:1:18');
      expect((await references({ symbol: 'Merged', limit: 1 })).structured.total).toBeGreaterThan(50);
      expect(locationsOf(await definition({ symbol: 'Merged[1]', file_path: 'src/merged.ts' }))).toContain(
        'src/merged.ts:4:14',
      );
    });

    test('without a server is found by text, and the answer says so', async () => {
      const answer = await definition({ file_path: 'main.ex', line: 3, symbol: 'add_ex' });
      expect(locationsOf(answer)).toEqual(['main.ex:2:7']);
      expect(answer.structured).toMatchObject({ precision: 'text', complete: false });
      expect(answer.text).toMatch(
        /by text, not by a language server: the language server expert is not installed. Install Expert/,
      );
      expect(codeOf(await call('hover', { file_path: 'main.ex', line: 3, symbol: 'add_ex' }))).toBe('E_NO_SERVER');
    });
  });

  describe('references', () => {
    test('are complete at the first question, in Python too', async () => {
      expect(locationsOf(await references({ symbol: 'add_py' }))).toEqual([
        ...['py/m.py:1:5', 'py/n.py:1:15', 'py/n.py:2:18', 'py/n.py:2:32'],
      ]);
    });

    test('are by file, with the columns of a line together, and mention other texts', async () => {
      const { text } = await references({ symbol: 'addUp' });
      expect(text).toMatch(
        /^Found 7 reference\(s\) for symbol at src\/math\.ts:1:17:\nsrc\/math\.ts\n {2}1:17 {2}export/,
      );
      expect(text).toMatch(/\n {2}3:35,44,59 {2}const s = /);
      expect(text).toMatch(/\(also as text in: README\.md \(1\)\)\n$/);
      const { structured } = await references({ symbol: 'addUp', include_declaration: false });
      // TypeScript counts the names in imports as declarations.
      expect(structured.total).toBe(4);
    });

    test('come in pages, none twice, and a page of an older tree is refused', async () => {
      const uses = Array.from({ length: 240 }, (_, index) => `export const v${index} = many;`).join('\n');
      put('src/many.ts', `export const many = 1;\n${uses}\n`);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const answer = await references({ symbol: 'many', ...(cursor && { cursor }) });
        seen.push(...locationsOf(answer));
        expect(answer.structured.total).toBe(241);
        cursor = answer.structured.next;
      } while (cursor);
      expect(new Set(seen).size).toBe(241);
      expect(seen).toHaveLength(241);
      const { structured } = await references({ symbol: 'many' });
      put('src/many.ts', `export const many = 1;\n${uses}\n// more\n`);
      expect(codeOf(await references({ symbol: 'many', cursor: structured.next }))).toBe('E_STALE');
    });

    test('in vendored and generated files are only counted', async () => {
      put('src/seen.ts', 'export function seenFn() {}\n');
      put('vendor/x.ts', 'import { seenFn } from "../src/seen";\nseenFn();\n');
      put('src/gen.ts', '// @generated\nimport { seenFn } from "./seen";\nseenFn();\n');
      const answer = await references({ symbol: 'seenFn' });
      expect(locationsOf(answer)).toEqual(['src/seen.ts:1:17']);
      expect(answer.text).toMatch(/\(4 more in vendored or generated files\)/);
    });
  });

  describe('an answer knows', () => {
    test('what a command changed', async () => {
      put('src/fresh.ts', 'export const freshOne = 1;\nexport const user = freshOne;\n');
      expect(locationsOf(await references({ symbol: 'freshOne' }))).toEqual(['src/fresh.ts:1:14', 'src/fresh.ts:2:21']);
      await call('bash', { command: "sed -i '1i // a line above' src/fresh.ts" });
      expect(locationsOf(await references({ symbol: 'freshOne' }))).toEqual(['src/fresh.ts:2:14', 'src/fresh.ts:3:21']);
    });

    test('a file that a command made, and one that it removed', async () => {
      await call('bash', { command: `echo 'import { addUp } from "./math"; addUp(9, 9);' > src/made.ts` });
      expect(
        locationsOf(await references({ symbol: 'addUp' })).filter((location) => location.startsWith('src/made')),
      ).toHaveLength(2);
      rmSync(at('src/made.ts'));
      expect(
        locationsOf(await references({ symbol: 'addUp' })).filter((location) => location.startsWith('src/made')),
      ).toEqual([]);
      await call('bash', { command: `printf 'from m import add_py\\nadd_py(9, 9)\\n' > py/made.py` });
      const python = await references({ symbol: 'add_py' });
      expect(locationsOf(python).filter((location) => location.startsWith('py/made'))).toEqual([
        'py/made.py:1:15',
        'py/made.py:2:1',
      ]);
      rmSync(at('py/made.py'));
      expect(
        locationsOf(await references({ symbol: 'add_py' })).filter((location) => location.startsWith('py/made')),
      ).toEqual([]);
    });

    test('the last of many edits by another program, each time', async () => {
      for (let round = 1; round <= 20; round += 1) {
        put('src/round.ts', `${'\n'.repeat(round)}export const turn = 1;\n`);
        const { structured } = await definition({ symbol: 'turn' });
        expect(structured.items).toMatchObject([{ path: 'src/round.ts', line: round + 1 }]);
      }
    });

    test('an edit that is made while the server answers', async () => {
      put('src/racing.ts', 'export const racing = 1;\n');
      await definition({ symbol: 'racing' });
      const asked = Array.from({ length: 10 }, () => definition({ symbol: 'racing' }));
      put('src/racing.ts', '\n\nexport const racing = 1;\n');
      await Promise.allSettled(asked);
      expect(locationsOf(await definition({ symbol: 'racing' }))).toEqual(['src/racing.ts:3:14']);
    });
  });

  describe('diagnostics', () => {
    const errors = async (file: string): Promise<number> =>
      (await call('diagnostics', { file_path: file, severity: 'error' })).structured.total;

    test('are those of the file as it is, however often it changes', async () => {
      for (let round = 0; round < 20; round += 1) {
        put('src/wrong.ts', `const a: string = 1;\n// ${round}\n`);
        expect(await errors('src/wrong.ts')).toBe(1);
        put('src/wrong.ts', `const a: string = "1";\n// ${round}\n`);
        expect(await errors('src/wrong.ts')).toBe(0);
      }
    });

    test.each([
      ['ts', 'export const shared =', 'import { shared } from "./other";\nexport const n: number = shared;\n', '2307'],
      ['py', 'shared =', 'from other import shared\nn: int = shared\n', 'reportMissingImports'],
    ])('know what became of other files, in a .%s', async (ending, statement, user, missing) => {
      const codes = async () =>
        (await call('diagnostics', { file_path: `others/user.${ending}` })).structured.items.map(
          ({ code }: { code: string }) => code,
        );
      put(`others/user.${ending}`, user);
      expect(await codes()).toEqual([missing]);
      put(`others/other.${ending}`, `${statement} 1\n`);
      expect(await codes()).toEqual([]);
      put(`others/other.${ending}`, `${statement} "1"\n`);
      expect(await codes()).toEqual([ending === 'ts' ? '2322' : 'reportAssignmentType']);
      await call('bash', { command: `rm others/other.${ending}` });
      expect(await codes()).toEqual([missing]);
    });

    test('know the types of a package that was just installed', async () => {
      put('src/uses-dep.ts', 'import { dep } from "dep";\nexport const n: number = dep;\n');
      const codes = async () =>
        (await call('diagnostics', { file_path: 'src/uses-dep.ts' })).structured.items.map(
          ({ code }: { code: string }) => code,
        );
      expect(await codes()).toEqual(['2307']);
      put('dep/package.json', '{"name":"dep","version":"1.0.0","types":"index.d.ts"}');
      put('dep/index.d.ts', 'export const dep: string;\n');
      const { structured } = await call('bash', {
        command: 'npm pack ./dep >&2 && npm install --offline ./dep-1.0.0.tgz',
      });
      expect(structured).toMatchObject({ exitCode: 0 });
      expect(await codes()).toEqual(['2322']);
    });

    test('name the place and the code, in TypeScript and Python', async () => {
      put('src/bad.ts', 'export const b: string = 1;\n');
      expect((await call('diagnostics', { file_path: 'src/bad.ts' })).text).toMatch(
        /^src\/bad\.ts:1:14 error 2322: Type/,
      );
      put('py/bad.py', 'x: int = "a"\n');
      expect((await call('get_errors', { path: 'py/bad.py' })).text).toMatch(
        /^py\/bad\.py:1:10 error reportAssignmentType/,
      );
    });
  });

  test('the type and the words of a symbol, and who calls it, with cycles cut', async () => {
    expect((await call('hover', { symbol: 'addUp' })).text).toMatch(/function addUp\(a: number, b: number\): number/);
    expect((await call('hover', { symbol: 'add_py' })).text).toMatch(/def add_py\(/);
    const { structured } = await call('calls', { symbol: 'ping', depth: 3 });
    expect(structured.items).toMatchObject([
      { name: 'pong', depth: 1, repeated: false },
      { name: 'ping', depth: 2, repeated: true },
    ]);
    expect(locationsOf(await call('find_implementations', { symbol: 'Shape' }))).toEqual(['src/shape.ts:4:14']);
  });

  describe('a second session', () => {
    let other: McpSession;
    beforeAll(async () => {
      other = await connectStdio(['--workspace', path, '--readonly']);
    });
    afterAll(() => other[Symbol.asyncDispose]());

    test('that may only read has the same answers, sees the edits of the first, and changes nothing', async () => {
      const hash = () =>
        execFileSync('sh', ['-c', 'find . -type f | sort | xargs sha256sum'], { cwd: path, encoding: 'utf8' });
      put('src/shared.ts', 'export const sharedName = 1;\n');
      expect(locationsOf(await other.call('find_definition', { symbol: 'sharedName' }))).toEqual([
        'src/shared.ts:1:14',
      ]);
      await call('read', { file_path: 'src/shared.ts' });
      await call('edit', { file_path: 'src/shared.ts', old_string: 'export', new_string: '\nexport' });
      const before = hash();
      expect(locationsOf(await other.call('find_definition', { symbol: 'sharedName' }))).toEqual([
        'src/shared.ts:2:14',
      ]);
      expect(hash()).toBe(before);
    });
  });
});
