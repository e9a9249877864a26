import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import type { Records } from '../../src/core/accounts/ports/records.ts';
import { openRecords } from '../../src/records/index.ts';
import { addAccount } from '../contracts/records-rows.ts';
import { makeDirectory } from '../support/harness.ts';
import { canMountDisks, freeOf, mountDisk } from '../support/small-disk.ts';

const megabyte = 1024 * 1024;

/** Stores many times the size of the log, and then new rows for most of the reserved space in the database. */
async function storeALot(records: Records, accountId: string): Promise<void> {
  const put = (names: readonly string[], value: string) =>
    records.change(async ({ secrets }) => {
      for (const name of names) await secrets.put({ accountId, name, value, updatedAt: 'now' });
    });
  for (let index = 0; index < 600; index++) await put([`again${index % 5}`], 'x'.repeat(20_000));
  for (let index = 0; index < 100; index++)
    await put(
      Array.from({ length: 20 }, (_, more) => `new${index}-${more}`),
      'x'.repeat(1000),
    );
}

/** Takes every block of the disk. The filesystem keeps some back until a file is synced. */
function fill(disk: string): void {
  const once = `cat /dev/zero >> ${disk}/filler; sync ${disk}/filler`;
  execFileSync('sh', ['-c', `for n in 1 2 3; do ${once}; done || true`], { stdio: 'ignore' });
  expect(freeOf(disk)).toBeLessThan(megabyte / 8);
}

describe.skipIf(!canMountDisks())('records on a full disk', () => {
  test('are stored in the blocks that they own, and all of them are there afterwards', async () => {
    using directory = makeDirectory();
    const disk = mountDisk(directory, 'disk', '64M');
    const file = `${disk}/records.db`;
    const accountId = await (async () => {
      await using records = await openRecords({ file, reservedBytes: 4 * megabyte });
      const added = await addAccount(records);
      await vi.waitFor(() => expect(statSync(file).blocks * 512).toBeGreaterThan(4 * megabyte));
      fill(disk);
      await storeALot(records, added);
      return added;
    })();
    await using records = await openRecords({ file });
    expect(await records.read(({ secrets }) => secrets.list(accountId))).toHaveLength(2005);
  });

  test('are refused without free blocks, with the next step', async () => {
    using directory = makeDirectory();
    const disk = mountDisk(directory, 'disk', '64M');
    await using records = await openRecords({ file: `${disk}/records.db` });
    const accountId = await addAccount(records);
    fill(disk);
    await expect(storeALot(records, accountId)).rejects.toMatchObject({
      code: 'E_STORAGE_FULL',
      hint: expect.stringMatching(/^Nothing was stored\. .*operator/),
    });
    execFileSync('rm', [`${disk}/filler`]);
    await storeALot(records, accountId);
  });
});
