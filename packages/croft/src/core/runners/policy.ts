import { AppError } from '@croft/protocol';
import { leastOf } from '../commands/least-limits.ts';
import type { NetworkPolicy } from '../commands/network-policy.ts';
import type { SandboxLimits } from '../commands/sandbox.ts';
import type { WantedSandbox } from './offer.ts';

/** What the operator of a machine lets be done on it. No server can widen it. */
export interface RunnerPolicy {
  readonly network: NetworkPolicy;
  readonly limits: SandboxLimits;
  readonly isReadOnly: boolean;
}

/** The least of both. Throws where less would be another sandbox than was asked for. */
export function narrowTo({ network, limits }: RunnerPolicy, wanted: WantedSandbox): WantedSandbox {
  if (!covers(network, wanted.network)) {
    throw new AppError(
      'E_SANDBOX_UNAVAILABLE',
      `this runner allows the network ${network.mode} at most, and ${wanted.network.mode} was asked for`,
      { details: { allowed: network.mode, wanted: wanted.network.mode } },
    );
  }
  return { network: wanted.network, limits: leastOf(limits, wanted.limits) };
}

/** Whether everything that `wanted` reaches is within `own`. What cannot be told is not. */
export function covers(own: NetworkPolicy, wanted: NetworkPolicy): boolean {
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

/** `*.example.com` covers `api.example.com` and `*.api.example.com`, on the same ports, and not `example.com`. */
function coversDomain(allowed: string, wanted: string): boolean {
  if (allowed === wanted) return true;
  const [own, other] = [splitPort(allowed), splitPort(wanted)];
  return own.name.startsWith('*.') && own.port === other.port && other.name.endsWith(own.name.slice(1));
}

function splitPort(entry: string): { name: string; port: string } {
  const [, name = entry, port = ''] = /^(.*):(\d+)$/.exec(entry) ?? [];
  return { name, port };
}
