import { resultWithin } from '../../commands/run-command.ts';
import type { Emit } from '../../events/emitter.ts';
import type { ChangeReporter } from '../../history/ports/history.ts';
import { createNearbyProjects, type NearbyProjects } from '../../projects/nearby-projects.ts';
import type { Detector, Profile } from '../../projects/profile.ts';
import { sayOnce } from '../../sessions/say-once.ts';
import type { Session } from '../../sessions/session.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { findProjectFor } from '../assign-files-to-projects.ts';
import type { LintContext } from '../lint/run-lint.ts';
import { formatTouchedFiles } from './format-touched-files.ts';
import { type LinterPause, lintTouchedFiles } from './lint-touched-files.ts';
import type { PostEditOutput } from './post-edit-output.ts';
import type { WatchedDiagnosticsOfEdit } from './watch-diagnostics-of-edit.ts';

/** The operator's settings for checks after an edit. */
export interface PostEditSettings {
  /** Whether touched files are formatted. */
  readonly formatOnEdit: boolean;
  /** How long the checks may delay the answer to an edit. */
  readonly timeoutMs: number;
}

export const defaultPostEditSettings: PostEditSettings = { formatOnEdit: false, timeoutMs: 5000 };

interface PostEditChecksOptions extends PostEditSettings {
  readonly detectors: readonly Detector[];
  readonly emit: Emit;
}

export interface PostEditResult {
  /** Text for the model, each section after a blank line. `structured` says the same to programs. */
  readonly sections: readonly string[];
  /** Notices for the model and for programs. */
  readonly notices: readonly string[];
  readonly structured: PostEditOutput;
}

/** A changed file and the projects around it. */
export interface TouchedFile {
  readonly path: string;
  readonly profiles: readonly Profile[];
}

/** Context of the formatter and the linter after one edit. */
export interface PostEditContext extends LintContext {
  readonly emit: Emit;
  /** Milliseconds left for a program, as a whole number. */
  remainingMs(): number;
  /** Linters that took too long. They are skipped for a while, because each edit would wait for them again. */
  readonly pausedLinters: Map<string, LinterPause>;
  /** Wraps a formatter run, so that the history counts its changes as part of the edit. */
  formatting<T>(work: () => Promise<T>): Promise<T>;
  /** Returns a notice the first time a session needs it, and nothing after that. */
  advise(text: string): string[];
  /** Adds notices to the answer of this edit or, if that has left already, of the next. */
  tellLater(lines: readonly string[]): void;
}

/** How files are checked after an edit. */
interface PostEditRun {
  /** False: the caller needs approval to run code of the workspace, which formatters and linters do. */
  readonly runsPrograms: boolean;
  /** The messages of language servers before the edit. Absent: they are not asked after it. */
  readonly watch?: WatchedDiagnosticsOfEdit | undefined;
  readonly reporter?: ChangeReporter | undefined;
}

export interface PostEditChecks {
  /** Checks files after an edit. Never throws: the edit stays in any case, and only advice is returned. */
  runAfter(context: ToolContext, touched: readonly string[], run: PostEditRun): Promise<PostEditResult | undefined>;
}

interface ReactOptions {
  readonly formats: boolean;
  readonly reporter: ChangeReporter | undefined;
  diagnose(within: { remainingMs(): number }): Promise<PostEditResult | undefined> | undefined;
}

/** Most notices that wait for the next answer. The oldest are dropped first. */
const maxPendingNotices = 20;
/** Time reserved to end programs and answer. */
const marginMs = 500;

/** Formats touched files, if the operator wants that, and lints them, in the session's sandbox. */
export function createPostEditChecks(options: PostEditChecksOptions): PostEditChecks {
  const { detectors, formatOnEdit, timeoutMs, emit } = options;
  const alongOf = remember<Workspace, NearbyProjects>(({ files }) =>
    createNearbyProjects({ files, detectors, now: () => performance.now() }),
  );
  const pausedLintersOf = remember<Session, Map<string, LinterPause>>(() => new Map());
  const pendingNoticesOf = remember<Session, string[]>(() => []);

  return {
    async runAfter(context, paths, { runsPrograms, watch, reporter }) {
      const { workspace } = context;
      if (workspace.access === 'read-only') return undefined;
      const touched = runsPrograms ? await locate(workspace, paths).catch(() => []) : [];
      const checked = touched.some(isOfInterest) ? touched : [];
      // Most edits need no check: they skip the work below.
      if (checked.length === 0 && !watch?.isOfInterest()) return undefined;
      if (checked.length > 0) reporter?.finish();
      const formats = formatOnEdit && checked.length > 0;
      return reactInTime(checked, context, { reporter, formats, diagnose: (within) => watch?.compare(paths, within) });
    },
  };

  async function reactInTime(
    touched: readonly TouchedFile[],
    { session, workspace, signal, secrets, reportDenials }: ToolContext,
    { reporter, ...options }: ReactOptions,
  ): Promise<PostEditResult | undefined> {
    const deadline = performance.now() + timeoutMs;
    const late = new AbortController();
    const remainingMs = () => Math.floor(deadline - performance.now() - marginMs);
    // After the answer has left, nobody reads advice: it must be given again the next time.
    const advise = (text: string) => (late.signal.aborted ? [] : sayOnce(session, workspace.name, text));
    const pendingNotices = pendingNoticesOf(session);
    const tellLater = (lines: readonly string[]) =>
      pendingNotices.splice(0, pendingNotices.push(...lines) - maxPendingNotices);
    const ended = AbortSignal.any([signal, late.signal]);
    const reactContext = {
      ...{ session, workspace, signal: ended, secrets, reportDenials, emit, remainingMs, advise, tellLater },
      pausedLinters: pausedLintersOf(session),
      // A formatter's changes belong to the edit; files that a linter leaves behind do not.
      formatting: reporter?.captureAround ?? ((work) => work()),
    };
    const work = react(touched, reactContext, options);
    const done = work.catch(nothing).then((effect) => ({ effect }));
    const { effect } = (await resultWithin(done, deadline - performance.now())) ?? {
      effect: toLate(advise, timeoutMs),
    };
    late.abort();
    return withNotices(effect, pendingNotices.splice(0));
  }

  function locate(workspace: Workspace, paths: readonly string[]): Promise<TouchedFile[]> {
    const along = alongOf(workspace);
    for (const path of paths) along.fileChanged(path);
    return Promise.all(paths.map(async (path) => ({ path, profiles: await along.around(path) })));
  }

  function isOfInterest({ path, profiles }: TouchedFile): boolean {
    if (profiles.length === 0) return false;
    return (
      findProjectFor(path, profiles, 'lint') !== undefined ||
      (formatOnEdit && !!findProjectFor(path, profiles, 'format'))
    );
  }
}

/** Formats and lints the touched files, and asks language servers for new diagnostics. */
async function react(
  touched: readonly TouchedFile[],
  context: PostEditContext,
  { formats, diagnose }: Pick<ReactOptions, 'formats' | 'diagnose'>,
): Promise<PostEditResult | undefined> {
  const format = () => context.formatting(() => formatTouchedFiles(touched, context));
  const formatted = formats ? await format().catch(nothing) : undefined;
  const checked = await Promise.all([lintTouchedFiles(touched, context), diagnose(context)?.catch(nothing)]);
  return join([formatted, ...checked].filter((effect) => effect !== undefined));
}

function toLate(advise: PostEditContext['advise'], timeoutMs: number): PostEditResult {
  const seconds = timeoutMs / 1000;
  const notices = advise(`post-edit checks took longer than ${seconds} s and were stopped; run_lint has more time`);
  return { sections: [], notices, structured: {} };
}

function nothing(): undefined {
  return undefined;
}

function withNotices(effect: PostEditResult | undefined, notices: readonly string[]): PostEditResult | undefined {
  if (notices.length === 0) return effect;
  const { sections = [], notices: before = [], structured = {} } = effect ?? {};
  return { sections, structured, notices: [...before, ...notices] };
}

function join(effects: readonly PostEditResult[]): PostEditResult | undefined {
  if (effects.length === 0) return undefined;
  return {
    sections: effects.flatMap(({ sections }) => sections),
    notices: effects.flatMap(({ notices }) => notices),
    structured: Object.assign({}, ...effects.map(({ structured }) => structured)),
  };
}

function remember<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, Value>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}
