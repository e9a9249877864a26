import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectedOfOthers } from '../../test/fixtures/lint-reports/findings-of-others.ts';
import { expectedOfScripts } from '../../test/fixtures/lint-reports/findings-of-scripts.ts';
import type { LintReport } from '../core/project-tools/linter.ts';
import type { CheckOutput } from '../core/project-tools/test-runner.ts';
import { lintToolNames } from '../core/projects/guess-check-tool.ts';
import { stripControlSequences } from '../lib/text/strip-control-sequences.ts';
import * as registry from './index.ts';

const linters = Object.values(registry);
const reports = join(import.meta.dirname, '../../test/fixtures/lint-reports');

interface Recording extends Partial<CheckOutput> {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Output of the real tool, if `source` says that it was recorded; the project is at `/workspace`. */
function recordings(name: string): Record<string, Recording> {
  return JSON.parse(readFileSync(join(reports, `${name}.report.json`), 'utf8')).runs;
}

function toOutput({ stdout, stderr, ...rest }: Recording): CheckOutput {
  // Strips control characters, as a read from a sandbox does.
  const said = { stdout: stripControlSequences(stdout), stderr: stripControlSequences(stderr) };
  return { directory: '/workspace', isCut: false, ...said, ...rest };
}

const toLines = ({ findings }: LintReport) =>
  findings.map(({ file, line, column, rule, severity }) => `${file}:${line}:${column}:${rule} ${severity}`);

const expected: Record<string, Record<string, readonly string[]>> = { ...expectedOfScripts, ...expectedOfOthers };

test('every tool that a detector may name has a linter and recordings', () => {
  expect(linters.map(({ name }) => name).toSorted()).toEqual(lintToolNames.toSorted());
  expect(Object.keys(expected).toSorted()).toEqual(lintToolNames.toSorted());
});

describe.each(linters)('$name', (linter) => {
  const runs = recordings(linter.name);

  test('has an expectation for each recording', () => {
    expect(Object.keys(expected[linter.name] ?? {})).toEqual(Object.keys(runs));
  });

  test.each(Object.entries(runs))('parses the recording: %s', (name, run) => {
    const report = linter.read(toOutput(run));
    const [state, ...rest] = expected[linter.name]?.[name] ?? [];
    expect(report.state).toBe(state);
    if (report.findings.length > 0) return expect(toLines(report)).toEqual(rest);
    for (const part of rest) expect(report.reason).toContain(part);
    expect(report.reason === undefined).toBe(state === 'clean');
  });

  test('is not green if the linter was killed, or failed after a clean report', () => {
    for (const run of Object.values(runs).filter(({ exitCode }) => exitCode === 0))
      for (const exitCode of [null, 2, 3, 4, 64, 101, 124, 127, 137, 255])
        expect(linter.read({ ...toOutput(run), exitCode }).state).not.toBe('clean');
  });

  test('is not green for half a report with findings', () => {
    const { findings } = runs;
    if (!findings) throw new Error('no recording with findings');
    const { stdout, stderr } = toOutput(findings);
    for (let part = 1; part < 40; part++) {
      const cut = (text: string) => text.slice(0, Math.floor((text.length * part) / 40));
      const output = { ...toOutput(findings), stdout: cut(stdout), stderr: cut(stderr) };
      expect(linter.read(output).state, cut(stdout + stderr)).not.toBe('clean');
    }
  });
});
