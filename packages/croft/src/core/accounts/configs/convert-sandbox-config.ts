import type { CommandSettings } from '../../commands/command-settings.ts';
import { lowerLimits } from '../../commands/lower-limits.ts';
import type { NetworkPolicy } from '../../commands/network-policy.ts';
import type { SandboxLimits } from '../../commands/sandbox.ts';
import type { SandboxConfig } from '../ports/registry.ts';

const allRuntimes = 3;
const megabyte = 1024 ** 2;
const gigabyte = 1024 ** 3;

const sizes = {
  tiny: { cpus: 0.25, memoryBytes: 512 * megabyte, diskBytes: 8 * gigabyte },
  xsmall: { cpus: 0.5, memoryBytes: gigabyte, diskBytes: 8 * gigabyte },
  small: { cpus: 1, memoryBytes: 2 * gigabyte, diskBytes: 8 * gigabyte },
  medium: { cpus: 2, memoryBytes: 4 * gigabyte, diskBytes: 16 * gigabyte },
  large: { cpus: 4, memoryBytes: 8 * gigabyte, diskBytes: 32 * gigabyte },
} as const;

/** Returns the limits of a config, never more than the operator allows (`most`). */
export function toConfiguredLimits({ size, memoryLimit }: SandboxConfig, most: SandboxLimits): SandboxLimits {
  return lowerLimits(most, {
    ...(size && sizes[size]),
    ...(memoryLimit !== undefined && { memoryBytes: memoryLimit * megabyte }),
  });
}

export function toCommandSettings({ timeout, outputLimitBytes, runtimes }: SandboxConfig): CommandSettings {
  return {
    maxMs: timeout === undefined ? undefined : timeout * 1000,
    outputBytes: outputLimitBytes,
    runtimes: runtimes.length === allRuntimes ? undefined : runtimes,
  };
}

/**
 * An account may reach the public internet. Only the operator can allow this machine's own network (`sharesNetwork`).
 */
export function toNetworkPolicy({ network }: SandboxConfig, sharesNetwork: boolean): NetworkPolicy {
  const { mode, allowDomains = [], allowCidrs = [] } = network;
  if (mode === 'allow-all') return { mode: sharesNetwork ? mode : 'public' };
  if (mode === 'deny-all') return { mode };
  return { mode, domains: [...allowDomains], cidrs: [...allowCidrs], onlyPublic: !sharesNetwork };
}
