import { AppError } from '@croft/protocol';
import { toConfiguredLimits, toNetworkPolicy } from '../../core/accounts/configs/convert-sandbox-config.ts';
import type { SandboxConfig } from '../../core/accounts/ports/registry.ts';
import { variablesOf } from '../../core/accounts/surface/sandbox-variables.ts';
import type { SandboxSpec } from '../../core/commands/sandbox.ts';
import { withEnvironment } from '../../core/commands/set-up-sandbox.ts';
import type { RuntimeOptions } from './runtime-options.ts';

/** Throws if this server does not have the provider. It never uses another provider instead. */
export async function openAccountSandbox(
  config: SandboxConfig,
  location: Pick<SandboxSpec, 'accountId' | 'directoryFd' | 'workspacePath' | 'remainingQuota'>,
  { providers, limits, minFreeBytes, sharesNetwork, allowControl: always = [] }: RuntimeOptions,
) {
  const provider = Object.hasOwn(providers, config.provider) ? providers[config.provider] : undefined;
  if (!provider)
    throw new AppError('E_SANDBOX_UNAVAILABLE', `this server has no provider ${config.provider}`, {
      hint: `Choose another provider for the sandbox: ${Object.keys(providers).join(', ')}.`,
    });
  const allowControl = [...new Set([...always, ...(config.allowControl ?? [])])];
  const [own, network] = [toConfiguredLimits(config, limits), toNetworkPolicy(config, sharesNetwork)];
  const spec = { ...location, limits: own, minFreeBytes, network, readable: [], allowControl };
  return withEnvironment(await provider.open(spec), variablesOf(config));
}
