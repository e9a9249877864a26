import { posix } from 'node:path';
import { toRanges } from '../../lib/coverage/line-ranges.ts';
import type { MeasuredTest } from '../checks/check-results.ts';
import { type CheckRequest, type CheckRun, runCheck } from '../checks/run-check.ts';
import type { TestRunner } from '../checks/test-runner.ts';
import type { Sandbox } from '../commands/sandbox.ts';
import type { FileContent, Files } from '../files.ts';
import { toWorkspacePath } from '../projects/pick-projects.ts';
import type { Check, Profile } from '../projects/profile.ts';
import { broken } from '../readers/read-output.ts';
import type { CoverageCommand, CoverageData, CoverageRequest, CoverageTool } from './coverage.ts';

/** Where and with what the test files of one project are measured. */
export interface Measuring {
  readonly tool: CoverageTool;
  readonly runner: TestRunner;
  readonly test: Check;
  readonly profile: Profile;
  readonly files: Files;
  readonly sandbox: Sandbox;
  readonly signal: AbortSignal;
  readonly context: CheckRequest['context'];
}

/** What ran while a test file did; or why that is not known; or nothing where there is nothing to run. */
export type Measurement = { readonly measured: MeasuredTest } | { readonly reason: string } | undefined;

/** Longer ones are not written by people, and what is read here is kept in memory. */
const maxSourceBytes = 4 * 1024 * 1024;
const reportTimeoutMs = 60_000;

/** Runs one test file from the project's root. It may fail: what it ran, it ran. */
export async function measureTestFile(file: string, timeoutMs: number, measuring: Measuring): Promise<Measurement> {
  const { tool, files, profile } = measuring;
  const look = createLook(files);
  const test = await look(toWorkspacePath(file, profile));
  if (!test) return { reason: 'it cannot be read' };
  const request = toRequest(file, test.bytes.toString(), measuring);
  const command = tool.toRun(request);
  if (!command) return undefined;
  const { ran, printed } = await runAndPrint(command, request, { timeoutMs, measuring });
  // Helpers among the tests load sources too, but no test of theirs ran.
  if (!ran.timedOut && measuring.runner.read(ran.output).state === 'empty') return undefined;
  const unknown = whyUnknown(ran, printed);
  if (unknown !== undefined) return { reason: unknown };
  const toPath = (path: string) => toWorkspace(path, measuring);
  const readText: CoverageData['readText'] = async (path) => (await look(toPath(path)))?.bytes.toString();
  const lines = await tool.read({ text: printed.output.stdout, request, readText });
  if (!lines) return { reason: whyUnreadable(ran, tool) };
  const inexact = (lines.inexact ?? []).flatMap((path) => toPath(path) ?? []).slice(0, maxSources);
  return { measured: { version: test.version, inexact, sources: await toSources(lines.files, toPath, look) } };
}

async function runAndPrint(
  { argv, environment }: CoverageCommand,
  request: CoverageRequest,
  { timeoutMs, measuring }: { timeoutMs: number; measuring: Measuring },
): Promise<{ ran: CheckRun; printed: CheckRun }> {
  const { tool, runner, sandbox, profile, signal, context } = measuring;
  const common = { profile, signal, context, environment: runner.environment, timeoutMs: reportTimeoutMs };
  const measured = { ...common, environment: { ...runner.environment, ...environment } };
  try {
    const ran = await runCheck(sandbox, { ...measured, argv, timeoutMs, reportFile: reportOf(request.place) });
    return { ran, printed: await runCheck(sandbox, { ...common, argv: tool.toReport(request) }) };
  } finally {
    await runCheck(sandbox, { ...common, argv: ['rm', '-rf', request.place] });
  }
}

/** Where the runner may leave its own report. */
function reportOf(place: string): string {
  return `${place}-report`;
}

function toRequest(testFile: string, testText: string, { test, runner, sandbox }: Measuring): CoverageRequest {
  const place = `/tmp/croft-coverage-${crypto.randomUUID()}`;
  const runnerArgv = runner.toArgv(test.argv, { files: [testFile], reportFile: reportOf(place) });
  return { argv: test.argv, runnerArgv, testFile, testText, place, workspacePath: sandbox.workspacePath };
}

/** A run that was cut short, or one that left nothing, says nothing about what was not run. */
function whyUnknown(ran: CheckRun, printed: CheckRun): string | undefined {
  if (ran.timedOut) return 'time ran out';
  if (printed.output.isCut) return 'there was too much to be read';
  if (printed.output.exitCode === 0 && !printed.timedOut) return undefined;
  return broken(ran.output.exitCode === 0 ? printed.output : ran.output).reason ?? 'it left nothing';
}

/** A test file that could not even be loaded says best itself why. */
function whyUnreadable({ output }: CheckRun, { name }: CoverageTool): string {
  return (output.exitCode === 0 ? undefined : broken(output).reason) ?? `what ${name} left could not be read`;
}

type Look = (path: string | undefined) => Promise<FileContent | undefined>;

/** Each file once, so that its lines and its version are of the same moment. */
function createLook(files: Files): Look {
  const seen = new Map<string, Promise<FileContent | undefined>>();
  return async (path) => {
    if (path === undefined) return undefined;
    const looked = seen.get(path) ?? files.read(path, { maxBytes: maxSourceBytes }).catch(() => undefined);
    seen.set(path, looked);
    return looked;
  };
}

const notOwn = /(?:^|\/)(?:node_modules|site-packages|\.venv|\.git)\//;

/** Nothing for what is no source of this workspace. */
function toWorkspace(path: string, { sandbox: { workspacePath }, profile }: Measuring): string | undefined {
  const absolute = path.startsWith('/') ? posix.normalize(path) : undefined;
  if (absolute !== undefined && !absolute.startsWith(`${workspacePath}/`)) return undefined;
  const inside = absolute?.slice(workspacePath.length + 1) ?? posix.normalize(toWorkspacePath(path, profile));
  return inside.startsWith('../') || notOwn.test(inside) ? undefined : inside;
}

const maxSources = 5000;

async function toSources(
  ran: ReadonlyMap<string, readonly number[]>,
  toPath: (path: string) => string | undefined,
  look: Look,
): Promise<MeasuredTest['sources']> {
  const sources: [string, MeasuredTest['sources'][string]][] = [];
  for (const [path, lines] of [...ran].slice(0, maxSources)) {
    const there = lines.length > 0 ? await look(toPath(path)) : undefined;
    if (there) sources.push([there.path, { version: there.version, lines: toRanges(lines) }]);
  }
  return Object.fromEntries(sources);
}
