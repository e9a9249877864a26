import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { onTestFinished } from 'vitest';
import { createRegistry } from '../../src/core/accounts/lifecycle/create-registry.ts';
import type { Actor, Registry } from '../../src/core/accounts/ports/registry.ts';
import type { RegistryContext } from '../../src/core/accounts/ports/registry-context.ts';
import { createVault } from '../../src/core/accounts/sealing/create-vault.ts';
import { createKeyring, createTokenHash } from '../../src/lib/crypto/keyring.ts';
import { openRecords } from '../../src/records/index.ts';

const allModes = ['allow-all', 'deny-all', 'restricted'] as const;

export const providers: RegistryContext['providers'] = [
  { name: 'bubblewrap', capabilities: { mounts: true, networks: allModes, persistent: true } },
  { name: 'open', capabilities: { mounts: false, networks: ['allow-all'], persistent: false } },
  { name: 'plain', capabilities: { mounts: true, networks: ['allow-all', 'deny-all'], persistent: true } },
];

const quotas = { agents: 200, sandboxes: 200, workspaces: 200, keys: 20, runners: 100, secrets: 20 };

export interface AccountsFixture extends RegistryContext {
  readonly registry: Registry;
  readonly directory: string;
  readonly actor: Actor;
  /** An actor of another account, with all rights there. */
  readonly stranger: Actor;
  /** Advances the clock. */
  advanceClock(milliseconds: number): void;
}

/** A registry over a real store, with two accounts. */
export async function openFixture(
  changes: Partial<Omit<RegistryContext, 'quotas'>> & { quotas?: object } = {},
): Promise<AccountsFixture> {
  const directory = mkdtempSync(join(tmpdir(), 'croft-accounts-'));
  const records = await openRecords({ file: join(directory, 'records.db') });
  onTestFinished(async () => {
    await records[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });
  const ring = createKeyring([{ id: 'k1', key: randomBytes(32) }]);
  const vault = createVault(ring, createTokenHash(randomBytes(32)));
  let passed = 0;
  const now = () => new Date(Date.now() + passed);
  const context = {
    records,
    vault,
    now,
    providers,
    storages: ['local', 's3'],
    opened: ['local'],
    toolNames: ['read', 'bash'],
    ...changes,
    quotas: { ...quotas, ...changes.quotas },
  };
  const registry = createRegistry(context);
  const [actor, stranger] = [await newActor(registry, 'mine'), await newActor(registry, 'theirs')];
  const pass = (milliseconds: number) => {
    passed += milliseconds;
  };
  return { ...context, registry, directory, actor, stranger, advanceClock: pass };
}

export async function newActor({ accounts }: Registry, username: string): Promise<Actor> {
  const { secret } = await accounts.create('admin', { username });
  const actor = await accounts.authenticate(secret);
  if (!actor) throw new Error('the first key of an account is not good');
  return actor;
}

/** Returns the error that a promise rejects with, and fails the test if it does not reject. */
export async function refusal(promise: Promise<unknown>): Promise<AppError> {
  const result = await promise.then(
    (value) => new Error(`nothing was refused: ${JSON.stringify(value)?.slice(0, 300)}`),
    (thrown: unknown) => thrown,
  );
  if (AppError.is(result)) return result;
  throw result;
}

export async function messageOf(promise: Promise<unknown>): Promise<string> {
  const { code, message } = await refusal(promise);
  return code === 'E_INVALID_INPUT' ? message : `${code}: ${message}`;
}

/** Lists the audit rows of an account, oldest first. */
export async function auditOf({ registry }: AccountsFixture, actor: Actor) {
  const { rows } = await registry.audit.list(actor, { limit: 1000 });
  return rows;
}
