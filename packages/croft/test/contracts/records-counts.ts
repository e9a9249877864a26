import { describe, expect, test } from 'vitest';
import type { Records, Tables } from '../../src/core/accounts/ports/records.ts';
import type { PrepareRecords } from './records.ts';
import {
  addAccount,
  approvalRow,
  auditEntry,
  keyRow,
  resourceKinds,
  resourceRow,
  secretRow,
  sessionRow,
} from './records-rows.ts';

const later = '2026-11-16T03:00:00.000Z';

/** Servers cache what an account has while this count is unchanged: every change that takes rights away must count. */
export function describeCounts(prepare: PrepareRecords): void {
  describe('counts of changes', () => {
    test('increase with every change that decides what a call may do, for another server too', async () => {
      await using fixture = await prepare();
      const [records, other] = [await fixture.open(), await fixture.open()];
      const accountId = await addAccount(records);
      const [key, secret, session] = [keyRow(accountId), secretRow(accountId), sessionRow(accountId)];
      const of = [session.accountId, session.agentId, session.session] as const;
      const changes: Readonly<Record<string, (tables: Tables) => Promise<unknown>>> = {
        'a new key': ({ keys }) => keys.insert(key),
        'a revoked key': ({ keys }) => keys.revoke(accountId, key.keyId, later),
        'a secret': ({ secrets }) => secrets.put(secret),
        'another value of a secret': ({ secrets }) => secrets.put({ ...secret, value: 'other' }),
        'a secret that is gone': ({ secrets }) => secrets.remove(accountId, secret.name),
        'a session': ({ sessions }) => sessions.put(session),
        'a session that is gone': ({ sessions }) => sessions.remove(...of),
        'a disabled account': async ({ accounts }) => {
          const row = await accounts.get(accountId);
          expect(await accounts.update({ ...row!, status: 'disabled', version: row!.version + 1 })).toBe(true);
        },
      };
      for (const [what, change] of Object.entries(changes)) await expectCounted(what, change);
      for (const kind of resourceKinds) {
        const row = resourceRow(accountId);
        await expectCounted(`new ${kind}`, (tables) => tables[kind].insert(row));
        await expectCounted(`changed ${kind}`, (tables) => tables[kind].update({ ...row, config: 'x', version: 2 }));
        await expectCounted(`${kind} that are gone`, (tables) => tables[kind].remove(accountId, row.id));
      }

      async function expectCounted(what: string, change: (tables: Tables) => Promise<unknown>): Promise<void> {
        const before = await countIn(other, accountId);
        await records.change(change);
        expect(await countIn(other, accountId), what).toBeGreaterThan(before);
      }
    });

    test('stay the same after writes of calls, changes of other accounts, and rolled-back changes', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const [accountId, neighbour] = [await addAccount(records), await addAccount(records)];
      const session = sessionRow(accountId);
      await records.change(({ sessions }) => sessions.put(session));
      const before = await countIn(records, accountId);
      await records.change(async (tables) => {
        await tables.sessions.put({ ...session, state: '{"place":"elsewhere"}', version: 2 });
        await tables.audit.append([auditEntry(accountId)]);
        await tables.approvals.insert(approvalRow(accountId));
        await tables.calls.insert({ callId: 'c', serverId: 's', accountId, actor: 'a', tool: 'bash' });
        await tables.agents.insert(resourceRow(neighbour));
      });
      const undone = records.change(async (tables) => {
        await tables.keys.insert(keyRow(accountId));
        expect(await tables.accounts.changes(accountId)).toBe(before + 1);
        throw new Error('undone');
      });
      await expect(undone).rejects.toThrow('undone');
      expect(await countIn(records, accountId)).toBe(before);
      expect(await records.read(({ accounts }) => accounts.changes(accountId))).toBe(before);
    });

    test('are gone with the account, and differ from every count before', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      expect(await countIn(records, accountId)).toBeGreaterThan(0);
      await records.change(({ accounts }) => accounts.remove(accountId));
      expect(await countIn(records, accountId)).toBe(0);
    });

    test('increase when a person changes the database by hand', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      await records.change(({ keys }) => keys.insert(keyRow(accountId)));
      const before = await countIn(records, accountId);
      await fixture.execute(`UPDATE api_keys SET revoked_at = '${later}' WHERE account_id = '${accountId}'`);
      expect(await countIn(records, accountId)).toBe(before + 1);
      await fixture.execute(`DELETE FROM api_keys WHERE account_id = '${accountId}'`);
      expect(await countIn(records, accountId)).toBe(before + 2);
    });
  });
}

function countIn(records: Records, accountId: string): Promise<number> {
  return records.glance(({ accounts }) => accounts.changes(accountId));
}
