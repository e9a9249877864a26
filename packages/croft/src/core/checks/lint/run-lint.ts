import { z } from 'zod';
import type { UnverifiedReason } from '../../history/ports/unverified-reason.ts';
import type { Finding, Linter, LintReport, LintScope } from '../../project-tools/linter.ts';
import { toWorkspacePath } from '../../projects/pick-projects.ts';
import type { Argv, CheckCommand, Profile } from '../../projects/profile.ts';
import { noCommandError, type ProjectFiles } from '../assign-files-to-projects.ts';
import { findMissingProgram, isMissingToolError, missingToolError } from '../missing-tool.ts';
import type { CheckRun } from '../run-check.ts';
import { type AlteredSources, type LintContext, runAndRestoreSources } from './run-and-restore-sources.ts';

export type LintKind = 'lint' | 'typecheck';

export interface LintCall extends ProjectFiles {
  readonly kind: LintKind;
  readonly timeoutMs: number;
  /** The calling tool, for the error when the program is missing. Left out: `run_lint` or `run_typecheck`. */
  readonly tool?: string | undefined;
}

export interface LintRun {
  readonly profile: Profile;
  readonly tool: string;
  readonly command: Argv;
  readonly report: LintReport;
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
  /** The end of the linter's output, for a reader who has to make sense of it. */
  readonly lastOutput: string;
  /** Source files that changed during the run, if any. */
  readonly altered?: AlteredSources | undefined;
  /** Why it is unknown whether source files changed. */
  readonly unverified?: UnverifiedReason | undefined;
}

export type { LintContext } from './run-and-restore-sources.ts';

const shownText = 4000;

/** Lints or type-checks one project, or some of its files. Throws `E_TOOL_MISSING` if the program does not exist. */
export async function runLint(call: LintCall, context: LintContext): Promise<LintRun> {
  const { workspace, signal } = context;
  const { kind, profile, files, timeoutMs } = call;
  const check = chooseCheck(call);
  const linter = workspace.checks.linter(check.tool);
  const command = linter.toArgv(check.argv, files.length > 0 ? files : (check.all ?? []));
  const { tool = `run_${kind}` } = call;
  const request = { profile, argv: command, timeoutMs, signal, tool, context };
  const { result: run, altered, unverified } = await runAndRestoreSources(request, context);
  const { output, timedOut, durationMs } = run;
  const read = limitToFiles(mustBeComplete(linter.read(output), run, timeoutMs), files, linter.scope);
  const passed = toWarnings(read, output.exitCode, linter);
  const report = altered ? rejectIfRestored(passed, altered) : passed;
  const missing = report.state === 'broken' && report.findings.length === 0 ? findMissingProgram(output) : undefined;
  if (missing !== undefined) throw missingToolError(missing, { profile, tool });
  const lastOutput = (output.stderr || output.stdout).slice(-shownText);
  const ended = { exitCode: output.exitCode, timedOut, durationMs, lastOutput };
  return { profile, tool: check.tool, command, report, ...ended, altered, unverified };
}

/** Picks the project's command for the requested files, or for the whole project. */
function chooseCheck({ kind, profile, files }: LintCall): CheckCommand {
  const check = profile[kind];
  if (!check) throw noCommandError(kind, profile);
  if (files.length > 0) return check;
  const { argv, isConfigured, whole } = check;
  const [program, ...rest] = argv;
  if (whole) return whole;
  return isConfigured ? { ...check, argv: [program, ...rest.filter((word) => word !== '$FILES')] } : check;
}

/** Among several projects, a missing tool in one does not keep the others from answering. */
export async function lintProjects(calls: readonly LintCall[], context: LintContext): Promise<readonly LintRun[]> {
  const linted: LintRun[] = [];
  for (const call of calls) {
    const answer = runLint(call, context);
    linted.push(await (calls.length > 1 ? answer.catch((thrown) => toBroken(thrown, call)) : answer));
  }
  return linted;
}

function toBroken(thrown: unknown, { profile, kind }: LintCall): LintRun {
  const check = profile[kind];
  if (!isMissingToolError(thrown) || !check) throw thrown;
  const report = { state: 'broken', findings: [], reason: thrown.message } as const;
  const nothing = { exitCode: null, timedOut: false, durationMs: 0, lastOutput: '' };
  return { profile, tool: check.tool, command: check.argv, report, ...nothing };
}

/** A run that was cut short is not green, whatever its report says. */
function mustBeComplete(report: LintReport, { output, timedOut }: CheckRun, timeoutMs: number): LintReport {
  if (timedOut) return { ...report, state: 'broken', reason: `timed out after ${timeoutMs / 1000}s` };
  if (report.state !== 'clean') return report;
  if (output.isCut) return { ...report, state: 'unreadable', reason: 'it printed too much to be read whole' };
  if (output.exitCode !== 0)
    return { ...report, state: 'broken', reason: `it found nothing, but ended with exit ${output.exitCode}` };
  return report;
}

/** The verdict is the tool's own: findings with which it passes are warnings. */
function toWarnings(report: LintReport, exitCode: number | null, { failsOnFindings }: Linter): LintReport {
  const isPassed = report.state === 'findings' && exitCode === 0 && !failsOnFindings;
  return isPassed ? { ...report, state: 'warnings' } : report;
}

/** A linter that changed files before it passed says nothing about the files that are there now. */
function rejectIfRestored(report: LintReport, { putBack }: AlteredSources): LintReport {
  const isGreen = report.state === 'clean' || report.state === 'warnings';
  if (!isGreen || putBack.length === 0) return report;
  return { ...report, state: 'unreadable', reason: 'it passed only after it had changed files, which were restored' };
}

/** Limits a report to the requested files. */
export function limitToFiles(report: LintReport, files: readonly string[], scope: LintScope): LintReport {
  if (files.length === 0 || scope === 'files') return report;
  const findings = report.findings.filter(({ file }) => files.some((asked) => isWithin(file, asked)));
  if (report.state !== 'findings' || findings.length > 0) return { ...report, findings };
  const errors = report.findings.filter(({ severity }) => severity === 'error').length;
  if (scope === 'build' && errors > 0)
    return { state: 'broken', findings, reason: `${errors} error(s) in other files kept it from checking these` };
  return { state: 'clean', findings };
}

function isWithin(file: string, asked: string): boolean {
  const clean = asked.replace(/^\.\//, '').replace(/\/+$/, '');
  return clean === '' || clean === '.' || file === clean || file.startsWith(`${clean}/`);
}

export const FindingOutput = z.object({
  file: z.string(),
  line: z.int(),
  column: z.int(),
  rule: z.string(),
  message: z.string(),
  severity: z.enum(['error', 'warning', 'info']),
});

export function renderFinding({ file, line, column, rule, message }: Finding): string {
  return `${file}:${line}:${column}:${rule}: ${message}`;
}

export function findingInWorkspace(finding: Finding, profile: Profile): Finding {
  return { ...finding, file: toWorkspacePath(finding.file, profile) };
}
