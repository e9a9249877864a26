import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { findBreak } from '../../src/core/accounts/ports/audit-chain.ts';
import type { AuditRow } from '../../src/core/accounts/ports/call-tables.ts';
import type { Records } from '../../src/core/accounts/ports/records.ts';
import type { PrepareRecords, RecordsFixture } from './records.ts';
import { addAccount } from './records-rows.ts';

const writer = join(import.meta.dirname, '../fixtures/records-writer.ts');

export function describeKills(prepare: PrepareRecords): void {
  describe('kill −9', () => {
    test('of servers during changes loses no acknowledged change', async () => {
      await using fixture = await prepare();
      const accountId = await addAccount(await fixture.open());
      const acknowledged: string[] = [];
      for (const count of [1, 40, 133]) {
        const both = [count, count + 7].map((enough) => writeUntilKilled(fixture, accountId, enough));
        acknowledged.push(...(await Promise.all(both)).flat());
        // Opened again, as after a crash: incomplete changes are repaired and work goes on.
        const records = await fixture.open();
        await checkStored(records, accountId, acknowledged);
        await records[Symbol.asyncDispose]();
      }
      expect(acknowledged.length).toBeGreaterThan(300);
    });
  });
}

/** Returns what a process acknowledged before it was killed, which is after `enough` lines. */
async function writeUntilKilled(fixture: RecordsFixture, accountId: string, enough: number): Promise<string[]> {
  const child = spawn(process.execPath, [writer, JSON.stringify(fixture.options), accountId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines: string[] = [];
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (lines.length === enough) child.kill('SIGKILL');
    }
  } finally {
    child.kill('SIGKILL');
  }
  expect(await exited).toEqual([null, 'SIGKILL']);
  expect(lines.length).toBeGreaterThanOrEqual(enough);
  return lines;
}

/** Both halves of each change exist or neither does, and the audit chain holds. */
async function checkStored(records: Records, accountId: string, acknowledged: readonly string[]): Promise<void> {
  const { audit, secrets } = await records.read(async (tables) => {
    const rows: AuditRow[] = [];
    for (let after: string | undefined; ; ) {
      const page = await tables.audit.list({}, { limit: 1000, after });
      rows.push(...page.rows);
      after = page.next;
      if (after === undefined) return { audit: rows, secrets: await tables.secrets.list(accountId) };
    }
  });
  expect(findBreak(audit)).toBeUndefined();
  const names = new Set(secrets.map(({ name }) => name));
  expect(audit.map(({ target }) => target).toSorted()).toEqual([...names].toSorted());
  expect(acknowledged.filter((name) => !names.has(name))).toEqual([]);
}
