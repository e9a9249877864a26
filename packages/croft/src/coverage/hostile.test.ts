import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectCheap } from '../../test/support/expect-cheap.ts';
import type { CoverageRequest } from '../core/project-tools/coverage-tool.ts';
import * as tools from './index.ts';

const request: CoverageRequest = {
  ...{ argv: ['go', 'test'], runnerArgv: ['go', 'test'], testFile: 'a.test.js' },
  ...{ testText: '', dataPath: '/tmp/p', workspacePath: '/w' },
};
const source = 'a();\nb();\n\nc();\n';
const lineCount = source.split('\n').length;

const number = fc.oneof(fc.integer({ min: -2, max: 12 }), fc.constantFrom(1e308, -0.5, 2 ** 53));
const position = fc.record({ line: number, column: fc.option(number) });
const span = fc.record({ start: position, end: position });
/** Nearly valid, so that the first check passes. */
const report = fc.oneof(
  fc.string(),
  fc.json(),
  fc
    .array(
      fc.record({
        url: fc.constantFrom('file:///w/a.test.js', 'file:///w/%', '%'),
        isMapped: fc.boolean(),
        ranges: fc.array(fc.tuple(number, number, number)),
      }),
    )
    .map((scripts) => scripts.map((script) => JSON.stringify(script)).join('\n')),
  fc
    .dictionary(
      fc.string(),
      fc.record({
        path: fc.string(),
        statementMap: fc.dictionary(fc.constantFrom('0', '1', '__proto__'), span),
        s: fc.constant({ 0: 1, 1: 0 }),
      }),
    )
    .map((files) => JSON.stringify(files)),
  fc
    .array(fc.tuple(number, number, number, number, number))
    .map((blocks) =>
      ['mode: set', ...blocks.map(([a, b, c, d, count]) => `m/a.go:${a}.${b},${c}.${d} 1 ${count}`)].join('\n'),
    ),
  fc
    .array(fc.tuple(number, number))
    .map((rows) => ['SF:a', ...rows.map(([line, count]) => `DA:${line},${count}`)].join('\n')),
  fc.array(number).map((lines) => JSON.stringify({ files: { a: { executed_lines: lines } } })),
);

test.each(Object.values(tools).map((tool) => [tool.name, tool] as const))(
  '%s reads anything without harm, and never finds a line before the first',
  async (_, tool) => {
    const readText = async (path: string) => (path === 'go.mod' ? 'module m\n' : source);
    await fc.assert(
      fc.asyncProperty(report, async (text) => {
        const read = await tool.read({ text, request, readText });
        for (const lines of read?.files.values() ?? []) expect(lines.every((line) => line >= 0)).toBe(true);
      }),
    );
  },
);

test('a Go profile of a hundred thousand blocks around everything is read at once', async () => {
  const text = `mode: set\n${'m/a.go:1.1,999999999.1 1 1\n'.repeat(100_000)}`;
  const readText = async (path: string) => (path === 'go.mod' ? 'module m\n' : source.repeat(10_000));
  const read = () => tools.goCover.read({ text, request, readText });
  expect((await read())?.files.get('a.go')?.length).toBeGreaterThan(lineCount);
  await expectCheap(read, 60);
});

test('a line of a million letters costs as little per block as a short one', async () => {
  const text = `mode: set\n${'m/a.go:1.1,2.999999 1 1\n'.repeat(100_000)}`;
  const readText = async (path: string) => (path === 'go.mod' ? 'module m\n' : `a\n${'b'.repeat(1_000_000)}`);
  const read = () => tools.goCover.read({ text, request, readText });
  expect((await read())?.files.get('a.go')).toEqual([1, 2]);
  await expectCheap(read, 60);
});
