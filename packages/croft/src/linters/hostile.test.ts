import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectCheap } from '../../test/support/expect-cheap.ts';
import * as registry from './index.ts';

const linters = Object.values(registry);

const path = fc.constantFrom('a.ts', './b/c.go', '/workspace/d.rs', '/etc/passwd', '../x.py', '-rf', 'Z.java', '');
const number = fc.constantFrom('0', '1', '7', '-3', '99999999999999999999', 'NaN');
const words = fc.constantFrom('error', 'warning', 'note', 'fatal error', 'BUILD', 'SUCCESS', 'not found', 'E0425');

/** Lines in the formats of tools, with impossible values in places. */
const line = fc.oneof(
  fc.string(),
  fc.json(),
  fc.tuple(path, number, number, words, fc.string()).map(([p, l, c, w, m]) => `${p}:${l}:${c}: ${w}: ${m} [rule]`),
  fc.tuple(path, number, number, fc.string()).map(([p, l, c, m]) => `${p}(${l},${c}): error TS1: ${m}`),
  fc.tuple(path, number, number, fc.string()).map(([p, l, c, m]) => `[ERROR] ${p}:[${l},${c}] ${m}`),
  fc.constantFrom('{', '}', '{}', '[', ']', '[]', '{"', '\u001b[31m', 'vet: ', '# pkg', '{"reason":"build-finished"}'),
);
const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n'));
const output = fc.record({
  stdout: text,
  stderr: text,
  exitCode: fc.constantFrom(0, 0, 0, 1, 2, 101, null),
  isCut: fc.boolean(),
  directory: fc.constant('/workspace'),
});

const quiet = { exitCode: 0, isCut: false, directory: '/workspace' } as const;
/** Answers that are valid only if two streams, or two lines, are joined. */
const halves = [
  { stdout: '{', stderr: '}' },
  { stdout: '{\n}', stderr: '' },
  { stdout: '[', stderr: ']' },
];

/** Complete output of each linter without findings, if that is not JSON. */
const cleanAnswers: Record<string, (said: string) => boolean> = {
  flake8: (said) => said === '0',
  javac: (said) => said.split('\n').every((row) => row === '' || row.startsWith('Note: ')),
  'go-vet': (said) => said.split('\n').includes('{}'),
  'golangci-lint': (said) => said === '' || said === '0 issues.' || said.includes('Issues'),
  'clang-tidy': (said) => said === '',
  'zig-build': (said) => said === '',
  // A script may print anything: its exit code is its verdict.
  'lint-script': () => true,
  ruff: isEmptyList,
  pylint: isEmptyList,
  swiftlint: isEmptyList,
};

function isEmptyList(said: string): boolean {
  return /^\[\s*\]/.test(said.slice(Math.max(said.search(/(^|\n)\[/), 0)).trim());
}

describe.each(linters)('$name', (linter) => {
  test('is never green by accident on any input, and its result fits the schema', () => {
    fc.assert(
      fc.property(output, (said) => {
        const { state, findings } = linter.read(said);
        if (state === 'clean') {
          expect(said.exitCode).toBe(0);
          const [whole, out] = [`${said.stdout}\n${said.stderr}`.trim(), said.stdout.trimStart()];
          const isReal = cleanAnswers[linter.name];
          expect(isReal?.(whole) || isReal?.(out), JSON.stringify(said)).toBe(true);
        }
        if (state === 'findings') expect(findings.length).toBeGreaterThan(0);
        for (const { file, line: row, column, message, rule } of findings) {
          expect(Number.isSafeInteger(row) && row > 0 && Number.isSafeInteger(column) && column > 0).toBe(true);
          expect(`${file}${message}${rule}`).not.toMatch(/\n|\p{Cc}/u);
        }
      }),
      { numRuns: 100, examples: halves.map((half): [typeof half & typeof quiet] => [{ ...half, ...quiet }]) },
    );
  });

  const megabyte = 2 ** 20;
  test.each([
    ['one line', 'x'.repeat(megabyte)],
    ['empty lines', '\n'.repeat(megabyte)],
    ['colons and numbers', ':1'.repeat(megabyte / 2)],
    ['places', 'a.c:1:1: error: x [y]\n'.repeat(megabyte / 22)],
    ['brackets', '['.repeat(megabyte)],
    ['braces in lines', '{\n'.repeat(megabyte / 2)],
    ['spaces', `a.c:1:1: error:${' '.repeat(megabyte)}x`],
    ['spaces in lines', `${' '.repeat(1000)}^x\n`.repeat(1000)],
    ['parentheses', 'a('.repeat(megabyte / 2)],
  ])('reads a megabyte of %s in linear time', async (_, said) => {
    const read = () => linter.read({ stdout: said, stderr: said, exitCode: 0, isCut: false, directory: '/workspace' });
    // Some linters print nothing if all is well.
    if (said.trim() !== '' && linter.name !== 'lint-script') expect(read().state).not.toBe('clean');
    await expectCheap(read, 200);
  });

  test('gives no file that could be read as an option', () => {
    const argv = linter.toArgv(['tool', '$FILES'], ['--fix', '-rf', '@args', 'plain.go']);
    const given = argv.filter((argument) => /^(--fix|-rf|@args)$/.test(argument));
    expect(given).toEqual([]);
    expect(argv).not.toContain('$FILES');
    expect(linter.toArgv(['tool', '$FILES'], [])).not.toContain('$FILES');
  });

  test('requests its report format once, also if the command has the option already', () => {
    const argv = linter.toArgv(['tool', 'verb', '$FILES', '--', 'rest'], ['a.go']);
    expect(linter.toArgv(argv, ['a.go'])).toEqual(argv);
    expect(argv.slice(argv.indexOf('--'))).toEqual(['--', 'rest']);
  });
});
