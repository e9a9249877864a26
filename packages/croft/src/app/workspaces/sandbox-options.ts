import type { NetworkPolicy } from '../../core/commands/network-policy.ts';
import type { PersonalSettings, SandboxLimits } from '../../core/commands/sandbox.ts';
import type { ProviderName } from '../../providers/index.ts';

/** Options for the sandboxes of every workspace. */
export interface SandboxOptions {
  readonly provider: ProviderName;
  /** The image for the provider `docker`. Without it, commands use the programs of this machine. */
  readonly image?: string | undefined;
  readonly network: NetworkPolicy;
  readonly limits: SandboxLimits;
  /** More directories that commands may read. */
  readonly readable: readonly string[];
  /** Names of control files that agents may change without an approval. Default: none. */
  readonly allowControl?: readonly string[] | undefined;
  /** Variables and git identity that commands get from the person who starts Croft. Default: none. */
  readonly personal?: PersonalSettings | undefined;
  /** The directory of the workspaces' package caches. Without it, a cache is removed with its sandbox. */
  readonly caches?: string | undefined;
}

export interface HostOptions {
  readonly path: string;
  readonly home: string;
  /** Environment variables. Those named `CROFT_SECRET_…` are secrets. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly secretsDirectory?: string | undefined;
  /** The socket of Docker. Default: the usual path. */
  readonly dockerSocket?: string | undefined;
}

const gigabyte = 1024 ** 3;

/** Options of every sandbox, unless flags or records say otherwise. */
export const defaultSandboxOptions: SandboxOptions = {
  provider: 'bubblewrap',
  network: { mode: 'deny-all' },
  limits: {
    memoryBytes: 2 * gigabyte,
    processes: 512,
    cpus: 2,
    fileBytes: 4 * gigabyte,
    openFiles: 4096,
    diskBytes: 2 * gigabyte,
  },
  readable: [],
};
