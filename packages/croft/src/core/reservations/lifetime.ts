import type { SandboxConfig } from '../accounts/ports/registry.ts';

const usualLifetimeSeconds = 604_800;

export function isExpired(createdAt: string, config: SandboxConfig, now: Date): boolean {
  return now.getTime() - Date.parse(createdAt) >= lifetimeSeconds(config) * 1000;
}

export function lifetimeSeconds({ lifecycle }: SandboxConfig): number {
  return lifecycle?.maxLifetimeSeconds ?? usualLifetimeSeconds;
}
