import type { Escape, Outcome } from './escape.ts';
import { type OpenedGround, type OpenGroundOptions, openGround } from './ground.ts';
import { escapes } from './index.ts';
import { type WatchOptions, watch } from './watch.ts';

export interface EscapeReport extends Pick<Escape, 'id' | 'title' | 'guards'> {
  readonly outcome: Outcome;
  readonly durationMs: number;
}

export interface RunOptions {
  /** Opens the sandboxes. Left out: as commands have them. */
  readonly provider?: OpenGroundOptions['provider'];
  /** Who the workspaces belong to, where a case does not say. */
  readonly owner?: OpenGroundOptions['owner'];
  /** What the workspaces are behind. Left out: this program. */
  readonly openApp?: OpenGroundOptions['openApp'];
  /** By id, or whole groups by their letter. All of them if left out. */
  readonly only?: readonly string[];
  /** Told each as soon as those before it have ended too. */
  readonly onResult?: (report: EscapeReport) => void;
  /** Aborting ends the attempts under way and makes no more. */
  readonly signal?: AbortSignal;
}

interface AttemptOptions extends Omit<RunOptions, 'only'> {
  /** For each attempt. */
  readonly deadlineMs?: number;
}

const atOnce = 2;

/** Makes the attempts and answers how each ended, in the order of the list. */
export function runEscapes({ only, ...options }: RunOptions = {}): Promise<EscapeReport[]> {
  const isMeant = ({ id }: Escape) => !only || only.includes(id) || only.includes(id.charAt(0));
  return attemptAll(escapes.filter(isMeant), options);
}

/** As `runEscapes`, with a list of the caller's own. */
export async function attemptAll(
  chosen: readonly Escape[],
  { onResult, signal = new AbortController().signal, deadlineMs = 60_000, ...made }: AttemptOptions = {},
): Promise<EscapeReport[]> {
  const reports: EscapeReport[] = [];
  let [next, told] = [0, 0];

  await Promise.all(Array.from({ length: atOnce }, work));
  return reports;

  async function work(): Promise<void> {
    const ground = createSharedGround(made);
    for (let index = next++; index < chosen.length && !signal.aborted; index = next++) {
      reports[index] = await attempt(chosen[index] as Escape, { ground, signal, deadlineMs });
      for (let report = reports[told]; report; report = reports[++told]) onResult?.(report);
    }
    await ground.close();
  }
}

type SharedGround = ReturnType<typeof createSharedGround>;

/** One ground for all attempts that leave it as it was. */
function createSharedGround(made: WatchOptions['made']) {
  let opened: Promise<OpenedGround> | undefined;
  return {
    made,
    get: () => (opened ??= openGround(made)),
    async close() {
      const closing = opened;
      opened = undefined;
      await closing?.then((ground) => ground.close()).catch(() => {});
    },
  };
}

interface Means {
  readonly ground: SharedGround;
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

async function attempt(one: Escape, means: Means): Promise<EscapeReport> {
  const { id, title, guards } = one;
  const startedAt = performance.now();
  const outcome = await judge(one, means);
  // Whatever got out has been at the ground that others would be judged by.
  if ('held' in outcome && !outcome.held) await means.ground.close();
  return { id, title, guards, outcome, durationMs: performance.now() - startedAt };
}

/** What a case says of itself counts only if the canary says so too. */
async function judge(one: Escape, { ground, signal: stop, deadlineMs }: Means): Promise<Outcome> {
  const late = AbortSignal.timeout(deadlineMs);
  const signal = AbortSignal.any([stop, late]);
  try {
    await using watched = watch(await ground.get(), { made: ground.made, signal });
    const outcome = await Promise.race([one.attempt(watched.ground), rejectOn(signal)]);
    const leaks = await watched.findLeaks();
    return leaks.length > 0 ? { held: false, how: leaks.join('; ') } : outcome;
  } catch (thrown) {
    const why = late.aborted ? `it did not end within ${deadlineMs / 1000} s` : messageOf(thrown);
    return { held: false, how: `could not be attempted: ${why}` };
  }
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
