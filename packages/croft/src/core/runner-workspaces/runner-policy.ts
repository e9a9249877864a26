import { AppError } from '@croft/protocol';
import { lowerLimits } from '../commands/lower-limits.ts';
import type { NetworkPolicy } from '../commands/network-policy.ts';
import type { SandboxLimits } from '../commands/sandbox.ts';
import { withAllowances } from '../files/allow-control-files.ts';
import type { Files } from '../files/files.ts';
import type { SandboxRequest } from './runner-workspace.ts';

/** The operator's limits for a runner. No server can widen it. */
export interface RunnerPolicy {
  readonly network: NetworkPolicy;
  readonly limits: SandboxLimits;
  readonly isReadOnly: boolean;
  /** As in `SandboxSpec`. */
  readonly allowControl?: readonly string[] | undefined;
}

/** Reduces a request to the runner's policy. Throws where less would be a different sandbox than requested. */
export function narrowToPolicy(
  { network, limits, allowControl = [] }: RunnerPolicy,
  wanted: SandboxRequest,
): SandboxRequest {
  if (!coversNetwork(network, wanted.network)) {
    throw new AppError(
      'E_SANDBOX_UNAVAILABLE',
      `this runner allows the network ${network.mode} at most, and ${wanted.network.mode} was asked for: choose a narrower network, or another runner`,
      { details: { allowed: network.mode, wanted: wanted.network.mode } },
    );
  }
  const both = narrowNames(allowControl, wanted.allowControl);
  return {
    network: wanted.network,
    limits: lowerLimits(limits, wanted.limits),
    ...(both.length > 0 && { allowControl: both }),
  };
}

/** Wraps `Files` of a runner: a request changes only those control files that this runner's operator allows as well. */
export function narrowFilesToPolicy({ allowControl = [] }: RunnerPolicy, files: Files): Files {
  return withAllowances(files, (asked) => ({ names: narrowNames(allowControl, asked?.names) }));
}

/** The control files that commands and file tools may change: those that both the runner and the account allow. */
function narrowNames(allowed: readonly string[], wanted: readonly string[] = []): readonly string[] {
  return wanted.filter((name) => allowed.includes(name));
}

/** Whether everything that `wanted` reaches is within `own`. False if that cannot be determined. */
export function coversNetwork(own: NetworkPolicy, wanted: NetworkPolicy): boolean {
  if (own.mode === 'allow-all' || wanted.mode === 'deny-all') return true;
  if (own.mode === 'public') return wanted.mode === 'public' || (wanted.mode === 'restricted' && isPublic(wanted));
  if (own.mode !== 'restricted' || wanted.mode !== 'restricted') return false;
  return (
    wanted.domains.every((domain) => own.domains.some((allowed) => coversDomain(allowed, domain))) &&
    wanted.cidrs.every((cidr) => own.cidrs.includes(cidr)) &&
    (own.onlyPublic !== true || wanted.onlyPublic === true)
  );
}

function isPublic(policy: Extract<NetworkPolicy, { mode: 'restricted' }>): boolean {
  return policy.onlyPublic === true || policy.cidrs.length === 0;
}

/** `*.example.com` covers `api.example.com` and `*.api.example.com` on the same ports, but not `example.com`. */
function coversDomain(allowed: string, wanted: string): boolean {
  if (allowed === wanted) return true;
  const [own, other] = [splitPort(allowed), splitPort(wanted)];
  return own.name.startsWith('*.') && own.port === other.port && other.name.endsWith(own.name.slice(1));
}

function splitPort(entry: string): { name: string; port: string } {
  const [, name = entry, port = ''] = /^(.*):(\d+)$/.exec(entry) ?? [];
  return { name, port };
}
