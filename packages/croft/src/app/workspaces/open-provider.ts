import type { Provider } from '../../core/commands/sandbox.ts';
import { providers, withCaches } from '../../providers/index.ts';
import type { HostOptions, SandboxOptions } from './sandbox-options.ts';

interface OpenProviderOptions {
  readonly sandbox: SandboxOptions;
  readonly host: HostOptions;
  onWarning(message: string): void;
}

/**
 * Returns the provider that opens all sandboxes of this process, with the workspaces' package caches in them. Servers
 * and runners call it.
 */
export function openProvider(
  { sandbox, host, onWarning }: OpenProviderOptions,
  provider: Provider = providers[sandbox.provider]({ ...host, image: sandbox.image }),
): Provider {
  return sandbox.caches === undefined ? provider : withCaches(provider, { caches: sandbox.caches, host, onWarning });
}
