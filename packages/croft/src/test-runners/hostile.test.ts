import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectCheap } from '../../test/support/expect-cheap.ts';
import { casesOf, everyRunner, runnerOf } from '../../test/support/test-reports.ts';
import type { CheckOutput } from '../core/project-tools/test-runner.ts';

/** Test runners whose exit code is their only verdict. */
const byExitCode = new Set(['script', 'make-test']);

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.json(),
  fc
    .array(fc.constantFrom('ok', 'FAIL', '1..', '{', '<testsuite>', '<testcase', ':', '\n', '(', ' 3', 'passed'), {
      maxLength: 60,
    })
    .map((parts) => parts.join(' ')),
);
const anyOutput: fc.Arbitrary<CheckOutput> = fc.record({
  stdout: text,
  stderr: text,
  exitCode: fc.constantFrom(0, 1, 2, 127, null),
  report: fc.option(text, { nil: undefined }),
  followUpOutput: fc.option(text, { nil: undefined }),
  isCut: fc.boolean(),
  directory: fc.constant('/project'),
});

describe.each(everyRunner.map((runner) => [runner.name, runner] as const))('%s', (name, runner) => {
  test('is never green on any input, and does not throw', () => {
    fc.assert(
      fc.property(anyOutput, (output) => {
        const { state } = runner.read(output);
        if (state === 'passed') expect(byExitCode.has(name) && output.exitCode === 0 && !output.isCut).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  test('reads nonsense in time proportional to its size', async () => {
    for (const piece of [
      'a',
      '(',
      '\n',
      ' ',
      '{"a":',
      '<testsuite>',
      '  1) Error:\n [a',
      'a/a',
      'not ok\n',
      '---- x',
      '[[: ',
    ]) {
      const said = piece.repeat(400_000 / piece.length);
      const output = { stdout: said, stderr: said, report: said, exitCode: 1, isCut: false, directory: '/project' };
      await expectCheap(() => runner.read(output), 60);
    }
  });
});

describe.each(casesOf('passing'))('%s, given a recording of passed tests,', (name, output) => {
  test.each([
    ['a part is missing', { isCut: true }],
    ['it ended badly', { exitCode: 1 }],
    ['it was killed', { exitCode: null }],
  ])('is not green if %s', (_, change) => {
    expect(runnerOf(name).read({ ...output, ...change }).state).not.toBe('passed');
  });
});

describe.each(casesOf('failing'))('%s, given a recording of failed tests,', (name, output) => {
  test('is not green for any part of it', () => {
    const length = Math.max(output.stdout.length, output.stderr.length, output.report?.length ?? 0);
    fc.assert(
      fc.property(fc.nat(length), (end) => {
        const [stdout, stderr, report] = [output.stdout, output.stderr, output.report].map((all) => all?.slice(0, end));
        const part = { ...output, stdout: stdout ?? '', stderr: stderr ?? '', report };
        expect(runnerOf(name).read(part).state).not.toBe('passed');
      }),
      { numRuns: 60 },
    );
  });

  test.skipIf(name === 'script')('is not green, whatever the exit code is', () => {
    expect(runnerOf(name).read({ ...output, exitCode: 0 }).state).not.toBe('passed');
  });
});
