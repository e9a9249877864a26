import { describe, expect, test } from 'vitest';
import type { PrepareRecords } from './records.ts';
import {
  accountRow,
  addAccount,
  approvalRow,
  auditEntry,
  browserSessionRow,
  keyRow,
  removalRow,
  requestRow,
  reservationRow,
  resourceKinds,
  resourceRow,
  secretRow,
  sessionRow,
} from './records-rows.ts';

const later = '2026-11-16T03:00:00.000Z';

export function describeTables(prepare: PrepareRecords): void {
  describe('tables', () => {
    test('return every field of every row, and omit omitted fields', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accounts = [accountRow(), accountRow({ description: 'words', status: 'disabled' })];
      const [{ accountId }] = accounts as [ReturnType<typeof accountRow>];
      const bound = { agents: ['agent_1', 'agent_2'] };
      const keys = [keyRow(accountId), keyRow(accountId, { scopes: ['a', 'b"'], expiresAt: later, ...bound })];
      const decided = { state: 'denied', scope: 'session', decidedAt: later, decidedBy: 'me', reason: 'no' } as const;
      const approvals = [approvalRow(accountId), approvalRow(accountId, decided)];
      const sessions = [sessionRow(accountId), sessionRow(accountId, { parent: 'above' })];
      const resources = [resourceRow(accountId), resourceRow(accountId, { description: '' })];
      const [secret, request] = [secretRow(accountId), requestRow(accountId)];
      await records.change(async (tables) => {
        for (const row of accounts) await tables.accounts.insert(row);
        for (const row of keys) await tables.keys.insert(row);
        for (const row of approvals) await tables.approvals.insert(row);
        for (const row of sessions) expect(await tables.sessions.put(row)).toBe(true);
        for (const kind of resourceKinds) for (const row of resources) await tables[kind].insert(row);
        await tables.secrets.put(secret);
        await tables.requests.insert(request);
        await tables.audit.append([auditEntry(accountId), auditEntry('nobody', { details: '{"a":"é"}' })]);
      });
      const page = { limit: 10 };
      await records.read(async (tables) => {
        expect((await tables.accounts.list(page)).rows).toStrictEqual(accounts);
        expect((await tables.keys.list(accountId, page)).rows).toStrictEqual(keys);
        expect((await tables.approvals.list(accountId, {}, page)).rows).toStrictEqual(approvals.toReversed());
        expect((await tables.sessions.list(accountId, 'agent_1', page)).rows).toStrictEqual(sessions);
        for (const kind of resourceKinds) {
          expect((await tables[kind].list(accountId, page)).rows).toStrictEqual(resources);
          expect(await tables[kind].count(accountId)).toBe(2);
        }
        expect(await tables.secrets.list(accountId)).toStrictEqual([secret]);
        expect(await tables.requests.get(accountId, request.key)).toStrictEqual(request);
        const { rows } = await tables.audit.list({ accountId: 'nobody' }, page);
        expect(rows).toMatchObject([{ sequence: 2, accountId: 'nobody', details: '{"a":"é"}' }]);
      });
    });

    test.each(resourceKinds)('a name belongs to one of the %s of an account', async (kind) => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const [mine, other] = [await addAccount(records), await addAccount(records)];
      const first = resourceRow(mine, { name: 'box' });
      const second = resourceRow(mine, { name: 'second' });
      const taken = { code: 'E_ALREADY_EXISTS', details: { id: first.id } };
      await records.change(async (tables) => {
        await tables[kind].insert(first);
        await tables[kind].insert(second);
        // Work may go on after this error, and its changes are kept.
        await expect(tables[kind].insert(resourceRow(mine, { name: 'box' }))).rejects.toMatchObject(taken);
        await expect(tables[kind].update({ ...second, name: 'box', version: 2 })).rejects.toMatchObject(taken);
        await tables[kind].insert(resourceRow(other, { name: 'box' }));
        await tables[kind].insert(resourceRow(mine, { name: 'Box' }));
      });
      const insertTaken = records.change((tables) => tables[kind].insert(resourceRow(mine, { name: 'box' })));
      await expect(insertTaken).rejects.toMatchObject(taken);
      expect(await records.read((tables) => tables[kind].count(mine))).toBe(3);
      await records.change((tables) => tables[kind].remove(mine, first.id));
      await records.change((tables) => tables[kind].update({ ...second, name: 'box', version: 2 }));
      expect(await records.read((tables) => tables[kind].byName(mine, 'box'))).toMatchObject({ id: second.id });
    });

    test('a row with its own key is not replaced by another insert', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const [key, request, approval] = [keyRow(accountId), requestRow(accountId), approvalRow(accountId)];
      const session = sessionRow(accountId);
      await records.change(async (tables) => {
        await tables.keys.insert(key);
        await tables.requests.insert(request);
        await tables.approvals.insert(approval);
        await tables.sessions.put(session);
      });
      const code = 'E_ALREADY_EXISTS';
      await records.change(async ({ accounts, keys, requests, approvals, sessions }) => {
        await expect(accounts.insert(accountRow({ accountId }))).rejects.toMatchObject({ code });
        await expect(keys.insert(keyRow(accountId, { hash: key.hash }))).rejects.toMatchObject({ code });
        await expect(keys.insert(keyRow(accountId, { keyId: key.keyId }))).rejects.toMatchObject({ code });
        await expect(requests.insert({ ...request, body: 'other' })).rejects.toMatchObject({ code });
        await expect(approvals.insert({ ...approval, state: 'approved' })).rejects.toMatchObject({ code });
        expect(await sessions.put({ ...session, state: 'other' })).toBe(false);
      });
      await records.read(async ({ keys, requests, approvals, sessions }) => {
        expect(await keys.byHash(key.hash)).toStrictEqual(key);
        expect(await requests.get(accountId, request.key)).toStrictEqual(request);
        expect(await approvals.get(accountId, approval.approvalId)).toStrictEqual(approval);
        expect(await sessions.get(accountId, 'agent_1', session.session)).toStrictEqual(session);
      });
    });

    test('approvals that expired long ago are removed, and no others', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const old = approvalRow(accountId, { expiresAt: '2026-01-01T00:00:00.000Z' });
      const recent = approvalRow(accountId, { expiresAt: '2026-03-01T00:00:00.000Z' });
      await records.change(async ({ approvals }) => {
        for (const row of [old, recent]) await approvals.insert(row);
        expect(await approvals.removeBefore('2026-02-01T00:00:00.000Z')).toBe(1);
      });
      const page = { limit: 10 };
      const left = await records.read(({ approvals }) => approvals.list(accountId, {}, page));
      expect(left.rows).toStrictEqual([recent]);
    });

    test('keys are revoked once, secrets are replaced, old requests and idle sessions are removed', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const [key, secret] = [keyRow(accountId), secretRow(accountId)];
      const [idle, used] = [sessionRow(accountId), sessionRow(accountId, { usedAt: later })];
      const [old, recent] = [requestRow(accountId), requestRow(accountId, { createdAt: later })];
      await records.change(async ({ keys, secrets, sessions, requests }) => {
        await keys.insert(key);
        expect(await keys.revoke(accountId, key.keyId, later)).toBe(true);
        expect(await keys.revoke(accountId, key.keyId, '2027')).toBe(false);
        expect(await keys.revoke(accountId, 'key_none', later)).toBe(false);
        await secrets.put(secret);
        await secrets.put({ ...secret, value: 'newer' });
        for (const row of [idle, used]) await sessions.put(row);
        for (const row of [old, recent]) await requests.insert(row);
        expect([await sessions.removeIdle(later), await requests.removeBefore(later)]).toEqual([1, 1]);
        expect(await sessions.put({ ...used, state: '[]', version: 3 })).toBe(false);
        expect(await sessions.put({ ...used, state: '[]', version: 2 })).toBe(true);
      });
      await records.read(async ({ keys, secrets, sessions, requests }) => {
        expect(await keys.get(accountId, key.keyId)).toStrictEqual({ ...key, revokedAt: later });
        expect(await secrets.list(accountId)).toStrictEqual([{ ...secret, value: 'newer' }]);
        expect(await sessions.get(accountId, 'agent_1', used.session)).toMatchObject({ state: '[]', version: 2 });
        expect(await sessions.get(accountId, 'agent_1', idle.session)).toBeUndefined();
        expect(await requests.get(accountId, old.key)).toBeUndefined();
        expect(await requests.get(accountId, recent.key)).toBeDefined();
      });
    });

    test('a pending removal is stored once, found by the runner, and removed when it is done or too old', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const [first, second] = [removalRow(accountId), removalRow(accountId, { createdAt: later })];
      const elsewhere = { ...first, runner: 'near', createdAt: later };
      await records.change(async ({ removals }) => {
        for (const row of [first, second, elsewhere, { ...first, createdAt: later }]) await removals.insert(row);
      });
      const list = (runner: string) =>
        records.read(async ({ removals }) => (await removals.list(accountId, runner, { limit: 9 })).rows);
      expect([await list('far'), await list('near')]).toStrictEqual([[first, second], [elsewhere]]);
      await records.change(async ({ removals }) => {
        expect(await removals.removeBefore(later)).toBe(1);
        expect(await removals.remove(accountId, second.workspaceId, 'near')).toBe(false);
        expect(await removals.remove(accountId, second.workspaceId, 'far')).toBe(true);
      });
      expect([await list('far'), await list('near')]).toStrictEqual([[], [elsewhere]]);
    });

    test('a persistent sandbox has one row for each workspace and name, which goes with its records', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const row = reservationRow(accountId);
      const [renamed, elsewhere] = [
        { ...row, workspace: 'other' },
        { ...row, workspaceId: 'ws_2' },
      ];
      const later = { ...row, setUp: 'changed', createdAt: '2026-11-17T00:00:00.000Z' };
      await records.change(async ({ reservations }) => {
        for (const one of [row, renamed, elsewhere, later]) await reservations.put(one);
      });
      const read = () => records.read(({ reservations: of }) => Promise.all([row, renamed, elsewhere].map(of.get)));
      expect(await read()).toStrictEqual([later, renamed, elsewhere]);
      await records.change(async ({ reservations }) => {
        expect(await reservations.remove(renamed)).toBe(true);
        expect(await reservations.remove(renamed)).toBe(false);
        expect(await reservations.removeOf(accountId, { workspaceId: row.workspaceId })).toBe(1);
      });
      expect(await read()).toStrictEqual([undefined, undefined, elsewhere]);
      expect(
        await records.change(({ reservations }) => reservations.removeOf(accountId, { sandboxId: row.sandboxId })),
      ).toBe(1);
    });

    test('a workspace is bound to one data directory, which another one can adopt with what is orphaned there', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const [bound, free] = [resourceRow(accountId, { directory: 'dir_a' }), resourceRow(accountId)];
      const directory = { id: 'dir_a', host: 'one', address: 'http://one:7070', usedAt: later };
      const orphaned = { directory: 'dir_a', accountId: 'acct_removed', workspaceId: 'ws_1' };
      await records.change(async ({ workspaces, dataDirectories }) => {
        for (const row of [bound, free]) await workspaces.insert(row);
        for (const address of ['http://old:1', directory.address]) await dataDirectories.put({ ...directory, address });
        for (const row of [orphaned, orphaned]) await dataDirectories.addOrphaned(row);
        expect(await dataDirectories.claim(accountId, bound.id, 'dir_b')).toBe(false);
        expect(await dataDirectories.claim(accountId, free.id, 'dir_b')).toBe(true);
        expect(await workspaces.update({ ...bound, description: 'x', version: 2 })).toBe(true);
      });
      const read = () =>
        records.read(async ({ workspaces, dataDirectories }) => [
          (await workspaces.get(accountId, bound.id))?.directory,
          (await workspaces.get(accountId, free.id))?.directory,
          await dataDirectories.orphaned('dir_a'),
          await dataDirectories.orphaned('dir_b'),
        ]);
      expect(await read()).toStrictEqual(['dir_a', 'dir_b', [orphaned], []]);
      expect(await records.glance(({ dataDirectories }) => dataDirectories.all())).toStrictEqual([directory]);
      await records.change(async ({ dataDirectories }) => {
        expect(await dataDirectories.adopt('dir_a', 'dir_b')).toBe(1);
      });
      expect(await read()).toStrictEqual(['dir_b', 'dir_b', [], [{ ...orphaned, directory: 'dir_b' }]]);
      await records.change(({ dataDirectories }) =>
        dataDirectories.removeOrphaned({ ...orphaned, directory: 'dir_b' }),
      );
      expect((await read()).slice(2)).toStrictEqual([[], []]);
    });

    test('browser sessions are found by their hash, end once, and are limited by key', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const rows = Array.from({ length: 4 }, (_, index) =>
        browserSessionRow('acct_1', { createdAt: `2026-11-16T02:00:0${index}.000Z`, expiresAt: later }),
      );
      const other = browserSessionRow('acct_1', { keyId: 'key_2' });
      await records.change(async ({ browserSessions }) => {
        for (const row of [...rows, other]) await browserSessions.insert(row);
        await browserSessions.removeAllBut('acct_1', 'key_1', 2);
        await browserSessions.use(rows[3]!.hash, later);
      });
      const find = (hash: string) => records.read(({ browserSessions }) => browserSessions.byHash(hash));
      expect(await Promise.all([...rows, other].map(({ hash }) => find(hash)))).toStrictEqual([
        ...[undefined, undefined, rows[2]],
        ...[{ ...rows[3], usedAt: later }, other],
      ]);
      const remove = () => records.change(({ browserSessions }) => browserSessions.remove(rows[2]!.hash));
      expect((await Promise.all([remove(), remove(), remove()])).filter(Boolean)).toHaveLength(1);
      expect(await records.change(({ browserSessions }) => browserSessions.removeBefore(later))).toBe(1);
      expect([await find(other.hash), await find(rows[3]!.hash)]).toMatchObject([undefined, { hash: rows[3]!.hash }]);
    });

    test('the newest approval of a call is found, also if all have the same time', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      for (const _ of Array.from({ length: 8 })) {
        const row = approvalRow(accountId);
        await records.change((tables) => tables.approvals.insert(row));
        const newest = await records.read((tables) => tables.approvals.byHash(accountId, row.session, row.hash));
        expect(newest?.approvalId).toBe(row.approvalId);
      }
    });
  });
}
