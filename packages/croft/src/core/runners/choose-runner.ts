import { AppError } from '@croft/protocol';
import type { RunnerChoice, RunnerLoad, RunnerReport, RunnerState } from './runner.ts';

/** A runner that could be chosen. */
export interface RunnerCandidate {
  readonly name: string;
  readonly state: RunnerState;
  readonly report?: Pick<RunnerReport, 'labels' | 'capacity'> | undefined;
  readonly load?: RunnerLoad | undefined;
}

/**
 * Chooses the runner to bind a workspace to: the named one, or the least loaded one with the labels. Never any other
 * machine.
 */
export function chooseRunner(candidates: readonly RunnerCandidate[], { runner, labels = {} }: RunnerChoice): string {
  if (runner !== undefined) return runner;
  const fitting = candidates.filter((candidate) => hasLabels(candidate.report?.labels, labels));
  const online = fitting.filter(({ state }) => state === 'online');
  const [least] = online
    .filter(hasCapacity)
    .sort((one, other) => pressure(one) - pressure(other) || byName(one, other));
  if (least) return least.name;
  const wanted = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
  const [reason, hint] = explain(fitting.length, online.length);
  throw runnerUnavailable(`${reason} with the labels ${wanted || 'asked for'}`, {}, hint);
}

export function hasLabels(
  given: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => given?.[key] === value);
}

/** Replaces the default hint to run `croft doctor`, which checks this server and would not help. */
const askForRunners = 'Ask the operator: croft runners lists the machines, and which of them are connected.';
export const startRunner =
  'Try again when it is connected, or ask the operator to start croft runner on that machine; croft runners lists them.';

export function runnerUnavailable(
  reason: string,
  details: Readonly<Record<string, unknown>> = {},
  hint = askForRunners,
): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', `${reason}; nothing runs anywhere else`, {
    details: { provider: 'remote', ...details },
    hint,
  });
}

function explain(fitting: number, online: number): [reason: string, hint: string] {
  if (fitting === 0)
    return ['there is no runner', 'Ask the operator to start one: croft runner with --label, or change the labels.'];
  if (online === 0) return ['no runner is online', startRunner];
  return ['every runner is full', 'Try again when a sandbox there has ended, or ask the operator for another runner.'];
}

function hasCapacity({ report, load }: RunnerCandidate): boolean {
  return (load?.sandboxes ?? 0) < (report?.capacity ?? 0);
}

/** Returns the load of a runner: share of used sandboxes plus CPU load, because others may use the machine too. */
function pressure({ report, load }: RunnerCandidate): number {
  return (load?.sandboxes ?? 0) / (report?.capacity ?? 1) + (load?.cpu ?? 0);
}

function byName(one: RunnerCandidate, other: RunnerCandidate): number {
  return one.name < other.name ? -1 : 1;
}
