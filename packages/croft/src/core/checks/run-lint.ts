import { z } from 'zod';
import { toWorkspacePath } from '../projects/pick-projects.ts';
import type { Argv, Profile } from '../projects/profile.ts';
import { noCommand, type ProjectFiles } from '../projects/project-files.ts';
import type { ToolContext } from '../tool.ts';
import type { Finding, LintReport, LintScope } from './linter.ts';
import { findMissing, isMissing, toolMissing } from './missing-tool.ts';
import { type CheckRun, runCheck } from './run-check.ts';

export type LintKind = 'lint' | 'typecheck';

export interface LintCall extends ProjectFiles {
  readonly kind: LintKind;
  readonly timeoutMs: number;
  /** Who asks, for what is said when the program is missing; the tool for it unless it is said. */
  readonly tool?: string | undefined;
}

export interface Linted {
  readonly profile: Profile;
  readonly tool: string;
  readonly command: Argv;
  readonly report: LintReport;
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
  /** The end of what it said, for whoever has to make sense of it. */
  readonly said: string;
}

export type LintContext = Pick<ToolContext, 'session' | 'workspace' | 'signal' | 'secrets' | 'refused'>;

const shownText = 4000;

/** Lints or type-checks one project, or some of its files. Throws `E_TOOL_MISSING` when there is no such program. */
export async function runLint(call: LintCall, context: LintContext): Promise<Linted> {
  const { session, workspace, signal } = context;
  const { kind, profile, files, timeoutMs } = call;
  const check = profile[kind];
  if (!check) throw noCommand(kind, profile);
  const linter = workspace.checks.linter(check.tool);
  const command = linter.toArgv(check.argv, files.length > 0 ? files : (check.all ?? []));
  const { tool = `run_${kind}` } = call;
  const run = await session.sandboxes.use(workspace.name, (sandbox) =>
    runCheck(sandbox, { profile, argv: command, timeoutMs, signal, tool, context }),
  );
  const { output, timedOut, durationMs } = run;
  const report = about(mustProve(linter.read(output), run, timeoutMs), files, linter.scope);
  const missing = report.state === 'broken' && report.findings.length === 0 ? findMissing(output) : undefined;
  if (missing !== undefined) throw toolMissing(missing, { profile, tool });
  const said = (output.stderr || output.stdout).slice(-shownText);
  return { profile, tool: check.tool, command, report, exitCode: output.exitCode, timedOut, durationMs, said };
}

/** Of several projects one that cannot be asked does not keep the others from answering. */
export async function lintAll(calls: readonly LintCall[], context: LintContext): Promise<readonly Linted[]> {
  const linted: Linted[] = [];
  for (const call of calls) {
    const answer = runLint(call, context);
    linted.push(await (calls.length > 1 ? answer.catch((thrown) => toBroken(thrown, call)) : answer));
  }
  return linted;
}

function toBroken(thrown: unknown, { profile, kind }: LintCall): Linted {
  const check = profile[kind];
  if (!isMissing(thrown) || !check) throw thrown;
  const report = { state: 'broken', findings: [], reason: thrown.message } as const;
  const nothing = { exitCode: null, timedOut: false, durationMs: 0, said: '' };
  return { profile, tool: check.tool, command: check.argv, report, ...nothing };
}

/** Whatever a linter is understood to say, a run that was cut short is not green. */
function mustProve(report: LintReport, { output, timedOut }: CheckRun, timeoutMs: number): LintReport {
  if (timedOut) return { ...report, state: 'broken', reason: `timed out after ${timeoutMs / 1000}s` };
  if (report.state !== 'clean') return report;
  if (output.isCut) return { ...report, state: 'unreadable', reason: 'it printed too much to be read whole' };
  if (output.exitCode !== 0)
    return { ...report, state: 'broken', reason: `it found nothing, but ended with exit ${output.exitCode}` };
  return report;
}

/** What a report says of these files. */
export function about(report: LintReport, files: readonly string[], scope: LintScope): LintReport {
  if (files.length === 0 || scope === 'files') return report;
  const findings = report.findings.filter(({ file }) => files.some((asked) => isWithin(file, asked)));
  if (report.state !== 'findings' || findings.length > 0) return { ...report, findings };
  const errors = report.findings.filter(({ severity }) => severity === 'error').length;
  if (scope === 'build' && errors > 0)
    return { state: 'broken', findings, reason: `${errors} error(s) in other files kept it from looking at all` };
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

export function inWorkspace(finding: Finding, profile: Profile): Finding {
  return { ...finding, file: toWorkspacePath(finding.file, profile) };
}
