import { AppError } from '@croft/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { addAccount } from '../../../test/contracts/records-rows.ts';
import { connectPeers } from '../../../test/link/connect-peers.ts';
import { makeDirectory } from '../../../test/support/harness.ts';
import type { RunnerToken } from '../../core/accounts/ports/registry.ts';
import { openRecords } from '../../records/index.ts';
import { createPendingRemovals } from './pending-removals.ts';
import { createRemovalRetries } from './retry-removals.ts';
import type { RunnerLink } from './runner-link.ts';

type Connect = (token: RunnerToken, link: RunnerLink) => void;

/** Real records, and runners that answer as the test says. */
async function start(answer: (asked: string) => Promise<boolean>) {
  const directory = makeDirectory();
  const records = await openRecords({ file: directory.at('croft.db') });
  onTestFinished(async () => {
    await records[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });
  const [asked, reported]: [string[], string[]] = [[], []];
  let connect: Connect = () => {};
  const pending = createPendingRemovals({
    ...{ records, retryMs: 1000, onWarning() {} },
    emit: (event, toFields) => void reported.push(`${event.split('.').at(-1)} ${toFields().workspace}`),
  });
  const retries = createRemovalRetries({
    ...{ pending, onFailure: expect.unreachable },
    fleet: {
      onOnline(listener) {
        connect = listener;
      },
    },
    remote: {
      async remove({ accountId, id }, runner) {
        asked.push(`${runner} ${id}`);
        return answer(`${accountId} ${id}`);
      },
    },
  });
  return {
    ...{ records, asked, told: reported, retries },
    connect: (...of: Parameters<Connect>) => connect(...of),
    owe: async (accountId: string, workspaceId: string, runner = 'far') =>
      records.change(({ removals }) => removals.insert({ accountId, workspaceId, runner, createdAt: '2026-01-01' })),
    left: async (accountId: string) => (await pending.list(accountId, 'far')).map(({ workspaceId }) => workspaceId),
  };
}

function newLink(): RunnerLink {
  const [peer] = connectPeers();
  const rest = { id: 'link', capabilities: [], lastSeenAt: () => new Date(), onState() {}, close() {} };
  return { ...rest, peer, state: () => 'online' };
}

const toToken = (accountId: string): RunnerToken => ({ accountId, runnerId: 'key', name: 'far', createdAt: '' });

test('a machine that fails is asked a limited number of times per connection, and again over the next connection', async () => {
  let isAble = false;
  const {
    records,
    asked,
    told: reported,
    retries,
    connect,
    owe,
    left,
  } = await start(async () => {
    if (isAble) return true;
    throw new AppError('E_READ_ONLY', 'not now');
  });
  const accountId = await addAccount(records);
  await owe(accountId, 'ws_1');
  const [token, link] = [toToken(accountId), newLink()];
  connect(token, link);
  await expect.poll(() => asked).toEqual(['far ws_1']);
  for (const _ of Array.from({ length: 9 })) await retries.retryAll();
  expect(asked).toEqual(Array(3).fill('far ws_1'));
  isAble = true;
  connect(token, link);
  await expect.poll(() => reported).toEqual(['gone ws_1']);
  expect([await left(accountId), asked.length]).toEqual([[], 4]);
});

test('a machine is asked only about its own account and workspaces, and a refused removal is dropped', async () => {
  const {
    records,
    asked,
    told: reported,
    connect,
    owe,
    left,
  } = await start(async () => {
    throw new AppError('E_FORBIDDEN', 'its operator has it');
  });
  const [mine, theirs] = [await addAccount(records), await addAccount(records)];
  await owe(mine, 'ws_1');
  await owe(mine, 'ws_2', 'near');
  await owe(theirs, 'ws_3');
  connect(toToken(mine), newLink());
  await expect.poll(() => reported).toEqual(['left ws_1']);
  expect([asked, await left(mine), await left(theirs)]).toEqual([['far ws_1'], [], ['ws_3']]);
});
