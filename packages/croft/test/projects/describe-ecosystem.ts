import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { hasToolchains, type ToolchainName } from '../support/toolchains.ts';
import { connectWithout, lineWith, makeProjects, type Projects, shareProjects } from './project.ts';

export interface Ecosystem {
  readonly toolchains: readonly ToolchainName[];
  readonly fixture: string;
  readonly language: string;
  /** File with the functions that add and multiply. */
  readonly source: string;
  /** File with three tests: of adding, of multiplying, and one that always passes. */
  readonly tests: string;
  /** Text of the line at which each failing test stops. */
  readonly stops: { readonly adds: string; readonly multiplies: string };
  /** A change that breaks the build. */
  readonly breaks: readonly [from: string, to: string];
  /** The program without which nothing works. */
  readonly program: string;
  readonly checks?: readonly LintCase[];
  /** Adds what else the fixture needs. */
  prepare?(projectTree: Projects): void;
}

export interface LintCase {
  readonly tool: 'run_lint' | 'run_typecheck';
  readonly toolchains?: readonly ToolchainName[];
  readonly file: string;
  readonly text: string;
  /** Expected state: `findings`, unless the tool itself passes with warnings. */
  readonly state?: 'warnings';
  readonly finding: { readonly line: number; readonly rule?: unknown; readonly message?: unknown };
}

const slow = { timeout: 300_000 };

/** Tests one real project with a real client: passing, failing, broken, and without its tools. */
export async function describeEcosystem(name: string, ecosystem: Ecosystem): Promise<void> {
  const isReady = await hasToolchains(...ecosystem.toolchains);
  const ready: LintCase[] = [];
  for (const check of isReady ? (ecosystem.checks ?? []) : []) {
    if (await hasToolchains(...(check.toolchains ?? []))) ready.push(check);
  }
  describe.skipIf(!isReady)(name, slow, () => {
    const bench = openBench(ecosystem);
    testRuns(ecosystem, bench);
    testBrokenBuild(ecosystem, bench);
    testMissing(ecosystem);
    for (const check of ready) testCheck(check, bench);
  });
}

type Bench = ReturnType<typeof openBench>;

function openBench({ fixture, source, prepare = () => {} }: Ecosystem) {
  const { projectTree, call } = shareProjects({ '': fixture }, { prepare });
  const original = projectTree.read(source);
  return {
    projectTree,
    call,
    /** Restores the source and applies these changes. */
    change(...changes: readonly (readonly [from: string, to: string])[]): void {
      let text = original;
      for (const [from, to] of changes) {
        if (!text.includes(from)) throw new Error(`${source} has no ${from}`);
        text = text.replace(from, to);
      }
      projectTree.put(source, text);
    },
  };
}

// Changes of the same length as the original, possibly within the same second.
const wrongSum = ['left + right', 'left - right'] as const;
const wrongProduct = ['left * right', 'left - right'] as const;

function testRuns({ language, tests, stops }: Ecosystem, { projectTree, call, change }: Bench) {
  const failure = (name: RegExp, stop: string) => ({
    name: expect.stringMatching(name),
    file: tests,
    line: lineWith(projectTree.read(tests), stop),
  });
  const sum = failure(/adds/i, stops.adds);
  const product = failure(/multiplies/i, stops.multiplies);
  const byName = (failures: { name: string }[]) =>
    failures.toSorted((one, other) => one.name.localeCompare(other.name));

  test('reports failed tests with their place, runs exactly those again, and is green only if all pass', async () => {
    change(wrongSum, wrongProduct);
    const both = (await call('run_tests')).structured;
    expect(both).toMatchObject({ state: 'failed', runs: [{ language, passed: 1, failed: 2 }] });
    expect(byName(both.runs[0].failures)).toMatchObject([sum, product]);
    expect((await call('last_test_failures')).text).toMatch(/^2 test failure\(s\) from last run_tests call/);

    change(wrongProduct);
    const again = (await call('run_failing_tests')).structured;
    expect(again).toMatchObject({ state: 'failed', runs: [{ passed: 1, failed: 1, failures: [product] }] });

    change();
    expect((await call('run_failing_tests')).structured).toMatchObject({ state: 'passed', runs: [{ passed: 1 }] });
    expect((await call('run_tests')).structured).toMatchObject({
      state: 'passed',
      runs: [{ language, passed: 3, failed: 0, failures: [] }],
    });
    expect((await call('last_test_failures')).text).toMatch(/^last run_tests had no failures \(3 tests passed/);
  });
}

function testBrokenBuild({ source, breaks }: Ecosystem, { call, change }: Bench) {
  test('reports a failed build as broken, and not as no failures', async () => {
    change(breaks);
    const answer = await call('run_tests');
    expect(answer.structured).toMatchObject({ state: 'broken' });
    expect(answer.text).toContain(source);
    const last = await call('last_test_failures');
    expect(last.text).toContain('could not all be run');
    expect(last.text).toContain(source);
    expect(last.text).not.toContain('no failures');
    const again = await call('run_failing_tests');
    expect(again.text).not.toMatch(/no failures|passed \(/);
    expect(again.structured.state).not.toBe('passed');
    change();
  });
}

function testMissing({ fixture, program, checks = [], prepare }: Ecosystem) {
  test('names a missing program, and a run without tests is not green', async () => {
    using projectTree = makeProjects({ '': fixture });
    prepare?.(projectTree);
    using bin = makeDirectory();
    await using session = await connectWithout(projectTree, join(bin.path, 'bin'));
    const asked = ['run_tests', ...new Set(checks.filter(({ toolchains }) => !toolchains).map(({ tool }) => tool))];
    for (const tool of asked) {
      const answer = await session.call(tool);
      expect(answer.text).not.toMatch(/\b(passed|0 findings)\b/);
      expect(answer.structured.error).toMatchObject({ code: 'E_TOOL_MISSING', details: { program } });
      expect(answer.text).toContain(`${tool}: ${program}: not found on PATH`);
    }
    expect((await session.call('last_test_failures')).text).not.toContain('no failures');
  });
}

function testCheck({ tool, file, text, state, finding }: LintCase, { projectTree, call, change }: Bench) {
  test(`${tool} is clean, and then finds a problem added to ${file}`, async () => {
    change();
    expect((await call(tool)).structured).toMatchObject({ state: 'clean', findings: [] });
    projectTree.put(file, text);
    const answer = await call(tool);
    expect(answer.structured.state).toBe(state ?? 'findings');
    expect(answer.structured.findings).toContainEqual(expect.objectContaining({ file, ...finding }));
    expect(answer.text).toContain(`${file}:${finding.line}:`);
    projectTree.remove(file);
  });
}
