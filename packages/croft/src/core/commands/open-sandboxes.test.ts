import { expect, test } from 'vitest';
import { createOpenSandboxes } from './open-sandboxes.ts';
import type { Sandbox } from './sandbox.ts';

const owner = { sandboxId: 'sb_1', workspaceId: 'ws_1', workspace: 'w', openedBy: 'agent_1' };
const limits = { memoryBytes: 1, processes: 1, fileBytes: 1, openFiles: 1, diskBytes: 1, cpus: 1 };

test('an account sees its own open sandboxes, until they close, and none of another with the same id', async () => {
  const { track, live } = createOpenSandboxes(() => new Date(0));
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const sandbox = { limits, closed } as unknown as Sandbox;
  await track({ ...owner, accountId: 'acct_ann' }, async () => sandbox);
  expect((await live('acct_ann', 'sb_1')).open).toMatchObject([{ workspaceId: 'ws_1' }]);
  expect((await live('acct_bob', 'sb_1')).open).toEqual([]);
  expect((await live('acct_ann', 'sb_2')).open).toEqual([]);
  close();
  await closed;
  expect((await live('acct_ann', 'sb_1')).open).toEqual([]);
});
