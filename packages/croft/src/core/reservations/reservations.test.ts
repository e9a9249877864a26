import { expect, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import { openRecords } from '../../records/index.ts';
import type { Sandbox } from '../commands/sandbox.ts';
import { createReservations } from './reservations.ts';

const config = {
  ...({ provider: 'bubblewrap', permissionMode: 'bypass', runtimes: ['bash'], persistent: true } as const),
  network: { mode: 'deny-all' } as const,
};
const key = { accountId: 'acct_1', sandboxId: 'sb_1', workspaceId: 'ws_1', workspace: 'w' };

test('a server that stops does not wait for a sandbox that never opens', async () => {
  using directory = makeDirectory();
  await using records = await openRecords({ file: directory.at('records.db') });
  const reservations = createReservations({ records, now: () => new Date(), emit() {}, onWarning() {} });
  const asked = Promise.withResolvers<void>();
  const open = () => {
    asked.resolve();
    return new Promise<Sandbox>(() => {});
  };
  void reservations.use({ key, config, open });
  await asked.promise;
  await reservations.close();
  expect(reservations.findName(key)).toBeUndefined();
});
