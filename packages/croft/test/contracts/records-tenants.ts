import { describe, expect, test } from 'vitest';
import type { Tables } from '../../src/core/accounts/ports/records.ts';
import type { PrepareRecords } from './records.ts';
import {
  addAccount,
  approvalRow,
  auditEntry,
  fillAccount,
  keyRow,
  readAccount,
  removalRow,
  reservationRow,
  resourceKinds,
  resourceRow,
  secretRow,
} from './records-rows.ts';

export function describeTenants(prepare: PrepareRecords): void {
  describe('accounts', () => {
    test('see no row of each other in any table', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const [owner, stranger] = [await addAccount(records), await addAccount(records)];
      const rows = await records.change((tables) => fillAccount(tables, owner));
      const own = await records.read((tables) => readAccount(tables, owner, rows));
      // A query that finds nothing for the owner would prove nothing about a stranger.
      expect(own).toMatchObject({ found: { length: 26 }, counts: 2 });
      const seen = await records.read((tables) => readAccount(tables, stranger, rows));
      expect(seen).toMatchObject({ found: [{ accountId: stranger }], counts: 0 });
    });

    test('cannot change rows of each other', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const [owner, stranger] = [await addAccount(records), await addAccount(records)];
      const rows = await records.change((tables) => fillAccount(tables, owner));
      const before = await records.read((tables) => readAccount(tables, owner, rows));
      const did = await records.change(async (tables) => [
        await tables.keys.revoke(stranger, rows.key.keyId, 'now'),
        ...(await Promise.all(resourceKinds.map((kind) => tables[kind].remove(stranger, rows.resource.id)))),
        await tables.sandboxes.update({ ...rows.resource, accountId: stranger, version: 2 }),
        await tables.approvals.update({ ...rows.approval, accountId: stranger, state: 'approved', version: 2 }),
        await tables.secrets.remove(stranger, rows.secret.name),
        await tables.reservations.remove({ ...rows.reservation, accountId: stranger }),
        await tables.removals.remove(stranger, rows.removal.workspaceId, rows.removal.runner),
        await tables.sessions.remove(stranger, rows.session.agentId, rows.session.session),
        await tables.sessions.put({ ...rows.session, accountId: stranger, version: 2 }),
      ]);
      expect(did).toEqual(did.map(() => false));
      await records.change((tables) => tables.references.replace(stranger, 'agent_1', []));
      expect(await records.read((tables) => readAccount(tables, owner, rows))).toEqual(before);
    });

    test('are removed with all rows but the audit trail, and without rows of others', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const [gone, stays] = [await addAccount(records), await addAccount(records)];
      const rows = await records.change((tables) => fillAccount(tables, gone));
      const others = await records.change((tables) => fillAccount(tables, stays));
      const before = await records.read((tables) => readAccount(tables, stays, others));
      const removed = await records.change((tables) => tables.removeAllOf(gone));
      const one = {
        keys: 1,
        agents: 1,
        sandboxes: 1,
        workspaces: 1,
        approvals: 1,
        secrets: 1,
        sessions: 1,
        requests: 1,
        removals: 1,
      };
      expect(removed).toEqual({ ...one, references: 2, browserSessions: 1, reservations: 1 });
      const left = await records.read((tables) => readAccount(tables, gone, rows));
      expect(left.found).toMatchObject([{ username: 'somebody' }, { action: 'call' }]);
      expect(await records.change((tables) => tables.accounts.remove(gone))).toBe(true);
      expect(await records.change((tables) => tables.accounts.remove(gone))).toBe(false);
      expect(await records.read((tables) => readAccount(tables, stays, others))).toEqual(before);
      const again = await records.change((tables) => tables.removeAllOf(gone));
      expect(Object.values(again).every((count) => count === 0)).toBe(true);
    });

    test('that do not exist get no rows, and an account with rows is not removed', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const code = 'E_NOT_FOUND';
      const strays: ((tables: Tables) => Promise<unknown>)[] = [
        ...resourceKinds.map((kind) => (tables: Tables) => tables[kind].insert(resourceRow('acct_none'))),
        (tables) => tables.keys.insert(keyRow('acct_none')),
        (tables) => tables.secrets.put(secretRow('acct_none')),
        (tables) => tables.removals.insert(removalRow('acct_none')),
        (tables) => tables.reservations.put(reservationRow('acct_none')),
        (tables) => tables.references.replace('acct_none', 'agent_1', ['sb_1']),
      ];
      for (const stray of strays) await expect(records.change(stray)).rejects.toMatchObject({ code });
      await records.change((tables) => tables.approvals.insert(approvalRow('the person at this machine')));
      const swallowed = records.change(async (tables) => {
        await tables.audit.append([auditEntry(accountId)]);
        await tables.agents.insert(resourceRow('acct_none')).catch(() => {});
      });
      await expect(swallowed).rejects.toMatchObject({ code });
      expect((await records.read((tables) => tables.audit.list({}, { limit: 9 }))).rows).toEqual([]);
      await records.change((tables) => tables.agents.insert(resourceRow(accountId)));
      const removal = records.change((tables) => tables.accounts.remove(accountId));
      await expect(removal).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
      expect(await records.read((tables) => tables.agents.count(accountId))).toBe(1);
    });
  });
}
