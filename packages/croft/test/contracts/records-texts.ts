import { describe, expect, test } from 'vitest';
import type { PrepareRecords } from './records.ts';
import { addAccount, auditEntry, resourceRow, secretRow } from './records-rows.ts';

const kept = [
  ["'; DROP TABLE agents; --"],
  ['" OR ""="'],
  ['? ?? $1 $2 :name @name'],
  ['%_\\%'],
  ['\\x00 \\0 \u0001\u001f\u007f'],
  ['👩‍👩‍👧‍👦 é é \u202egnp.exe \ufeff'],
  ['\u{10ffff}\uffff\ufffd'],
  [''],
  [' \t\r\n '],
  ['null'],
  ['x'.repeat(512)],
  ['é'.repeat(256)],
] as const;

const refused = [
  ['a NUL', 'a\0b'],
  ['a NUL alone', '\0'],
  ['half a pair', 'a\ud800b'],
  ['the other half', '\udc00'],
  ['a name of 513 bytes', 'x'.repeat(513)],
  ['a name of 514 bytes in 257 characters', 'é'.repeat(257)],
] as const;

export function describeTexts(prepare: PrepareRecords): void {
  describe('texts', () => {
    test('are stored to the character, and are never part of a statement', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      for (const [text] of kept) {
        const row = resourceRow(accountId, { name: text, config: text, description: text });
        const secret = secretRow(accountId, { name: text, value: text });
        await records.change(async (tables) => {
          await tables.agents.insert(row);
          await tables.secrets.put(secret);
          await tables.references.replace(accountId, text, [text]);
          await tables.audit.append([auditEntry(text, { details: text })]);
        });
        await records.read(async (tables) => {
          expect(await tables.agents.byName(accountId, text)).toStrictEqual(row);
          expect(await tables.secrets.get(accountId, text)).toStrictEqual(secret);
          expect(await tables.references.usersOf(accountId, text, 9)).toEqual([text]);
          expect((await tables.audit.list({ accountId: text }, { limit: 9 })).rows).toMatchObject([{ details: text }]);
        });
      }
      expect(await records.read((tables) => tables.agents.count(accountId))).toBe(kept.length);
    });

    test('of megabytes are stored whole, and over sixteen megabytes refused', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const row = resourceRow(accountId, { config: 'né'.repeat(2 * 1024 * 1024) });
      await records.change((tables) => tables.agents.insert(row));
      const found = await records.read((tables) => tables.agents.get(accountId, row.id));
      expect(found?.config === row.config).toBe(true);
      const huge = resourceRow(accountId, { config: 'é'.repeat(8 * 1024 * 1024 + 1) });
      const insertion = records.change((tables) => tables.agents.insert(huge));
      await expect(insertion).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
    });

    test.each(refused)('with %s are refused, in writes and in queries', async (_, text) => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const code = 'E_INVALID_INPUT';
      const insertion = records.change((tables) => tables.agents.insert(resourceRow(accountId, { name: text })));
      await expect(insertion).rejects.toMatchObject({ code });
      await expect(records.change((tables) => tables.audit.append([auditEntry(text)]))).rejects.toMatchObject({ code });
      const put = records.change((tables) => tables.secrets.put(secretRow(accountId, { name: text })));
      await expect(put).rejects.toMatchObject({ code });
      const asked = records.read((tables) => tables.agents.byName(accountId, text));
      if (text.length > 100) await expect(asked).resolves.toBeUndefined();
      else await expect(asked).rejects.toMatchObject({ code });
      expect(await records.read((tables) => tables.agents.count(accountId))).toBe(0);
      expect((await records.read((tables) => tables.audit.list({}, { limit: 1 }))).rows).toEqual([]);
    });

    test('are ordered by their bytes', async () => {
      await using fixture = await prepare();
      const records = await fixture.open();
      const accountId = await addAccount(records);
      const names = ['~', 'b', 'A', 'a', '_', 'B', 'é', '10', '9', 'a b', '😀', '\uffff'];
      const sorted = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      await records.change(async (tables) => {
        for (const name of names) {
          await tables.secrets.put(secretRow(accountId, { name }));
          await tables.references.replace(accountId, name, ['sb_1', 'sb_1']);
        }
      });
      await records.read(async (tables) => {
        expect((await tables.secrets.list(accountId)).map(({ name }) => name)).toEqual(sorted);
        expect(await tables.references.usersOf(accountId, 'sb_1', 99)).toEqual(sorted);
        expect(await tables.references.usersOf(accountId, 'sb_1', 2)).toEqual(sorted.slice(0, 2));
      });
    });
  });
}
