import { SandboxConfigInput } from '@croft/protocol';
import { z } from 'zod';
import { findNameProblem } from '../../control-files/allowance.ts';
import { findUnsupported, type ProviderTraits } from '../ports/provider-traits.ts';
import type { SandboxConfig } from '../ports/registry.ts';
import { toNetworkSetting } from './network-config.ts';
import { parseRequestBody } from './parse-request-body.ts';

/** Parses a sandbox's config, from a caller or from the records. Parsing the result again gives the same result. */
export function createSandboxConfigParser(providers: readonly ProviderTraits[]): (config: unknown) => SandboxConfig {
  const names = providers.map(({ name }) => name);
  const problem = `config.provider must be one of: ${names.join(', ')}`;
  const provider = z
    .string(problem)
    .refine((name) => names.includes(name), problem)
    .prefault('bubblewrap');
  const Config = SandboxConfigInput.extend({ provider }).transform((given, context) => {
    const config = toConfig(given);
    const found = 'problem' in config ? config.problem : findProblem(config, providers);
    if (found === undefined && !('problem' in config)) return config;
    context.addIssue({ code: 'custom', message: found ?? 'config is not valid' });
    return z.NEVER;
  });
  const Body = z.object({ config: Config });
  return (config) => parseRequestBody(Body, { config }).config;
}

function toConfig(given: z.output<typeof SandboxConfigInput>): SandboxConfig | { problem: string } {
  const { internet, network, runtimes, ...rest } = given;
  const reach = toNetworkSetting({ internet, network });
  return 'problem' in reach ? reach : { ...rest, network: reach.network, runtimes: [...new Set(runtimes)] };
}

function findProblem(config: SandboxConfig, providers: readonly ProviderTraits[]): string | undefined {
  if (!config.persistent && config.lifecycle) return 'config.lifecycle requires config.persistent to be true';
  if (!config.persistent && (config.onCreate || config.onResume)) {
    return 'config.onCreate and config.onResume require config.persistent to be true';
  }
  const unknown = findNameProblem(config.allowControl ?? []);
  if (unknown !== undefined) return `config.allowControl ${unknown}`;
  const misplaced = findRunnerProblem(config);
  if (misplaced !== undefined) return misplaced;
  const provider = providers.find(({ name }) => name === config.provider);
  return provider && findUnsupported(config, provider);
}

/** A sandbox of the provider `remote` names a runner or labels; any other sandbox names neither. */
function findRunnerProblem({ provider, runner, labels }: SandboxConfig): string | undefined {
  const given = [runner, labels].filter((setting) => setting !== undefined).length;
  if (provider !== 'remote')
    return given === 0 ? undefined : 'config.runner and config.labels are for the provider remote';
  return given === 1 ? undefined : 'config.runner or config.labels must say which runner, and not both';
}
