import type { ProviderTraits } from './provider-traits.ts';
import type { Records } from './records.ts';
import type { Vault } from './vault.ts';

/** Limits per account. */
export interface AccountQuotas {
  readonly agents: number;
  readonly sandboxes: number;
  readonly workspaces: number;
  /** Counts keys that are neither expired nor revoked. */
  readonly keys: number;
  readonly runners: number;
  readonly secrets: number;
}

/** Dependencies that all parts of a registry share. */
export interface RegistryContext {
  readonly records: Records;
  readonly vault: Vault;
  readonly now: () => Date;
  /** The registered providers, among which an account may choose. */
  readonly providers: readonly ProviderTraits[];
  readonly quotas: AccountQuotas;
  /** Names of the storages that a workspace may use. */
  readonly storages: readonly string[];
  /** Names of all tools, among which an agent's record may choose. */
  readonly toolNames: readonly string[];
  /** The id of this server's data directory, to which each new workspace is bound. Absent: none is bound. */
  readonly directory?: string | undefined;
  /** The storage of a new workspace that names none. Absent: `local`. */
  readonly defaultStorage?: (() => 'local' | 's3') | undefined;
  /** The storages among them whose workspaces this server can open for an agent. */
  readonly opened: readonly string[];
}
