import type { ProviderTraits } from './provider-traits.ts';
import type { Records } from './records.ts';
import type { Vault } from './vault.ts';

/** At most, of one account. */
export interface Quotas {
  readonly agents: number;
  readonly sandboxes: number;
  readonly workspaces: number;
  /** Those that can be used. */
  readonly keys: number;
  readonly runners: number;
  readonly secrets: number;
}

/** What the parts of a registry share. */
export interface RegistryContext {
  readonly records: Records;
  readonly vault: Vault;
  readonly now: () => Date;
  /** Those that are registered, of which an account may choose. */
  readonly providers: readonly ProviderTraits[];
  readonly quotas: Quotas;
  /** The names a workspace may be kept under. */
  readonly storages: readonly string[];
  /** Those of them whose workspaces an agent can be given. */
  readonly opened: readonly string[];
}
