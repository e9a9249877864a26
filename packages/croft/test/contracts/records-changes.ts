import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { findBreak } from '../../src/core/accounts/ports/audit-chain.ts';
import type { Tables } from '../../src/core/accounts/ports/records.ts';
import type { PrepareRecords } from './records.ts';
import { accountRow, addAccount, approvalRow, auditEntry, fillAccount, newId, resourceRow } from './records-rows.ts';

export function describeChanges(prepare: PrepareRecords): void {
  describe('a change', () => {
    test('that throws stores nothing, and its own error is thrown', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const mine = new TypeError('mine');
      const thrown = records.change(async (tables) => {
        await fillAccount(tables, accountId);
        await tables.accounts.update(accountRow({ accountId, username: 'another', version: 2 }));
        throw mine;
      });
      await expect(thrown).rejects.toBe(mine);
      const atOnce = records.change(() => {
        throw mine;
      });
      await expect(atOnce).rejects.toBe(mine);
      await records.read(async (tables) => {
        expect((await tables.audit.list({}, { limit: 1 })).rows).toEqual([]);
        expect(await tables.agents.count(accountId)).toBe(0);
        expect(await tables.accounts.get(accountId)).toMatchObject({ username: 'somebody', version: 1 });
      });
    });

    test('that throws does not revert concurrent changes', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const results = await Promise.allSettled(
        Array.from({ length: 90 }, (_, index) =>
          records.change(async (tables) => {
            await tables.agents.insert(resourceRow(accountId, { name: `${index}` }));
            await tables.audit.append([auditEntry(accountId, { target: `${index}` })]);
            if (index % 3 === 0) throw new Error('no');
            if (index % 3 === 1) await tables.secrets.put({ accountId, name: 'a\0', value: '', updatedAt: '' });
          }),
        ),
      );
      const good = results.flatMap(({ status }, index) => (status === 'fulfilled' ? [`${index}`] : []));
      expect(good).toEqual(Array.from({ length: 30 }, (_, index) => `${3 * index + 2}`));
      const { rows } = await records.read((tables) => tables.audit.list({}, { limit: 100 }));
      expect(rows.map(({ target }) => target)).toEqual(good);
      expect(findBreak(rows)).toBeUndefined();
      expect(await records.read((tables) => tables.agents.count(accountId))).toBe(30);
    });

    test('is isolated: of a hundred concurrent increments none is lost', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records, { description: '0' });
      const countUp = async ({ accounts }: Tables) => {
        const row = (await accounts.get(accountId))!;
        await new Promise(setImmediate);
        const next = { ...row, description: `${Number(row.description) + 1}`, version: row.version + 1 };
        expect(await accounts.update(next)).toBe(true);
      };
      await Promise.all(Array.from({ length: 100 }, () => records.change(countUp)));
      const row = await records.read((tables) => tables.accounts.get(accountId));
      expect(row).toMatchObject({ description: '100', version: 101 });
    });

    test('of a version that is gone does nothing: one of twenty calls claims an approval', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const row = approvalRow(accountId, { state: 'approved' });
      await records.change((tables) => tables.approvals.insert(row));
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          records.change((tables) =>
            tables.approvals.update({ ...row, state: 'used', decidedBy: `${index}`, version: 2 }),
          ),
        ),
      );
      expect(claims.filter(Boolean)).toHaveLength(1);
      const after = await records.read((tables) => tables.approvals.get(accountId, row.approvalId));
      expect(after).toMatchObject({ state: 'used', decidedBy: `${claims.indexOf(true)}`, version: 2 });
    });

    test('is not visible before it is committed, and a read sees one state only', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const { promise: looked, resolve: goOn } = Promise.withResolvers<void>();
      const { promise: written, resolve: isWritten } = Promise.withResolvers<void>();
      const count = (tables: Tables) => tables.agents.count(accountId);
      const change = records.change(async (tables) => {
        await tables.agents.insert(resourceRow(accountId));
        isWritten();
        await looked;
      });
      await written;
      expect(await records.read(count)).toBe(0);
      await records.read(async (tables) => {
        expect(await count(tables)).toBe(0);
        goOn();
        await change;
        expect(await count(tables)).toBe(0);
        expect(await records.read(count)).toBe(1);
      });
    });

    test('does not wait for reads, and reads do not wait for each other', async () => {
      await using fixture = await prepare();
      const records = await fixture.open({ deadlineMs: 20_000 });
      const accountId = await addAccount(records);
      const views = Array.from({ length: 7 }, () =>
        records.read(async (tables) => {
          const outer = await tables.accounts.get(accountId);
          // A nested change, as when a function called within a change makes one of its own.
          const inner = await records.change((within) => within.accounts.get(accountId));
          return outer?.version === inner?.version;
        }),
      );
      expect(await Promise.all(views)).toEqual(views.map(() => true));
      const many = Array.from({ length: 100 }, () => records.read((tables) => tables.accounts.get(accountId)));
      expect((await Promise.all(many)).every((row) => row?.accountId === accountId)).toBe(true);
    });

    test('cannot be continued after its end, and a read cannot change anything', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const leaked = await records.change(async (tables) => ({ tables }));
      const row = accountRow();
      await expect(leaked.tables.accounts.insert(row)).rejects.toMatchObject({ code: 'E_INTERNAL' });
      const looked = await records.read(async (tables) => ({ tables }));
      await expect(looked.tables.accounts.list({ limit: 1 })).rejects.toMatchObject({ code: 'E_INTERNAL' });
      await expect(records.read((tables) => tables.accounts.insert(row))).rejects.toMatchObject({
        code: 'E_STORAGE_FAILED',
      });
      expect((await records.read((tables) => tables.accounts.list({ limit: 1 }))).rows).toEqual([]);
    });

    test('that does not end is aborted, and the next ones go on', async () => {
      await using fixture = await prepare();
      const records = await fixture.open({ deadlineMs: 4000 });
      const accountId = await addAccount(records);
      let isLate = false;
      const late = async (tables: Tables) => {
        await tables.agents.insert(resourceRow(accountId));
        await sleep(5500);
        await tables.agents.insert(resourceRow(accountId)).finally(() => {
          isLate = true;
        });
      };
      const add = () => records.change((tables) => tables.agents.insert(resourceRow(accountId)));
      const results = await Promise.allSettled([add(), add(), records.change(late), add(), records.read(late), add()]);
      expect(results.map(({ status }) => status[0]).join('')).toBe('ffrfrf');
      expect(results[2]).toMatchObject({ reason: { code: 'E_STORAGE_FAILED' } });
      await vi.waitFor(() => expect(isLate).toBe(true));
      expect(await records.read((tables) => tables.agents.count(accountId))).toBe(4);
    });

    test('in front of slow ones does not wait for them, and their time together aborts none', async () => {
      await using fixture = await prepare();
      const records = await fixture.open({ deadlineMs: 2000 });
      const accountId = await addAccount(records);
      const seen: string[] = [];
      const add = (tables: Tables) => tables.agents.insert(resourceRow(accountId));
      const slowly = async (tables: Tables) => {
        seen.push('slow');
        await add(tables);
        await sleep(350);
      };
      const quick = [records.change(add), records.change(add).then(() => seen.push('kept'))];
      await Promise.all([...quick, ...Array.from({ length: 4 }, () => records.change(slowly))]);
      expect(seen.slice(0, 3)).toContain('kept');
      expect(await records.read((tables) => tables.agents.count(accountId))).toBe(6);
    });

    test('in progress is committed when the records are closed, and later ones are refused', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const ids = Array.from({ length: 100 }, () => newId('acct'));
      const all = Promise.all(ids.map((accountId) => addAccount(records, { accountId })));
      await records[Symbol.asyncDispose]();
      await records[Symbol.asyncDispose]();
      expect(await all).toEqual(ids);
      await expect(addAccount(records)).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
      await expect(records.read(async () => 1)).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
      const { rows } = await (await fixture.open()).read((tables) => tables.accounts.list({ limit: 200 }));
      expect(rows.map(({ accountId }) => accountId)).toEqual(ids);
    });
  });
}
