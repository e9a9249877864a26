import type { SandboxConfigInput } from '@croft/protocol';
import type { z } from 'zod';
import { NetworkPolicy } from '../../commands/network-policy.ts';
import type { SandboxConfig } from '../ports/registry.ts';
import { isObject, type ReadonlyJsonObject } from './check-json.ts';

type Network = SandboxConfig['network'];
type Given = Pick<z.output<typeof SandboxConfigInput>, 'internet' | 'network'>;

const names = { domains: 'allowDomains', cidrs: 'allowCidrs' } as const;

/** Reduces the two spellings of the network setting (`internet`, `network`) to one, or returns what is wrong. */
export function toNetworkSetting({ internet, network }: Given): { network: Network } | { problem: string } {
  const meant = internet === undefined ? undefined : modeOf(internet);
  if (network === undefined) return { network: { mode: meant ?? 'deny-all' } };
  if (meant !== undefined && meant !== network.mode) {
    return {
      problem: `config.internet ${internet} means config.network.mode ${meant}, but that is ${network.mode}; leave one of them out`,
    };
  }
  return network.mode === 'restricted' ? toRestricted(network) : toOpenOrShut(network);
}

/** Rewrites a patch in the older spelling (`internet`). It replaces the whole stored network setting. */
export function respellNetworkPatch(patch: ReadonlyJsonObject): ReadonlyJsonObject {
  if (!Object.hasOwn(patch, 'internet') || isObject(patch.network)) return patch;
  const { internet, ...rest } = patch;
  if (internet === null) return { ...rest, network: null };
  if (typeof internet !== 'boolean') return patch;
  return { ...rest, network: { mode: modeOf(internet), allowDomains: null, allowCidrs: null } };
}

function modeOf(internet: boolean): 'allow-all' | 'deny-all' {
  return internet ? 'allow-all' : 'deny-all';
}

function toOpenOrShut({ mode, allowDomains, allowCidrs }: Network): { network: Network } | { problem: string } {
  if (allowDomains === undefined && allowCidrs === undefined) return { network: { mode } };
  return {
    problem:
      'config.network.allowDomains and config.network.allowCidrs are only valid when config.network.mode is restricted',
  };
}

/** Validates with the parser that sandboxes use, so that a stored setting is one that a sandbox can enforce. */
function toRestricted({ allowDomains, allowCidrs }: Network): { network: Network } | { problem: string } {
  const result = NetworkPolicy.safeParse({ mode: 'restricted', domains: allowDomains, cidrs: allowCidrs });
  if (!result.success) return { problem: toProblem(result.error.issues[0]) };
  const policy = result.data;
  if (policy.mode !== 'restricted') return { problem: 'config.network.mode must be restricted' };
  return {
    network: {
      mode: 'restricted',
      ...(allowDomains && { allowDomains: policy.domains }),
      ...(allowCidrs && { allowCidrs: policy.cidrs }),
    },
  };
}

function toProblem(issue: z.core.$ZodIssue | undefined): string {
  const [list, index] = issue?.path ?? [];
  const name = list === 'cidrs' ? names.cidrs : names.domains;
  return `config.network.${name}[${String(index)}] ${issue?.message ?? 'is not valid'}`;
}
