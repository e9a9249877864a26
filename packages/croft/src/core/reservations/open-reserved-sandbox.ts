import { sha256 } from '../../lib/crypto/sha256.ts';
import type { Records } from '../accounts/ports/records.ts';
import type { SandboxConfig } from '../accounts/ports/registry.ts';
import type { ReservationKey } from '../accounts/ports/reservation-table.ts';
import type { Sandbox } from '../commands/sandbox.ts';
import { setUpSandbox } from '../commands/set-up-sandbox.ts';
import type { Emit } from '../events/emitter.ts';
import { isExpired } from './lifetime.ts';
import { createReservedSandbox, type ReservationState, type ReservedSandbox } from './reserved-sandbox.ts';

export interface ReservationRequest {
  readonly key: ReservationKey;
  readonly config: SandboxConfig;
  open(): Promise<Sandbox>;
}

export interface ReservationsOptions {
  readonly records: Records;
  /** The clock of the records, so that a sandbox has the same lifetime on every server. */
  readonly now: () => Date;
  readonly emit: Emit;
  onWarning(message: string): void;
}

/**
 * Opens the sandbox and sets it up: with `onCreate` the first time, with `onResume` if a server had it open before. Its
 * row is stored after `onCreate` has succeeded, so that a set-up that was cut off runs again.
 */
export async function openReservedSandbox(
  { key, config, open }: ReservationRequest,
  { records, now, emit }: ReservationsOptions,
  onEnd: () => void,
): Promise<ReservedSandbox> {
  const setUp = sha256(JSON.stringify(config.onCreate ?? []));
  const row = await records.glance(({ reservations }) => reservations.get(key));
  const known = row && row.setUp === setUp && !isExpired(row.createdAt, config, now()) ? row : undefined;
  const sandbox = await setUpSandbox(await open(), (known ? config.onResume : config.onCreate) ?? []);
  const createdAt = known?.createdAt ?? now().toISOString();
  if (!known)
    await storeOrClose(sandbox, () =>
      records.change(({ reservations }) => reservations.put({ ...key, setUp, createdAt })),
    );
  const { accountId: account, sandboxId, workspaceId: workspace } = key;
  const onState = (state: ReservationState, reason?: string) =>
    emit('lifecycle.sandbox.persistent', () => ({ account, sandbox: sandboxId, workspace, state, reason }));
  onState(known ? 'reopened' : 'created');
  return createReservedSandbox({ key, sandbox, config, createdAt, onState, onEnd });
}

async function storeOrClose(sandbox: Sandbox, store: () => Promise<unknown>): Promise<void> {
  try {
    await store();
  } catch (thrown) {
    await sandbox.close().catch(() => {});
    throw thrown;
  }
}
