import { errorMessage } from '../lib/error-message.ts';
import type { Escape, EscapeOutcome } from './escape.ts';
import { type OpenedFixture, type OpenFixtureOptions, openFixture } from './escape-fixture.ts';
import { escapes } from './index.ts';
import { type WatchFixtureOptions, watchFixture } from './watch-fixture.ts';

export interface EscapeReport extends Pick<Escape, 'id' | 'title' | 'guards'> {
  readonly outcome: EscapeOutcome;
  readonly durationMs: number;
}

export interface RunEscapesOptions {
  /** The provider that opens the sandboxes. By default the one that commands use. */
  readonly provider?: OpenFixtureOptions['provider'];
  /** Owner of the workspaces, unless an escape names one. */
  readonly owner?: OpenFixtureOptions['owner'];
  /** Opens the app around the workspaces. By default this program. */
  readonly openApp?: OpenFixtureOptions['openApp'];
  /** Ids, or letters of whole groups. By default all. */
  readonly only?: readonly string[];
  /** Called with each report, in the order of the list. */
  readonly onResult?: (report: EscapeReport) => void;
  /** Aborting stops the running attempts and starts no more. */
  readonly signal?: AbortSignal;
}

interface AttemptOptions extends Omit<RunEscapesOptions, 'only'> {
  /** Time limit for each attempt. */
  readonly deadlineMs?: number;
}

const atOnce = 2;

/** Runs the escapes and returns their reports in the order of the list. */
export function runEscapes({ only, ...options }: RunEscapesOptions = {}): Promise<EscapeReport[]> {
  const isMeant = ({ id }: Escape) => !only || only.includes(id) || only.includes(id.charAt(0));
  return attemptAll(escapes.filter(isMeant), options);
}

/** Like `runEscapes`, with the caller's own list. */
export async function attemptAll(
  chosen: readonly Escape[],
  { onResult, signal = new AbortController().signal, deadlineMs = 60_000, ...made }: AttemptOptions = {},
): Promise<EscapeReport[]> {
  const reports: EscapeReport[] = [];
  let [next, reported] = [0, 0];

  await Promise.all(Array.from({ length: atOnce }, work));
  return reports;

  async function work(): Promise<void> {
    const fixture = createSharedFixture(made);
    for (let index = next++; index < chosen.length && !signal.aborted; index = next++) {
      reports[index] = await attempt(chosen[index] as Escape, { fixture, signal, deadlineMs });
      for (let report = reports[reported]; report; report = reports[++reported]) onResult?.(report);
    }
    await fixture.close();
  }
}

type SharedFixture = ReturnType<typeof createSharedFixture>;

/** One fixture shared by all attempts that leave it unchanged. */
function createSharedFixture(made: WatchFixtureOptions['made']) {
  let opened: Promise<OpenedFixture> | undefined;
  return {
    made,
    get: () => (opened ??= openFixture(made)),
    async close() {
      const closing = opened;
      opened = undefined;
      await closing?.then((fixture) => fixture.close()).catch(() => {});
    },
  };
}

interface AttemptDependencies {
  readonly fixture: SharedFixture;
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

async function attempt(one: Escape, dependencies: AttemptDependencies): Promise<EscapeReport> {
  const { id, title, guards } = one;
  const startedAt = performance.now();
  const outcome = await judge(one, dependencies);
  // An attempt that got out may have changed the fixture by which the next ones would be judged.
  if ('held' in outcome && !outcome.held) await dependencies.fixture.close();
  return { id, title, guards, outcome, durationMs: performance.now() - startedAt };
}

/** The result of an attempt counts only if no canary was read or changed. */
async function judge(one: Escape, { fixture, signal: stop, deadlineMs }: AttemptDependencies): Promise<EscapeOutcome> {
  const late = AbortSignal.timeout(deadlineMs);
  const signal = AbortSignal.any([stop, late]);
  try {
    await using watched = watchFixture(await fixture.get(), { made: fixture.made, signal });
    const outcome = await Promise.race([one.attempt(watched.fixture), rejectOn(signal)]);
    const leaks = await watched.findLeaks();
    return leaks.length > 0 ? { held: false, how: leaks.join('; ') } : outcome;
  } catch (thrown) {
    const why = late.aborted ? `it did not end within ${deadlineMs / 1000} s` : errorMessage(thrown);
    return { held: false, how: `could not be attempted: ${why}` };
  }
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}
