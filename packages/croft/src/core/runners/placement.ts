import { AppError } from '@croft/protocol';
import type { RunnerChoice, RunnerLoad, RunnerReport, RunnerState } from './runner.ts';

/** A runner that could be chosen. */
export interface Candidate {
  readonly name: string;
  readonly state: RunnerState;
  readonly report?: Pick<RunnerReport, 'labels' | 'capacity'> | undefined;
  readonly load?: RunnerLoad | undefined;
}

/** The one to bind to: as it is named, or the least loaded of those that have the labels. Never another machine. */
export function chooseRunner(candidates: readonly Candidate[], { runner, labels = {} }: RunnerChoice): string {
  if (runner !== undefined) return runner;
  const fitting = candidates.filter((candidate) => hasLabels(candidate.report?.labels, labels));
  const online = fitting.filter(({ state }) => state === 'online');
  const [least] = online.filter(hasRoom).sort((one, other) => pressure(one) - pressure(other) || byName(one, other));
  if (least) return least.name;
  const wanted = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
  throw unavailable(`${explain(fitting.length, online.length)} with the labels ${wanted || 'asked for'}`);
}

export function hasLabels(
  given: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => given?.[key] === value);
}

export function unavailable(reason: string, details: Readonly<Record<string, unknown>> = {}): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', `${reason}; nothing runs anywhere else`, {
    details: { provider: 'remote', ...details },
  });
}

function explain(fitting: number, online: number): string {
  if (fitting === 0) return 'there is no runner';
  return online === 0 ? 'no runner is online' : 'every runner is full';
}

function hasRoom({ report, load }: Candidate): boolean {
  return (load?.sandboxes ?? 0) < (report?.capacity ?? 0);
}

/** How full it is, and how busy: a machine that others use too is no good place either. */
function pressure({ report, load }: Candidate): number {
  return (load?.sandboxes ?? 0) / (report?.capacity ?? 1) + (load?.cpu ?? 0);
}

function byName(one: Candidate, other: Candidate): number {
  return one.name < other.name ? -1 : 1;
}
