import { within } from '../commands/run-command.ts';
import type { Emit } from '../events.ts';
import type { Detector, Profile } from '../projects/profile.ts';
import { projectOf } from '../projects/project-files.ts';
import { createProjectsAlong, type ProjectsAlong } from '../projects/projects-along.ts';
import type { Session } from '../session.ts';
import type { ToolContext } from '../tool.ts';
import type { Workspace } from '../workspace.ts';
import type { EffectOutput } from './effect-output.ts';
import { formatTouched } from './format-touched.ts';
import { lintTouched, type Rest } from './lint-touched.ts';
import type { LintContext } from './run-lint.ts';

export interface EffectsOptions {
  readonly detectors: readonly Detector[];
  /** Whether touched files are formatted. */
  readonly formatOnEdit: boolean;
  /** How much longer a write may take because of this. */
  readonly timeoutMs?: number;
  readonly emit: Emit;
}

export interface Effect {
  /** For the model, each with a blank line before it. */
  readonly sections: readonly string[];
  readonly structured: EffectOutput;
}

/** What stands around programs that may change anything. */
type Around = <T>(work: () => Promise<T>) => Promise<T>;

/** One file that was changed, and the projects it is in. */
export interface Touched {
  readonly path: string;
  readonly profiles: readonly Profile[];
}

/** What one effect works with. */
export interface EffectContext extends LintContext {
  readonly emit: Emit;
  /** How long a program may take from now on. */
  remainingMs(): number;
  /** Linters that took too long and are left alone for a while: each edit would wait for them again. */
  readonly resting: Map<string, Rest>;
  /** Something that is worth saying once to a session. */
  advise(text: string): string[];
}

export interface Effects {
  /** Never throws: what was changed stays changed, and nothing can come back from here but advice. */
  after(context: ToolContext, touched: readonly string[], around?: Around): Promise<Effect | undefined>;
}

const defaultTimeoutMs = 5000;
/** To end programs in, and answer. */
const marginMs = 500;

/** What follows a write: the file is formatted, if the operator wants that, and linted, in the session's sandbox. */
export function createEffects(options: EffectsOptions): Effects {
  const { detectors, formatOnEdit, timeoutMs = defaultTimeoutMs, emit } = options;
  const alongOf = remember<Workspace, ProjectsAlong>(({ files }) =>
    createProjectsAlong({ files, detectors, now: () => performance.now() }),
  );
  const restingOf = remember<Session, Map<string, Rest>>(() => new Map());
  const adviceOf = remember<Session, Set<string>>(() => new Set());

  return {
    async after(context, paths, around = (work) => work()) {
      const { workspace } = context;
      if (workspace.access === 'read-only') return undefined;
      const touched = await locate(workspace, paths).catch(() => []);
      // Most writes end here, and must not pay for what follows.
      if (!touched.some(isOfInterest)) return undefined;
      return around(() => reactInTime(touched, context));
    },
  };

  async function reactInTime(
    touched: readonly Touched[],
    { session, workspace, signal, secrets, refused }: ToolContext,
  ): Promise<Effect | undefined> {
    const deadline = performance.now() + timeoutMs;
    const late = new AbortController();
    const remainingMs = () => deadline - performance.now() - marginMs;
    // What comes after the answer is not told, and so has to be told the next time.
    const advise = (text: string) =>
      late.signal.aborted ? [] : adviseOnce(adviceOf(session), `${workspace.name}: ${text}`, text);
    const ended = AbortSignal.any([signal, late.signal]);
    const work = react(touched, {
      ...{ session, workspace, signal: ended, secrets, refused, emit, remainingMs, advise },
      resting: restingOf(session),
    });
    const effect = await within(work.catch(nothing), deadline - performance.now());
    late.abort();
    return effect;
  }

  function locate(workspace: Workspace, paths: readonly string[]): Promise<Touched[]> {
    const along = alongOf(workspace);
    for (const path of paths) along.changed(path);
    return Promise.all(paths.map(async (path) => ({ path, profiles: await along.of(path) })));
  }

  function isOfInterest({ path, profiles }: Touched): boolean {
    if (profiles.length === 0) return false;
    return projectOf(path, profiles, 'lint') !== undefined || (formatOnEdit && !!projectOf(path, profiles, 'format'));
  }

  async function react(touched: readonly Touched[], context: EffectContext): Promise<Effect | undefined> {
    const formatted = formatOnEdit ? await formatTouched(touched, context).catch(nothing) : undefined;
    const linted = await lintTouched(touched, context);
    return join([formatted, linted].filter((effect) => effect !== undefined));
  }
}

function nothing(): undefined {
  return undefined;
}

function join(effects: readonly Effect[]): Effect | undefined {
  if (effects.length === 0) return undefined;
  return {
    sections: effects.flatMap(({ sections }) => sections),
    structured: Object.assign({}, ...effects.map(({ structured }) => structured)),
  };
}

function adviseOnce(told: Set<string>, key: string, text: string): string[] {
  if (told.has(key)) return [];
  told.add(key);
  return [text];
}

function remember<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, Value>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}
