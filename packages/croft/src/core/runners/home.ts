import { AppError } from '@croft/protocol';
import type { AttachedWorkspace } from '../accounts/cascade.ts';
import type { SandboxConfig } from '../accounts/registry.ts';
import { type Candidate, chooseRunner, hasLabels, unavailable } from './placement.ts';

export function isOnRunner({ record, sandbox }: AttachedWorkspace): boolean {
  return sandbox?.config.provider === 'remote' || record.config.home !== undefined;
}

/** Its files are on no machine: any may open it, the server as well. */
export function isInBucket({ config }: AttachedWorkspace['record']): boolean {
  return config.storage.provider === 's3';
}

/** It is wherever its sandbox is, unless a person said where. */
export function isHomeless({ record }: AttachedWorkspace): boolean {
  return isInBucket(record) && record.config.home === undefined;
}

/** A workspace that could be on a runner. Throws for one that cannot. */
export function mustBeMovable({ record }: AttachedWorkspace, hasFiles: boolean): void {
  if (!isInBucket(record) && record.config.home === undefined && hasFiles)
    throw unavailable('this workspace has files on this server, which no runner would see: make a new one for it');
}

/** The machine that its files are on. Throws `E_SANDBOX_UNAVAILABLE` where its sandbox is on another. */
export function mustHaveHome({ record, sandbox }: AttachedWorkspace, candidates: readonly Candidate[]): string {
  const { home } = record.config;
  if (home === undefined) throw notConnected(chooseRunner(candidates, sandbox?.config ?? {}));
  if (sandbox) mustBeAt(home, sandbox.config, candidates);
  return home;
}

/** What a merge changes in the bucket the machine that works on it could not take back. */
export function notFromThere() {
  const instead = 'take a snapshot, or use a transaction';
  return new AppError(
    'E_INVALID_INPUT',
    `a workspace in a bucket cannot be forked where it is on a runner: ${instead}`,
  );
}

export function notConnected(runner: string) {
  return unavailable(`the runner ${runner} is not connected to this server`, { runner });
}

function mustBeAt(home: string, { provider, runner, labels }: SandboxConfig, candidates: readonly Candidate[]): void {
  const files = `the files of this workspace are on the runner ${home}`;
  if (provider !== 'remote') throw unavailable(`${files}, and its sandbox is on this server`);
  if (runner !== undefined && runner !== home) throw unavailable(`${files}, and its sandbox names ${runner}`);
  const report = candidates.find(({ name }) => name === home)?.report;
  if (labels && report && !hasLabels(report.labels, labels))
    throw unavailable(`${files}, which has not the labels that its sandbox asks for`);
}
