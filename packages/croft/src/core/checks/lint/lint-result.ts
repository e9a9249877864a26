import { z } from 'zod';
import type { LintState } from '../../project-tools/linter.ts';
import type { ToolResult } from '../../tools/tool.ts';
import { FindingOutput, findingInWorkspace, type LintRun, renderFinding } from './run-lint.ts';

const State = z.enum(['clean', 'warnings', 'findings', 'broken', 'unreadable']);

export const LintOutput = z.object({
  state: State.describe('The worst of all; only `clean` and `warnings` are green'),
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
      output: z.string().optional().describe('The end of what it printed, where nothing of it was understood'),
      exitCode: z.int().nullable(),
      durationMs: z.number(),
      putBack: z.array(z.string()).optional().describe('Source files that it changed; they are as they were again'),
      changedMeanwhile: z.array(z.string()).optional().describe('Source files that changed while it ran; left so'),
    }),
  ),
});

const worstFirst = ['broken', 'unreadable', 'findings', 'warnings', 'clean'] as const;
const maxFindings = 500;

export function toLintResult(linted: readonly LintRun[]): ToolResult<z.input<typeof LintOutput>> {
  const state = worstFirst.find((one) => linted.some(({ report }) => report.state === one)) ?? 'unreadable';
  const all = linted.flatMap(({ report, profile }) =>
    report.findings.map((finding) => findingInWorkspace(finding, profile)),
  );
  const findings = all.slice(0, maxFindings);
  const truncated = all.length > findings.length;
  const more = truncated ? [`(the first ${maxFindings} are shown)`] : [];
  const lines = [
    ...linted.flatMap(renderTrouble),
    ...findings.map(renderFinding),
    ...more,
    ...renderCount(all.length, state),
    ...linted.flatMap(renderLastOutput),
    ...linted.flatMap(renderAltered),
  ];
  return { text: `${lines.join('\n')}\n`, structured: { state, findings, truncated, runs: linted.map(toRun) } };
}

function toRun(linted: LintRun) {
  const { profile, tool, command, report, exitCode, durationMs, altered } = linted;
  const { language, directory } = profile;
  const [said] = renderLastOutput(linted);
  return {
    ...{ language, directory, tool, command: [...command], state: report.state, exitCode, durationMs },
    ...(report.reason !== undefined && { reason: report.reason }),
    ...(said !== undefined && { output: said }),
    ...(altered && altered.putBack.length > 0 && { putBack: [...altered.putBack] }),
    ...(altered && altered.unrestored.length > 0 && { changedMeanwhile: [...altered.unrestored] }),
  };
}

const maxNamedFiles = 20;

/** Reports the source files that a linter changed although checks must not. */
export function renderAltered({ tool, altered }: Pick<LintRun, 'tool' | 'altered'>): string[] {
  const named = (paths: readonly string[]) =>
    `${paths.slice(0, maxNamedFiles).join(', ')}${paths.length > maxNamedFiles ? ` and ${paths.length - maxNamedFiles} more` : ''}`;
  const { putBack = [], unrestored = [] } = altered ?? {};
  return [
    ...(putBack.length > 0 ? [`(${tool} changed files, which were put back: ${named(putBack)})`] : []),
    ...(unrestored.length > 0
      ? [`(changed while ${tool} ran, perhaps by somebody else, and left so: ${named(unrestored)})`]
      : []),
  ];
}

/** An incomplete run never says that it found nothing. */
function renderCount(found: number, state: LintState): string[] {
  const isCut = state === 'broken' || state === 'unreadable';
  if (isCut && found === 0) return [];
  const rest = isCut ? ', and perhaps more' : state === 'warnings' ? ', with which the tool itself passes' : '';
  return [`${found} findings${rest}`];
}

function isIncomplete({ report: { state } }: LintRun): boolean {
  return state === 'broken' || state === 'unreadable';
}

/**
 * Renders a warning that the run is incomplete, as the first line, so that nobody takes the findings below it for all
 * of them.
 */
function renderTrouble(linted: LintRun): string[] {
  const { tool, report } = linted;
  return isIncomplete(linted) ? [`(lint incomplete: ${tool}: ${report.reason ?? report.state})`] : [];
}

/** Shows the linter's own output if none of it was understood. */
function renderLastOutput(linted: LintRun): string[] {
  const { report, lastOutput } = linted;
  return isIncomplete(linted) && report.findings.length === 0 && lastOutput.trim() !== '' ? [lastOutput.trimEnd()] : [];
}
