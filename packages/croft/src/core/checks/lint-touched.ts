import { toProjectPath } from '../projects/pick-projects.ts';
import type { Profile } from '../projects/profile.ts';
import { projectOf } from '../projects/project-files.ts';
import { nothingChecked } from '../readers/read-findings.ts';
import type { Effect, EffectContext, Touched } from './effects.ts';
import type { Finding } from './linter.ts';
import { isMissing } from './missing-tool.ts';
import { inWorkspace, type Linted, renderFinding, runLint } from './run-lint.ts';

const shownFindings = 50;
const maxFindings = 500;

/** What the linters of their projects say of files that were changed. */
export async function lintTouched(touched: readonly Touched[], context: EffectContext): Promise<Effect | undefined> {
  const byProject = groupByProject(touched);
  if (byProject.size === 0) return undefined;
  const outcomes = [];
  for (const [profile, files] of byProject) outcomes.push(await lint(profile, files, context));
  const findings = outcomes.flatMap((outcome) => outcome.findings ?? []).slice(0, maxFindings);
  const isAnswered = outcomes.some((outcome) => outcome.findings !== undefined);
  const advice = outcomes.flatMap((outcome) => outcome.advice).slice(0, 1);
  if (isAnswered) tell(touched, findings, context);
  return {
    sections: [...(findings.length > 0 ? [render(findings)] : []), ...advice],
    structured: isAnswered ? { lint: findings } : {},
  };
}

function groupByProject(touched: readonly Touched[]): Map<Profile, string[]> {
  const groups = new Map<Profile, string[]>();
  for (const { path, profiles } of touched) {
    const profile = projectOf(path, profiles, 'lint');
    if (profile) groups.set(profile, [...(groups.get(profile) ?? []), toProjectPath(path, profile)]);
  }
  return groups;
}

interface Outcome {
  /** Nothing where the linter has not answered. */
  readonly findings?: readonly Finding[];
  readonly advice: readonly string[];
}

const restMs = 60_000;
const silence: Outcome = { advice: [] };

async function lint(profile: Profile, files: readonly string[], context: EffectContext): Promise<Outcome> {
  const timeoutMs = context.remainingMs();
  const key = JSON.stringify([context.workspace.name, profile.directory, profile.lint]);
  if (timeoutMs <= 0 || (context.resting.get(key) ?? 0) > performance.now()) return silence;
  try {
    const linted = await runLint({ kind: 'lint', profile, files, timeoutMs, tool: 'post-edit lint' }, context);
    if (linted.timedOut) context.resting.set(key, performance.now() + restMs);
    return toOutcome(linted, profile, context);
  } catch (thrown) {
    return isMissing(thrown) ? { advice: context.advise(thrown.message) } : silence;
  }
}

function toOutcome({ report, tool, timedOut }: Linted, profile: Profile, context: EffectContext): Outcome {
  const findings = report.findings.map((finding) => inWorkspace(finding, profile));
  if (report.state === 'clean' || findings.length > 0) return { findings, advice: [] };
  if (report.reason === nothingChecked || (timedOut && isOfProject(tool, context))) return silence;
  const why = timedOut ? 'it took too long' : (report.reason ?? report.state);
  return { advice: context.advise(`post-edit lint: ${tool} did not check this: ${why}`) };
}

/** Those are expected to take longer than an edit may wait. */
function isOfProject(tool: string, { workspace }: EffectContext): boolean {
  return workspace.checks.linter(tool).scope !== 'files';
}

function render(findings: readonly Finding[]): string {
  const shown = findings.slice(0, shownFindings).map(renderFinding);
  const more = findings.length - shown.length;
  const rest = more > 0 ? [`... (${more} more; run_lint shows them)`] : [];
  return [`post-edit lint findings (${findings.length}):`, ...shown, ...rest].join('\n');
}

function tell(
  touched: readonly Touched[],
  findings: readonly Finding[],
  { emit, workspace, session }: EffectContext,
): void {
  emit('lifecycle.effect.lint', () => ({
    workspace: workspace.name,
    session: session.id,
    files: touched.map(({ path }) => path),
    has_errors: findings.some(({ severity }) => severity === 'error'),
  }));
}
