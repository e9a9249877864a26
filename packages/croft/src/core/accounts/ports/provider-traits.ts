import type { SandboxConfig } from './registry.ts';

type NetworkMode = SandboxConfig['network']['mode'];

/** The properties of a registered provider that decide whether a config can work. */
export interface ProviderTraits {
  readonly name: string;
  readonly capabilities: {
    /** Whether its sandboxes can mount a workspace. */
    readonly mounts: boolean;
    readonly networks: readonly NetworkMode[];
    /** Whether its sandboxes can outlive a call. */
    readonly persistent: boolean;
  };
}

/** Returns why the provider cannot do what the config asks for, or `undefined`. */
export function findUnsupported(config: SandboxConfig, { name, capabilities }: ProviderTraits): string | undefined {
  const { networks, persistent } = capabilities;
  const { mode } = config.network;
  if (config.persistent && !persistent) {
    return `config.persistent is not supported by the ${name} provider (${name} is always ephemeral)`;
  }
  if (networks.includes(mode)) return undefined;
  if (networks.length === 1 && networks[0] === 'allow-all') {
    return `${name} cannot enforce egress restrictions; set config.network.mode to allow-all explicitly`;
  }
  return `config.network.mode ${mode} is not supported by the ${name} provider; it can do: ${networks.join(', ')}`;
}
