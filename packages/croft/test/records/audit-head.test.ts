import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createServerAuditTrail } from '../../src/app/records/server-audit-trail.ts';
import type { ChainLink } from '../../src/core/accounts/ports/audit-chain.ts';
import { openRecords } from '../../src/records/index.ts';
import { addAccount, auditEntry } from '../contracts/records-rows.ts';
import { makeDirectory } from '../support/harness.ts';

/** A trail whose reports of stored rows are held back until `release`, as on a busy server. */
async function open() {
  const directory = makeDirectory();
  const [file, warnings] = [directory.at('records.db'), [] as string[]];
  const ring = [{ id: 'k1', key: randomBytes(32) }];
  const trail = createServerAuditTrail({ data: directory.path, ring, onWarning: (words) => warnings.push(words) });
  const held: [ChainLink, ChainLink][] = [];
  let isHolding = false;
  const records = await openRecords({
    file,
    audit: {
      hash: trail.keeper.hash,
      onStored: (rows, from, to) => void (isHolding ? held.push([from, to]) : trail.keeper.onStored(rows, from, to)),
    },
  });
  const accountId = await addAccount(records);
  const append = () => records.recordCall({ entries: [auditEntry(accountId)] });
  await append();
  await trail.checkHead(records);
  return {
    ...{ trail, records, warnings, append, file },
    hold(): void {
      isHolding = true;
    },
    release(): void {
      for (const [from, to] of held.splice(0)) trail.keeper.onStored(records, from, to);
    },
    async [Symbol.asyncDispose]() {
      await trail.flush(records);
      await records[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

test.each([1, 3])('rows that a check sees before they are reported (%i) are no cut trail', async (count) => {
  await using fixture = await open();
  const { trail, records, warnings, append } = fixture;
  fixture.hold();
  for (let row = 0; row < count; row += 1) await append();
  await trail.checkHead(records);
  fixture.release();
  await trail.flush(records);
  expect(warnings.filter((words) => words.includes('cut'))).toEqual([]);
  expect(await trail.verify(records)).toMatchObject({ isWhole: true, problems: [] });
});

test('a trail that was cut and continued is noticed', async () => {
  await using fixture = await open();
  const { trail, records, warnings, append, file } = fixture;
  for (let row = 0; row < 3; row += 1) await append();
  await trail.flush(records);
  using database = new DatabaseSync(file);
  database.exec('DELETE FROM audit WHERE sequence > 2');
  await append();
  await trail.flush(records);
  expect(warnings.filter((words) => words.includes('the audit trail was cut'))).toHaveLength(1);
});
