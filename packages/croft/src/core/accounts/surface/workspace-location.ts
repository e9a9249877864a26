import { AppError } from '@croft/protocol';
import {
  chooseRunner,
  hasLabels,
  type RunnerCandidate,
  runnerUnavailable,
  startRunner,
} from '../../runners/choose-runner.ts';
import type { SandboxConfig } from '../ports/registry.ts';
import type { AttachedWorkspace } from './resolve-surface.ts';

export function isOnRunner({ record, sandbox }: AttachedWorkspace): boolean {
  return sandbox?.config.provider === 'remote' || record.config.home !== undefined;
}

/** Whether the files are in a bucket: then any machine can open the workspace, the server too. */
export function isInBucket({ config }: AttachedWorkspace['record']): boolean {
  return config.storage.provider === 's3';
}

/** Whether the workspace is in a bucket and bound to no machine: the machine of its sandbox opens it. */
export function hasNoHome({ record }: AttachedWorkspace): boolean {
  return isInBucket(record) && record.config.home === undefined;
}

/** Throws for a workspace that cannot move to a runner. */
export function mustBeMovable({ record }: AttachedWorkspace, hasFiles: boolean): void {
  if (!isInBucket(record) && record.config.home === undefined && hasFiles)
    throw runnerUnavailable(
      'this workspace has files on this server, which no runner has: create a new workspace for the runner',
    );
}

/** Returns the runner that has its files. Throws `E_SANDBOX_UNAVAILABLE` if its sandbox is on another machine. */
export function mustHaveHome({ record, sandbox }: AttachedWorkspace, candidates: readonly RunnerCandidate[]): string {
  const { home } = record.config;
  if (home === undefined) throw runnerNotConnected(chooseRunner(candidates, sandbox?.config ?? {}));
  if (sandbox) mustMatchHome(home, sandbox.config, candidates);
  return home;
}

/**
 * Error for a fork of a workspace in a bucket on a runner: the runner could not revert what a merge changes in the
 * bucket.
 */
export function cannotForkOnRunner() {
  return new AppError('E_INVALID_INPUT', 'a workspace in a bucket cannot be forked while it is on a runner', {
    hint: 'Take a snapshot, or use a transaction.',
  });
}

export function runnerNotConnected(runner: string) {
  return runnerUnavailable(`the runner ${runner} is not connected to this server`, { runner }, startRunner);
}

function mustMatchHome(
  home: string,
  { provider, runner, labels }: SandboxConfig,
  candidates: readonly RunnerCandidate[],
): void {
  const files = `the files of this workspace are on the runner ${home}`;
  if (provider !== 'remote') throw runnerUnavailable(`${files}, and its sandbox is on this server`);
  if (runner !== undefined && runner !== home) throw runnerUnavailable(`${files}, and its sandbox names ${runner}`);
  const report = candidates.find(({ name }) => name === home)?.report;
  if (labels && report && !hasLabels(report.labels, labels))
    throw runnerUnavailable(`${files}, which does not have the labels that its sandbox asks for`);
}
