import { describe, expect, test } from 'vitest';
import type { Paged, PageRequest } from '../../src/core/accounts/ports/pages.ts';
import type { Records, Tables } from '../../src/core/accounts/ports/records.ts';
import type { PrepareRecords } from './records.ts';
import {
  addAccount,
  approvalRow,
  auditEntry,
  keyRow,
  newId,
  resourceRow,
  secretRow,
  sessionRow,
} from './records-rows.ts';

type List = (tables: Tables, page: PageRequest) => Promise<Paged<object>>;

/** Each paged listing, how to add a row to it, and whether the newest row comes first. */
const listings = (accountId: string) => {
  const byState = { state: 'pending', agentId: 'agent_1' } as const;
  return {
    accounts: { list: (tables, page) => tables.accounts.list(page), order: 'accountId' },
    keys: { list: (tables, page) => tables.keys.list(accountId, page), order: 'keyId' },
    agents: { list: (tables, page) => tables.agents.list(accountId, page), order: 'id' },
    approvals: {
      list: (tables, page) => tables.approvals.list(accountId, {}, page),
      order: 'approvalId',
      newest: true,
    },
    'approvals by state': {
      list: (tables, page) => tables.approvals.list(accountId, byState, page),
      order: 'approvalId',
      newest: true,
    },
    sessions: { list: (tables, page) => tables.sessions.list(accountId, 'agent_1', page), order: 'session' },
    audit: { list: (tables, page) => tables.audit.list({ accountId }, page), order: 'target' },
  } satisfies Record<string, { list: List; order: string; newest?: true }>;
};

/** Adds one row to each table and returns the id of each. */
async function addEverywhere(records: Records, accountId: string): Promise<Record<string, string>> {
  const [account, key, agent] = [newId('acct'), keyRow(accountId), resourceRow(accountId)];
  const [approval, session, target] = [approvalRow(accountId), sessionRow(accountId), newId('target')];
  await addAccount(records, { accountId: account });
  await records.change(async (tables) => {
    await tables.keys.insert(key);
    await tables.agents.insert(agent);
    await tables.approvals.insert(approval);
    await tables.sessions.put(session);
    await tables.audit.append([auditEntry(accountId, { target }), auditEntry('acct_other')]);
  });
  const { approvalId } = approval;
  return { accountId: account, keyId: key.keyId, id: agent.id, approvalId, session: session.session, target };
}

async function collect(records: Records, list: List, limit: number, between = async () => {}) {
  const pages: object[][] = [];
  for (let after: string | undefined; ; ) {
    const page = await records.read((tables) => list(tables, { limit, after }));
    pages.push([...page.rows]);
    if (page.next === undefined) return pages;
    after = page.next;
    await between();
  }
}

const valuesOf = (rows: readonly object[], field: string) => rows.map((row) => Reflect.get(row, field) as string);

export function describePages(prepare: PrepareRecords): void {
  describe('pages', () => {
    test('show every row once in the order of creation, for any page size', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const made: Record<string, string>[] = [];
      for (let index = 0; index < 12; index += 1) made.push(await addEverywhere(records, accountId));
      for (const [name, listing] of Object.entries(listings(accountId))) {
        const inOrder = made.map((row) => row[listing.order]!);
        const expected = 'newest' in listing ? inOrder.toReversed() : inOrder;
        for (const limit of [1, 5, 12, 1000]) {
          const pages = await collect(records, listing.list, limit);
          const all = valuesOf(pages.flat(), listing.order).filter((value) => value !== accountId);
          expect(all, `${name} by ${limit}`).toEqual(expected);
          expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
          expect(pages.at(-1)!.length, `${name}: no empty page at the end`).toBeGreaterThan(0);
        }
      }
    });

    test('do not shift while rows are added, and go on after a row that was removed', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const rows = Array.from({ length: 9 }, () => resourceRow(accountId));
      const approvals = Array.from({ length: 6 }, () => approvalRow(accountId));
      await records.change(async (tables) => {
        for (const row of rows) await tables.agents.insert(row);
        for (const row of approvals) await tables.approvals.insert(row);
      });
      let removed = 0;
      const disturb = () =>
        records.change(async (tables) => {
          for (const { id } of rows.slice(removed, removed + 3)) await tables.agents.remove(accountId, id);
          removed += 3;
          await tables.agents.insert(resourceRow(accountId, { name: `added ${removed}` }));
          await tables.approvals.insert(approvalRow(accountId));
        });
      const { agents, approvals: newestFirst } = listings(accountId);
      const seen = valuesOf((await collect(records, agents.list, 3, disturb)).flat(), 'id');
      expect(seen.slice(0, 9)).toEqual(rows.map(({ id }) => id));
      expect(new Set(seen).size).toBe(seen.length);
      const before = (await records.read((tables) => newestFirst.list(tables, { limit: 100 }))).rows;
      const paged = (await collect(records, newestFirst.list, 2, disturb)).flat();
      expect(paged).toEqual(before);
    });

    test('of all accounts show all accounts, whatever their names', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const odd = ['a', 'a/b', 'a%2Fb', '', '😀', '/', '//'];
      const accounts = await Promise.all(['x', 'x/y', 'é'].map((accountId) => addAccount(records, { accountId })));
      const expected = accounts.flatMap((accountId) => odd.map((name) => `${accountId} ${name}`));
      await records.change(async (tables) => {
        for (const accountId of accounts) {
          for (const name of odd) {
            await tables.secrets.put(secretRow(accountId, { name }));
            await tables.agents.insert(resourceRow(accountId, { id: name, name }));
            await tables.approvals.insert(approvalRow(accountId, { approvalId: name }));
          }
        }
      });
      const ways: [List, string][] = [
        [(tables, page) => tables.secrets.all(page), 'name'],
        [(tables, page) => tables.agents.all(page), 'id'],
        [(tables, page) => tables.approvals.all(page), 'approvalId'],
      ];
      for (const [list, field] of ways) {
        for (const limit of [1, 4, 100]) {
          const rows = (await collect(records, list, limit)).flat();
          const seen = rows.map((row) => `${Reflect.get(row, 'accountId')} ${Reflect.get(row, field)}`);
          expect(seen.toSorted()).toEqual(expected.toSorted());
        }
      }
    });

    test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('of %d rows are refused', async (limit) => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const code = 'E_INVALID_INPUT';
      await expect(records.read((tables) => tables.accounts.list({ limit }))).rejects.toMatchObject({ code });
      await expect(records.read((tables) => tables.references.usersOf('a', 'b', limit))).rejects.toMatchObject({
        code,
      });
    });

    test('with an invalid cursor are refused, and a page has at most a thousand rows', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const bad = ['', 'acct_1', '-1', '1 OR 1=1', '9'.repeat(30), '1.5', '\0', 'a/b/c', '%ff/%ff'];
      for (const after of bad) {
        for (const { list } of Object.values<{ list: List }>(listings('acct_1'))) {
          const page = records.read((tables) => list(tables, { limit: 1, after }));
          await expect(page, JSON.stringify(after)).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
        }
        const all = records.read((tables) => tables.secrets.all({ limit: 1, after }));
        await expect(all, JSON.stringify(after)).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
      }
      await records.change((tables) => tables.audit.append(Array.from({ length: 1005 }, () => auditEntry('a'))));
      const page = await records.read((tables) => tables.audit.list({}, { limit: 1_000_000 }));
      expect([page.rows.length, page.next]).toEqual([1000, '1000']);
    });
  });
}
