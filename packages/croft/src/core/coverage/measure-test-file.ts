import { posix } from 'node:path';
import { toRanges } from '../../lib/coverage/line-ranges.ts';
import type { MeasuredTest } from '../checks/check-results.ts';
import { type CheckRequest, type CheckRun, runCheck } from '../checks/run-check.ts';
import type { Sandbox } from '../commands/sandbox.ts';
import type { FileContent, Files } from '../files/files.ts';
import type { CoverageCommand, CoverageData, CoverageRequest, CoverageTool } from '../project-tools/coverage-tool.ts';
import type { TestRunner } from '../project-tools/test-runner.ts';
import { toWorkspacePath } from '../projects/pick-projects.ts';
import type { CheckCommand, Profile } from '../projects/profile.ts';
import { brokenTests } from '../readers/reader-helpers.ts';

/** The tool and the sandbox that measure the test files of one project. */
interface MeasuringContext {
  readonly tool: CoverageTool;
  readonly runner: TestRunner;
  readonly test: CheckCommand;
  readonly profile: Profile;
  readonly files: Files;
  readonly sandbox: Sandbox;
  readonly signal: AbortSignal;
  readonly context: CheckRequest['context'];
}

/** The lines that a test file executed, or why they are unknown, or `undefined` if there is nothing to run. */
export type Measurement = { readonly measured: MeasuredTest } | { readonly reason: string } | undefined;

/** People do not write longer ones, and sources are held in memory. */
const maxSourceBytes = 4 * 1024 * 1024;
const reportTimeoutMs = 60_000;

/**
 * Runs one test file from the project root and reads its coverage. The tests may fail: executed lines count all the
 * same.
 */
export async function measureTestFile(
  file: string,
  timeoutMs: number,
  measuring: MeasuringContext,
): Promise<Measurement> {
  const { tool, files, profile } = measuring;
  const readFile = createFileReader(files);
  const test = await readFile(toWorkspacePath(file, profile));
  if (!test) return { reason: 'it cannot be read' };
  const request = toRequest(file, test.bytes.toString(), measuring);
  const command = tool.toRun(request);
  if (!command) return undefined;
  const { ran, printed } = await runAndPrint(command, request, { timeoutMs, measuring });
  // Helper files among the tests load sources too, but contain no tests.
  if (!ran.timedOut && measuring.runner.read(ran.output).state === 'empty') return undefined;
  const unknown = whyUnknown(ran, printed);
  if (unknown !== undefined) return { reason: unknown };
  const toPath = (path: string) => toWorkspace(path, measuring);
  const readText: CoverageData['readText'] = async (path) => (await readFile(toPath(path)))?.bytes.toString();
  const lines = await tool.read({ text: printed.output.stdout, request, readText });
  if (!lines) return { reason: whyUnreadable(ran, tool) };
  const inexact = (lines.inexact ?? []).flatMap((path) => toPath(path) ?? []).slice(0, maxMeasuredSources);
  return { measured: { version: test.version, inexact, sources: await toSources(lines.files, toPath, readFile) } };
}

async function runAndPrint(
  { argv, environment }: CoverageCommand,
  request: CoverageRequest,
  { timeoutMs, measuring }: { timeoutMs: number; measuring: MeasuringContext },
): Promise<{ ran: CheckRun; printed: CheckRun }> {
  const { tool, runner, sandbox, profile, signal, context } = measuring;
  const common = { profile, signal, context, environment: runner.environment, timeoutMs: reportTimeoutMs };
  const measured = { ...common, environment: { ...runner.environment, ...environment } };
  try {
    const ran = await runCheck(sandbox, { ...measured, argv, timeoutMs, reportFile: reportPathOf(request.dataPath) });
    return { ran, printed: await runCheck(sandbox, { ...common, argv: tool.toReport(request) }) };
  } finally {
    await runCheck(sandbox, { ...common, argv: ['rm', '-rf', request.dataPath] });
  }
}

/** The path for the test runner's own report. */
function reportPathOf(dataPath: string): string {
  return `${dataPath}-report`;
}

function toRequest(testFile: string, testText: string, { test, runner, sandbox }: MeasuringContext): CoverageRequest {
  const dataPath = `${sandbox.temporaryPath}/croft-coverage-${crypto.randomUUID()}`;
  const runnerArgv = runner.toArgv(test.argv, { files: [testFile], reportFile: reportPathOf(dataPath) });
  return { argv: test.argv, runnerArgv, testFile, testText, dataPath, workspacePath: sandbox.workspacePath };
}

/** A run that was cut short, or left no data, says nothing about the lines that it did not execute. */
function whyUnknown(ran: CheckRun, printed: CheckRun): string | undefined {
  if (ran.timedOut) return 'time ran out';
  if (printed.output.isCut) return 'there was too much to be read';
  if (printed.output.exitCode === 0 && !printed.timedOut) return undefined;
  return brokenTests(ran.output.exitCode === 0 ? printed.output : ran.output).reason ?? 'it left no coverage data';
}

/** A test file that could not be loaded gives the best reason itself. */
function whyUnreadable({ output }: CheckRun, { name }: CoverageTool): string {
  return (output.exitCode === 0 ? undefined : brokenTests(output).reason) ?? `what ${name} left could not be read`;
}

type ReadOnce = (path: string | undefined) => Promise<FileContent | undefined>;

/** Reads each file once, so that its lines and its version are of the same moment. */
function createFileReader(files: Files): ReadOnce {
  const seen = new Map<string, Promise<FileContent | undefined>>();
  return async (path) => {
    if (path === undefined) return undefined;
    const reading = seen.get(path) ?? files.read(path, { maxBytes: maxSourceBytes }).catch(() => undefined);
    seen.set(path, reading);
    return reading;
  };
}

const notOwn = /(?:^|\/)(?:node_modules|site-packages|\.venv|\.git)\//;

/** Returns a path from the workspace root; `undefined` if it is not a source of this workspace. */
function toWorkspace(path: string, { sandbox: { workspacePath }, profile }: MeasuringContext): string | undefined {
  const absolute = path.startsWith('/') ? posix.normalize(path) : undefined;
  if (absolute !== undefined && !absolute.startsWith(`${workspacePath}/`)) return undefined;
  const inside = absolute?.slice(workspacePath.length + 1) ?? posix.normalize(toWorkspacePath(path, profile));
  return inside.startsWith('../') || notOwn.test(inside) ? undefined : inside;
}

const maxMeasuredSources = 5000;

async function toSources(
  ran: ReadonlyMap<string, readonly number[]>,
  toPath: (path: string) => string | undefined,
  readFile: ReadOnce,
): Promise<MeasuredTest['sources']> {
  const sources: [string, MeasuredTest['sources'][string]][] = [];
  for (const [path, lines] of [...ran].slice(0, maxMeasuredSources)) {
    const source = lines.length > 0 ? await readFile(toPath(path)) : undefined;
    if (source) sources.push([source.path, { version: source.version, lines: toRanges(lines) }]);
  }
  return Object.fromEntries(sources);
}
