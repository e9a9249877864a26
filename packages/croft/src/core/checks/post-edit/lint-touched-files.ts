import { AppError } from '@croft/protocol';
import { explainUnverified } from '../../history/ports/unverified-reason.ts';
import type { Finding } from '../../project-tools/linter.ts';
import { toProjectPath } from '../../projects/pick-projects.ts';
import type { Profile } from '../../projects/profile.ts';
import { nothingChecked } from '../../readers/lint/to-lint-report.ts';
import { findProjectFor } from '../assign-files-to-projects.ts';
import { renderAltered } from '../lint/lint-result.ts';
import { findingInWorkspace, type LintCall, type LintRun, renderFinding, runLint } from '../lint/run-lint.ts';
import { isMissingToolError } from '../missing-tool.ts';
import type { PostEditContext, PostEditResult, TouchedFile } from './post-edit-checks.ts';

const shownFindings = 50;
const maxFindings = 500;

/** Lints changed files with the linters of their projects. */
export async function lintTouchedFiles(
  touched: readonly TouchedFile[],
  context: PostEditContext,
): Promise<PostEditResult | undefined> {
  const byProject = groupByProject(touched);
  if (byProject.size === 0) return undefined;
  const outcomes = [];
  for (const [profile, files] of byProject) outcomes.push(await lint(profile, files, context));
  const findings = outcomes.flatMap((outcome) => outcome.findings ?? []).slice(0, maxFindings);
  const isAnswered = outcomes.some((outcome) => outcome.findings !== undefined);
  const advice = outcomes.flatMap((outcome) => outcome.advice).slice(0, 1);
  if (isAnswered) emitLinted(touched, findings, context);
  return {
    sections: findings.length > 0 ? [render(findings)] : [],
    notices: advice,
    structured: isAnswered ? { lint: findings } : {},
  };
}

function groupByProject(touched: readonly TouchedFile[]): Map<Profile, string[]> {
  const groups = new Map<Profile, string[]>();
  for (const { path, profiles } of touched) {
    const profile = findProjectFor(path, profiles, 'lint');
    // A project's own lint script takes no files and may run for any length of time.
    if (profile && profile.lint?.tool !== 'lint-script')
      groups.set(profile, [...(groups.get(profile) ?? []), toProjectPath(path, profile)]);
  }
  return groups;
}

interface LintOutcome {
  /** Left out if the linter has not answered. */
  readonly findings?: readonly Finding[];
  readonly advice: readonly string[];
}

/** Pause of a linter that took longer than an edit may wait. */
export interface LinterPause {
  readonly untilMs: number;
  /** The linter goes on in the background to fill its cache for later runs. */
  readonly isWarmingUp?: boolean;
}

const pauseMs = 60_000;
const warmUpMs = 180_000;
const noOutcome: LintOutcome = { advice: [] };

async function lint(profile: Profile, files: readonly string[], context: PostEditContext): Promise<LintOutcome> {
  const timeoutMs = context.remainingMs();
  const key = JSON.stringify([context.workspace.name, profile.directory, profile.lint]);
  const pause = context.pausedLinters.get(key);
  if (pause?.isWarmingUp) return { advice: adviseOfWarming(profile, context) };
  if ((pause?.untilMs ?? 0) > performance.now()) return { advice: adviseOfPause(profile, context) };
  if (timeoutMs <= 0) return { advice: adviseOfPause(profile, context) };
  const call = { kind: 'lint', profile, files, tool: 'post-edit lint' } as const;
  try {
    const linted = await runLint({ ...call, timeoutMs }, context);
    const outcome = isCut(linted, context) ? pauseLinter(key, call, context) : toOutcome(linted, profile, context);
    context.tellLater([...renderAltered(linted), ...adviseOfUnverified(linted, context)]);
    return outcome;
  } catch (thrown) {
    return { advice: adviseOfFailure(AppError.from(thrown), profile, context) };
  }
}

/** No advice about a sandbox that cannot be opened: the calls that need one report that. */
function adviseOfFailure(error: AppError, { lint: check }: Profile, { advise }: PostEditContext): string[] {
  if (error.code === 'E_SANDBOX_UNAVAILABLE') return [];
  const { message } = error;
  return advise(
    isMissingToolError(error)
      ? message
      : `post-edit lint: ${check?.tool ?? 'the linter'} did not check this: ${message}`,
  );
}

function adviseOfUnverified({ unverified }: LintRun, { advise, workspace }: PostEditContext): string[] {
  return unverified === undefined ? [] : advise(explainUnverified(workspace.name, unverified));
}

/** Whether the linter ran out of its own time, or the edit was answered without it. */
function isCut({ timedOut, report }: LintRun, { remainingMs }: PostEditContext): boolean {
  return timedOut || (report.state === 'broken' && remainingMs() <= 0);
}

type Call = Omit<LintCall, 'timeoutMs'>;

function pauseLinter(key: string, call: Call, context: PostEditContext): LintOutcome {
  const tool = call.profile.lint?.tool ?? '';
  if (checksWholeProject(tool, context) && !context.pausedLinters.has(key)) {
    warmUp(key, call, context);
    return { advice: adviseOfWarming(call.profile, context) };
  }
  context.pausedLinters.set(key, { untilMs: performance.now() + pauseMs });
  return { advice: adviseOfPause(call.profile, context) };
}

function adviseOfPause({ lint: check }: Profile, { advise }: PostEditContext): string[] {
  return advise(`post-edit lint: ${check?.tool ?? 'the linter'} did not check this: it took too long`);
}

/**
 * Linters of whole projects take longest the first time and cache their work. The run therefore goes on, whatever
 * becomes of the edit, and ends with the session. Its findings are dropped, because the files may change meanwhile.
 */
function warmUp(key: string, call: Call, context: PostEditContext): void {
  context.pausedLinters.set(key, { untilMs: 0, isWarmingUp: true });
  const { signal } = new AbortController();
  void runLint({ ...call, timeoutMs: warmUpMs }, { ...context, signal })
    .then((linted) => context.tellLater(renderAltered(linted)))
    .catch(() => {})
    .finally(() => context.pausedLinters.set(key, { untilMs: 0 }));
}

function adviseOfWarming({ lint: check }: Profile, { advise }: PostEditContext): string[] {
  const { tool = 'the linter' } = check ?? {};
  return advise(
    `post-edit lint: ${tool} takes long the first time and goes on in the background; later edits have its findings`,
  );
}

function toOutcome({ report, tool }: LintRun, profile: Profile, context: PostEditContext): LintOutcome {
  const findings = report.findings.map((finding) => findingInWorkspace(finding, profile));
  if (report.state === 'clean' || findings.length > 0) return { findings, advice: [] };
  if (report.reason === nothingChecked) return noOutcome;
  return { advice: context.advise(`post-edit lint: ${tool} did not check this: ${report.reason ?? report.state}`) };
}

/** Whether the linter looks at more than the edited files. */
function checksWholeProject(tool: string, { workspace }: PostEditContext): boolean {
  return workspace.checks.linter(tool).scope !== 'files';
}

function render(findings: readonly Finding[]): string {
  const shown = findings.slice(0, shownFindings).map(renderFinding);
  const more = findings.length - shown.length;
  const rest = more > 0 ? [`... (${more} more; run_lint shows them)`] : [];
  return [`post-edit lint findings (${findings.length}):`, ...shown, ...rest].join('\n');
}

function emitLinted(
  touched: readonly TouchedFile[],
  findings: readonly Finding[],
  { emit, workspace, session }: PostEditContext,
): void {
  emit('lifecycle.effect.lint', () => ({
    workspace: workspace.name,
    session: session.id,
    files: touched.map(({ path }) => path),
    has_errors: findings.some(({ severity }) => severity === 'error'),
  }));
}
