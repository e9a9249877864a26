import { canonicalHost, isAddress } from '../../lib/net/host-name.ts';
import type { ConnectionJudge, ConnectionVerdict } from '../../lib/net/http-proxy/connection-judge.ts';
import { type Cidr, contains, formatCidr, isWithin, parseAddress, parseCidr } from '../../lib/net/ip-address.ts';
import { type SpecialRange, specialRangesOf, unwrapAddress } from '../../lib/net/special-ip-ranges.ts';
import type { NetworkPolicy } from './network-policy.ts';

const usualPorts = [80, 443];

interface NetworkJudgeOptions {
  readonly policy: NetworkPolicy;
  /** Called for each connection, because network interfaces come and go. */
  hostAddresses(): readonly string[];
}

export function createNetworkJudge({ policy, hostAddresses }: NetworkJudgeOptions): ConnectionJudge {
  return {
    host: (host, port) => judgeHost(policy, host, port),
    address: (address, port) => judgeAddress(policy, address, port, hostAddresses()),
  };
}

/** Judges the name of a host. `judgeAddress` judges the address that the name resolves to. */
export function judgeHost(policy: NetworkPolicy, host: string, port: number): ConnectionVerdict {
  if (policy.mode === 'deny-all') return deny('deny-all', 'This sandbox has no network.');
  const name = canonicalHost(host);
  if (name === undefined) return deny('host-name', `${quote(host)} is not a plain host name or address.`);
  if (policy.mode !== 'restricted') return { allowed: true };
  return isAddress(name) ? judgeBareAddress(policy, name, port) : judgeName(policy.domains, name, port);
}

/**
 * Judges a connection to an address. Public addresses are allowed. Others are allowed only if a CIDR of the policy
 * names them on purpose: one that also covers public addresses does not count.
 */
export function judgeAddress(
  policy: NetworkPolicy,
  address: string,
  port: number,
  hostAddresses: readonly string[] = [],
): ConnectionVerdict {
  if (policy.mode === 'deny-all') return deny('deny-all', 'This sandbox has no network.');
  const parsed = parseAddress(address);
  if (parsed === undefined) return deny('address', `${quote(address)} is not an address.`);
  const actual = unwrapAddress(parsed);
  const opened = policy.mode === 'restricted' && !policy.onlyPublic ? cidrsAt(policy.cidrs, actual, port) : [];
  const ranges = [...specialRangesOf(actual), ...ownRanges(hostAddresses, actual)];
  const closed = ranges.find(({ cidr }) => !opened.some((one) => isWithin(one, cidr)));
  return closed ? denyAddress(address, port, closed.kind) : { allowed: true };
}

function judgeName(domains: readonly string[], name: string, port: number): ConnectionVerdict {
  const ports = domains.filter((entry) => matchesName(entry, name)).map(portOf);
  if (ports.length === 0) {
    return deny('domains', `${name} is not an allowed domain. Ask the operator to add it to the sandbox's domains.`);
  }
  if (ports.some((own) => isPortIn(own, port))) return { allowed: true };
  const entry = `${name}:${port}`;
  return deny('ports', `${name} is allowed, but not on port ${port}. Ask the operator to add ${entry} to the domains.`);
}

function judgeBareAddress(
  policy: NetworkPolicy & { mode: 'restricted' },
  address: string,
  port: number,
): ConnectionVerdict {
  const actual = unwrapAddress(parseAddress(address) ?? 0n);
  if (cidrsAt(policy.cidrs, actual, port).length > 0) return judgeAddress(policy, address, port);
  const ask = `Use a host name that is allowed, or ask the operator to add ${toCidrEntry(actual, port)} to the cidrs.`;
  return deny('cidrs', `${address} is an address that no CIDR of the sandbox names. ${ask}`);
}

function matchesName(entry: string, name: string): boolean {
  const [pattern = ''] = entry.split(':');
  // The dot stays with the suffix, so that evilexample.com is no part of *.example.com.
  return pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern;
}

function cidrsAt(entries: readonly string[], address: bigint, port: number): Cidr[] {
  return entries
    .filter((entry) => isPortIn(portOf(entry), port))
    .flatMap((entry) => parseCidr(entry.replace(/(\/\d+):\d+$/, '$1')) ?? [])
    .filter((cidr) => contains(cidr, address));
}

function ownRanges(hostAddresses: readonly string[], actual: bigint): SpecialRange[] {
  const isOwn = hostAddresses.some((own) => parseAddress(own) === actual);
  return isOwn
    ? [{ kind: 'an address of the machine the sandbox runs on', cidr: { network: actual, prefix: 128 } }]
    : [];
}

function denyAddress(address: string, port: number, kind: string): ConnectionVerdict {
  const entry = toCidrEntry(unwrapAddress(parseAddress(address) ?? 0n), port);
  return deny('address', `${address} is ${kind}. Ask the operator to add ${entry} to the sandbox's cidrs.`);
}

function toCidrEntry(address: bigint, port: number): string {
  return `${formatCidr({ network: address, prefix: 128 })}${usualPorts.includes(port) ? '' : `:${port}`}`;
}

function portOf(entry: string): number | undefined {
  const port = /(?:\/\d+|^[^:]*):(\d+)$/.exec(entry)?.[1];
  return port === undefined ? undefined : Number(port);
}

function isPortIn(own: number | undefined, port: number): boolean {
  return own === undefined ? usualPorts.includes(port) : own === port;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100).replace(/[^\x20-\x7e]/g, '?'));
}

function deny(rule: string, reason: string): ConnectionVerdict {
  return { allowed: false, rule, reason };
}
