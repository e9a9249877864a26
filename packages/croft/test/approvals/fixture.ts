import { randomBytes } from 'node:crypto';
import type { LifecycleEvent } from '@croft/protocol';
import type { Records } from '../../src/core/accounts/ports/records.ts';
import type { Actor, ApprovalView } from '../../src/core/accounts/ports/registry.ts';
import { createVault } from '../../src/core/accounts/sealing/create-vault.ts';
import type { RequestedFor } from '../../src/core/approvals/approval-events.ts';
import type { Asker, CallToApprove } from '../../src/core/approvals/approvals.ts';
import { createApprovals } from '../../src/core/approvals/create-approvals.ts';
import type { PollOptions } from '../../src/core/approvals/record-change-waiter.ts';
import { createEmitter } from '../../src/core/events/emitter.ts';
import { createKeyring, createTokenHash } from '../../src/lib/crypto/keyring.ts';
import { openRecords, type RecordsOptions } from '../../src/records/index.ts';
import { makeDirectory } from '../support/harness.ts';

export const ttlMs = 600_000;
export const mine = 'acct_000000000000000000000001';
export const theirs = 'acct_000000000000000000000002';

/** An asker that does not wait and asks nobody. */
export const nobody: Asker = { label: 'nobody', waitMs: 0 };

/** Opens real records and servers that share only these. The clock stands still until it is set. */
export async function openFixture(database?: RecordsOptions) {
  const directory = makeDirectory();
  const where = database ?? { file: directory.at('records.db') };
  const records = await openRecords(where);
  const vault = createVault(createKeyring([{ id: 'k1', key: randomBytes(32) }]), createTokenHash(randomBytes(32)));
  const clock = { now: Date.parse('2026-11-16T00:00:00.000Z') };
  const events: LifecycleEvent[] = [];
  const requested: { approval: ApprovalView; by: RequestedFor }[] = [];
  const now = () => new Date(clock.now);
  const emit = createEmitter({
    sinks: [{ write: (event) => void events.push(event) }],
    now,
    onSinkFailure: () => {},
  });
  for (const accountId of [mine, theirs]) await records.change(({ accounts }) => accounts.insert(toAccount(accountId)));
  const serve = (on: Records, polls?: PollOptions) =>
    createApprovals({
      ...{ records: on, vault, now, ttlMs, emit, polls },
      onRequested: (approval, by) => void requested.push({ approval, by }),
    });
  const opened = [records];
  return {
    ...{ records, vault, clock, events, requested, serve, ...serve(records) },
    async startServer() {
      const more = await openRecords(where);
      opened.push(more);
      return serve(more);
    },
    audit: () => records.read(({ audit }) => audit.list({}, { limit: 1000 })).then(({ rows }) => rows),
    async [Symbol.asyncDispose]() {
      for (const each of opened) await each[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

export type ApprovalsFixture = Awaited<ReturnType<typeof openFixture>>;

export function actorOf(accountId: string, label = 'key key_1'): Actor {
  return { accountId, label, scopes: ['*'] };
}

export function callOf(changes: Partial<CallToApprove> = {}): CallToApprove {
  return {
    accountId: mine,
    agentId: 'agent_1',
    session: 'one',
    tool: 'bash',
    workspace: 'ws_1',
    input: { command: 'ls' },
    preview: async () => 'ls',
    ...changes,
  };
}

function toAccount(accountId: string) {
  const at = '2026-11-15T00:00:00.000Z';
  return { accountId, username: accountId, status: 'active', createdAt: at, updatedAt: at, version: 1 } as const;
}
