import { describe, expect, test } from 'vitest';
import { findBreak } from '../../src/core/accounts/ports/audit-chain.ts';
import type { PrepareRecords } from './records.ts';
import { addAccount, approvalRow, auditEntry, fillAccount, readAccount, resourceRow } from './records-rows.ts';

export function describeServers(prepare: PrepareRecords): void {
  describe('two servers on one database', () => {
    test('append to one chain, which never forks', async () => {
      await using fixture = await prepare();
      const servers = await Promise.all([fixture.open(), fixture.open()]);
      await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          servers[index % 2]!.change((tables) =>
            tables.audit.append([auditEntry('a', { target: `${index}` }), auditEntry('b', { target: `${index}` })]),
          ),
        ),
      );
      const { rows, next } = await servers[0].read((tables) => tables.audit.list({}, { limit: 500 }));
      expect(next).toBeUndefined();
      expect(rows.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 400 }, (_, index) => index + 1));
      expect(findBreak(rows)).toBeUndefined();
      expect(new Set(rows.map(({ target }) => target)).size).toBe(200);
      // The chain is useful only if a changed row is found.
      await fixture.execute(`UPDATE audit SET details = '{"a":1}' WHERE sequence = 123`);
      const changed = await servers[1].read((tables) => tables.audit.list({}, { limit: 500 }));
      expect(findBreak(changed.rows)?.sequence).toBe(123);
    });

    test('give one of twenty concurrent claims the approval, and one of them the name', async () => {
      await using fixture = await prepare();
      const servers = await Promise.all([fixture.open(), fixture.open()]);
      const accountId = await addAccount(servers[0]);
      const row = approvalRow(accountId, { state: 'approved' });
      await servers[0].change((tables) => tables.approvals.insert(row));
      const each = Array.from({ length: 20 }, (_, index) => servers[index % 2]!);
      const claim = { ...row, state: 'used', version: 2 } as const;
      const claims = await Promise.all(each.map((one) => one.change((tables) => tables.approvals.update(claim))));
      expect(claims.filter(Boolean)).toHaveLength(1);
      const makings = await Promise.allSettled(
        each.map((one) => one.change((tables) => tables.agents.insert(resourceRow(accountId, { name: 'same' })))),
      );
      const holder = await servers[1].read((tables) => tables.agents.byName(accountId, 'same'));
      const losers = makings.flatMap((made) => (made.status === 'rejected' ? [made.reason] : []));
      expect(losers).toHaveLength(19);
      for (const reason of losers) {
        expect(reason).toMatchObject({ code: 'E_ALREADY_EXISTS', details: { id: holder!.id } });
      }
    });

    test('see rows of the other at once, and all of them after a restart', async () => {
      await using fixture = await prepare();
      const [first, second] = await Promise.all([fixture.open(), fixture.open()]);
      const accountId = await addAccount(first);
      const rows = await second.change((tables) => fillAccount(tables, accountId));
      const before = await first.read((tables) => readAccount(tables, accountId, rows));
      expect(before.found).toHaveLength(26);
      await first[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
      const again = await fixture.open();
      expect(await again.read((tables) => readAccount(tables, accountId, rows))).toEqual(before);
    });
  });
}
