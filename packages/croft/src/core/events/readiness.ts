import { AppError, type DependencyState } from '@croft/protocol';

/** Something that the server needs: its records, its bucket, its disk. */
export interface Dependency {
  readonly name: string;
  /**
   * Resolves with the reason why the dependency does not work, or with `undefined` if it works. The reason, and the
   * message of a thrown `AppError`, are shown to anybody. The signal aborts at the deadline.
   */
  check(signal: AbortSignal): Promise<string | undefined>;
}

interface DependencyOutage {
  readonly dependency: string;
  readonly reason: string;
}

interface ReadinessOptions {
  readonly dependencies: readonly Dependency[];
  /** A dependency that does not answer within this time counts as failed. */
  readonly deadlineMs?: number | undefined;
  /** Called once for each outage. */
  onBegan(outage: DependencyOutage): void;
  /** Called once, when the dependency works again. */
  onEnded(outage: DependencyOutage, durationMs: number): void;
}

interface ReadinessReport {
  readonly isReady: boolean;
  readonly dependencies: Readonly<Record<string, DependencyState>>;
}

export interface ReadinessProbe extends Disposable {
  /** Returns a report that is at most one second old. Concurrent callers share one check of each dependency. */
  probe(): Promise<ReadinessReport>;
}

const defaultDeadlineMs = 3000;
/** How long a report is reused. */
const reportTtlMs = 1000;
/** Interval of the background probes, which report an outage when it begins. */
const everyMs = 5000;

interface Failing {
  readonly reason: string;
  readonly since: number;
}

/** Checks every dependency repeatedly until disposed, and reports each outage once. */
export function startReadiness(options: ReadinessOptions): ReadinessProbe {
  const { dependencies, deadlineMs = defaultDeadlineMs, onBegan, onEnded } = options;
  const failing = new Map<string, Failing>();
  const checkDependency = createDependencyCheck(deadlineMs);
  let probing: Promise<ReadinessReport> | undefined;
  let last: { readonly report: ReadinessReport; readonly at: number } | undefined;
  let isStopped = false;

  async function probe(): Promise<ReadinessReport> {
    if (last && performance.now() - last.at < reportTtlMs) return last.report;
    probing ??= probeAll().finally(() => {
      probing = undefined;
    });
    return probing;
  }

  async function probeAll(): Promise<ReadinessReport> {
    const reasons = await Promise.all(dependencies.map(checkDependency));
    for (const [index, { name }] of dependencies.entries()) recordState(name, reasons[index]);
    const report = toReport(dependencies, failing);
    last = { report, at: performance.now() };
    return report;
  }

  function recordState(dependency: string, reason: string | undefined): void {
    const known = failing.get(dependency);
    // A stopping server closes its dependencies: that is not an outage.
    if (isStopped || (known === undefined) === (reason === undefined)) return;
    if (reason !== undefined) {
      failing.set(dependency, { reason, since: Date.now() });
      onBegan({ dependency, reason });
    } else if (known) {
      failing.delete(dependency);
      onEnded({ dependency, reason: known.reason }, Date.now() - known.since);
    }
  }

  const timer = setInterval(() => void probe(), everyMs).unref();
  void probe();
  return {
    probe,
    [Symbol.dispose]() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

function toReport(dependencies: readonly Dependency[], failing: ReadonlyMap<string, Failing>): ReadinessReport {
  const states = dependencies.map(({ name }): [string, DependencyState] => {
    const known = failing.get(name);
    return [name, known ? { status: 'failed', reason: known.reason, since: toTime(known.since) } : { status: 'ok' }];
  });
  return { isReady: failing.size === 0, dependencies: Object.fromEntries(states) };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * Returns a function that checks one dependency and resolves with the reason of its failure. That function never
 * throws.
 */
function createDependencyCheck(deadlineMs: number) {
  const late = `it has not answered within ${deadlineMs / 1000} seconds`;
  const running = new Map<string, Promise<string | undefined>>();

  async function start({ name, check }: Dependency): Promise<string | undefined> {
    const signal = AbortSignal.timeout(deadlineMs);
    try {
      return await check(signal);
    } catch (thrown) {
      if (signal.aborted) return late;
      return AppError.is(thrown) ? thrown.message : 'it failed for an unknown reason';
    } finally {
      running.delete(name);
    }
  }

  return async (dependency: Dependency): Promise<string | undefined> => {
    // Reuses a check that still hangs: a second one would hang as well.
    const check = running.get(dependency.name) ?? start(dependency);
    running.set(dependency.name, check);
    const { promise: tooLate, resolve } = Promise.withResolvers<string>();
    const timer = setTimeout(() => resolve(late), deadlineMs);
    return Promise.race([check, tooLate]).finally(() => clearTimeout(timer));
  };
}
