import { z } from 'zod';
import type { ToolResult } from '../tool.ts';
import { FindingOutput, inWorkspace, type Linted, renderFinding } from './run-lint.ts';

const State = z.enum(['clean', 'findings', 'broken', 'unreadable']);

export const LintOutput = z.object({
  state: State.describe('The worst of all; only `clean` is green'),
  findings: z.array(FindingOutput),
  truncated: z.boolean(),
  runs: z.array(
    z.object({
      language: z.string(),
      directory: z.string(),
      tool: z.string(),
      command: z.array(z.string()),
      state: State,
      reason: z.string().optional(),
      exitCode: z.int().nullable(),
      durationMs: z.number(),
    }),
  ),
});

const worstFirst = ['broken', 'unreadable', 'findings', 'clean'] as const;
const maxFindings = 500;

export function toLintResult(linted: readonly Linted[]): ToolResult<z.input<typeof LintOutput>> {
  const state = worstFirst.find((one) => linted.some(({ report }) => report.state === one)) ?? 'unreadable';
  const all = linted.flatMap(({ report, profile }) => report.findings.map((finding) => inWorkspace(finding, profile)));
  const findings = all.slice(0, maxFindings);
  const truncated = all.length > findings.length;
  const more = truncated ? [`(the first ${maxFindings} are shown)`] : [];
  const lines = [...findings.map(renderFinding), ...more, `${all.length} findings`, ...linted.flatMap(renderTrouble)];
  return { text: `${lines.join('\n')}\n`, structured: { state, findings, truncated, runs: linted.map(toRun) } };
}

function toRun({ profile: { language, directory }, tool, command, report, exitCode, durationMs }: Linted) {
  const reason = report.reason === undefined ? {} : { reason: report.reason };
  return { language, directory, tool, command: [...command], state: report.state, ...reason, exitCode, durationMs };
}

/** What it said itself is worth reading where nothing of it was understood. */
function renderTrouble({ tool, report, said }: Linted): string[] {
  if (report.state !== 'broken' && report.state !== 'unreadable') return [];
  const line = `(lint incomplete: ${tool}: ${report.reason ?? report.state})`;
  return report.findings.length > 0 || said.trim() === '' ? [line] : [line, said.trimEnd()];
}
