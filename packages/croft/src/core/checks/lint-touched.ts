import { toProjectPath } from '../projects/pick-projects.ts';
import type { Profile } from '../projects/profile.ts';
import { projectOf } from '../projects/project-files.ts';
import { nothingChecked } from '../readers/read-findings.ts';
import type { Effect, EffectContext, Touched } from './effects.ts';
import type { Finding } from './linter.ts';
import { isMissing } from './missing-tool.ts';
import { inWorkspace, type LintCall, type Linted, renderFinding, runLint } from './run-lint.ts';

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

/** How a linter is left alone that took longer than an edit may wait. */
export interface Rest {
  readonly untilMs: number;
  /** It goes on meanwhile, so that what it keeps from one run to the next is there. */
  readonly isWarming?: boolean;
}

const restMs = 60_000;
const warmMs = 180_000;
const silence: Outcome = { advice: [] };

async function lint(profile: Profile, files: readonly string[], context: EffectContext): Promise<Outcome> {
  const timeoutMs = context.remainingMs();
  const key = JSON.stringify([context.workspace.name, profile.directory, profile.lint]);
  const rest = context.resting.get(key);
  if (rest?.isWarming) return { advice: adviseOfWarming(profile, context) };
  if ((rest?.untilMs ?? 0) > performance.now()) return { advice: adviseOfRest(profile, context) };
  if (timeoutMs <= 0) return silence;
  const call = { kind: 'lint', profile, files, tool: 'post-edit lint' } as const;
  try {
    const linted = await runLint({ ...call, timeoutMs }, context);
    return isCut(linted, context) ? leaveAlone(key, call, context) : toOutcome(linted, profile, context);
  } catch (thrown) {
    return isMissing(thrown) ? { advice: context.advise(thrown.message) } : silence;
  }
}

/** By its own time, or because the edit was answered without it. */
function isCut({ timedOut, report }: Linted, { remainingMs }: EffectContext): boolean {
  return timedOut || (report.state === 'broken' && remainingMs() <= 0);
}

type Call = Omit<LintCall, 'timeoutMs'>;

function leaveAlone(key: string, call: Call, context: EffectContext): Outcome {
  const tool = call.profile.lint?.tool ?? '';
  if (isOfProject(tool, context) && !context.resting.has(key)) {
    warm(key, call, context);
    return { advice: adviseOfWarming(call.profile, context) };
  }
  context.resting.set(key, { untilMs: performance.now() + restMs });
  return { advice: adviseOfRest(call.profile, context) };
}

function adviseOfRest({ lint: check }: Profile, { advise }: EffectContext): string[] {
  return advise(`post-edit lint: ${check?.tool ?? 'the linter'} did not check this: it took too long`);
}

/**
 * Compilers and linters of whole projects take longest the first time, and keep what they then have done. So it goes on,
 * whatever becomes of the edit, and ends with the session. What it says of files that may change is not kept.
 */
function warm(key: string, call: Call, context: EffectContext): void {
  context.resting.set(key, { untilMs: 0, isWarming: true });
  const { signal } = new AbortController();
  void runLint({ ...call, timeoutMs: warmMs }, { ...context, signal })
    .catch(() => {})
    .finally(() => context.resting.set(key, { untilMs: 0 }));
}

function adviseOfWarming({ lint: check }: Profile, { advise }: EffectContext): string[] {
  const { tool = 'the linter' } = check ?? {};
  return advise(
    `post-edit lint: ${tool} takes long the first time and goes on in the background; later edits have its findings`,
  );
}

function toOutcome({ report, tool }: Linted, profile: Profile, context: EffectContext): Outcome {
  const findings = report.findings.map((finding) => inWorkspace(finding, profile));
  if (report.state === 'clean' || findings.length > 0) return { findings, advice: [] };
  if (report.reason === nothingChecked) return silence;
  return { advice: context.advise(`post-edit lint: ${tool} did not check this: ${report.reason ?? report.state}`) };
}

/** Those have more to look at than what was edited. */
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
