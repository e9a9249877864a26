import type { SandboxConfigInput } from '@croft/protocol';
import type { z } from 'zod';
import { NetworkPolicy } from '../commands/network-policy.ts';
import { isObject, type JsonObject } from './plain-json.ts';
import type { SandboxConfig } from './registry.ts';

type Network = SandboxConfig['network'];
type Given = Pick<z.output<typeof SandboxConfigInput>, 'internet' | 'network'>;

const names = { domains: 'allowDomains', cidrs: 'allowCidrs' } as const;

/** One spelling of the two in which a caller may say what can be reached, or what is wrong with it. */
export function toNetwork({ internet, network }: Given): { network: Network } | { problem: string } {
  const meant = internet === undefined ? undefined : modeOf(internet);
  if (network === undefined) return { network: { mode: meant ?? 'deny-all' } };
  if (meant !== undefined && meant !== network.mode) {
    return {
      problem: `config.internet ${internet} means config.network.mode ${meant}, but that is ${network.mode}; leave one of them out`,
    };
  }
  return network.mode === 'restricted' ? toRestricted(network) : toOpenOrShut(network);
}

/** A patch of the older spelling replaces the stored network whole, as if it had been written in the newer one. */
export function spellPatch(patch: JsonObject): JsonObject {
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

/** Judged by the parser that sandboxes go by, so that what is stored is what will hold. */
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
