import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { Finding, LintReport } from './linter.ts';
import { toWorkspacePath } from './pick-projects.ts';
import type { Argv, Profile } from './profile.ts';
import { runCheck } from './run-check.ts';
import type { ToolContext, ToolResult } from './tool.ts';

const FindingOutput = z.object({
  file: z.string(),
  line: z.int(),
  column: z.int(),
  rule: z.string(),
  message: z.string(),
  severity: z.enum(['error', 'warning', 'info']),
});

export const LintOutput = z.object({
  state: z.enum(['clean', 'findings', 'broken', 'unreadable']).describe('The worst of all; only `clean` is green'),
  findings: z.array(FindingOutput),
  truncated: z.boolean(),
  runs: z.array(
    z.object({
      language: z.string(),
      directory: z.string(),
      tool: z.string(),
      command: z.array(z.string()),
      state: z.enum(['clean', 'findings', 'broken', 'unreadable']),
      reason: z.string().optional(),
      exitCode: z.int().nullable(),
      durationMs: z.number(),
    }),
  ),
});

export type LintKind = 'lint' | 'typecheck';

export interface LintCall {
  readonly kind: LintKind;
  readonly profile: Profile;
  /** From the root of the project; none are all. */
  readonly files: readonly string[];
  readonly timeoutMs: number;
}

export interface Linted {
  readonly profile: Profile;
  readonly tool: string;
  readonly command: Argv;
  readonly report: LintReport;
  readonly exitCode: number | null;
  readonly durationMs: number;
  /** The end of what it said, for whoever has to make sense of it. */
  readonly said: string;
}

/** Lints or type-checks one project. */
export async function runLint(
  call: LintCall,
  { session, workspace, signal }: Pick<ToolContext, 'session' | 'workspace' | 'signal'>,
): Promise<Linted> {
  const { kind, profile, files, timeoutMs } = call;
  const check = profile[kind];
  if (!check) throw new AppError('E_NO_PROJECT', `no ${kind} command detected (${profile.language})`);
  const linter = workspace.checks.linter(check.tool);
  const command = linter.toArgv(check.argv, files);
  const { output, timedOut, durationMs } = await session.sandboxes.use(workspace.name, (sandbox) =>
    runCheck(sandbox, { profile, argv: command, timeoutMs, signal }),
  );
  const report = mustProve(linter.read(output), timedOut, output.isCut);
  const said = (output.stderr || output.stdout).slice(-4000);
  return { profile, tool: check.tool, command, report, exitCode: output.exitCode, durationMs, said };
}

function mustProve(report: LintReport, timedOut: boolean, isCut: boolean): LintReport {
  if (timedOut) return { ...report, state: 'broken', reason: 'time ran out' };
  if (isCut && report.state === 'clean') return { ...report, state: 'unreadable', reason: 'it printed too much' };
  return report;
}

const worstFirst = ['broken', 'unreadable', 'findings', 'clean'] as const;
const maxFindings = 500;

export function toLintResult(linted: readonly Linted[]): ToolResult<z.input<typeof LintOutput>> {
  const state = worstFirst.find((one) => linted.some(({ report }) => report.state === one)) ?? 'clean';
  const all = linted.flatMap(({ report, profile }) => report.findings.map((finding) => inWorkspace(finding, profile)));
  const findings = all.slice(0, maxFindings);
  const runs = linted.map(({ profile: { language, directory }, tool, command, report, exitCode, durationMs }) => ({
    ...{ language, directory, tool, command: [...command], state: report.state, exitCode, durationMs },
    ...(report.reason !== undefined && { reason: report.reason }),
  }));
  const text = [...findings.map(renderFinding), `${all.length} findings`, ...linted.flatMap(renderTrouble), ''].join(
    '\n',
  );
  return { text, structured: { state, findings, truncated: all.length > findings.length, runs } };
}

export function renderFinding({ file, line, column, rule, message }: Finding): string {
  return `${file}:${line}:${column}:${rule}: ${message.replaceAll('\n', ' ')}`;
}

function renderTrouble({ tool, report, said, exitCode }: Linted): string[] {
  if (report.state !== 'broken' && report.state !== 'unreadable') return [];
  return [`(${tool} incomplete: ${report.reason ?? report.state}; exit ${exitCode ?? 'killed'})`, said];
}

function inWorkspace(finding: Finding, profile: Profile): Finding {
  return { ...finding, file: toWorkspacePath(finding.file, profile) };
}
