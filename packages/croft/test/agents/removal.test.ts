import { chmodSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { mustBe, openAccount, startPlatform } from '../support/servers/platform.ts';

test('a workspace that was not opened since the start is removed with its files, history and caches', async () => {
  using data = makeDirectory();
  chmodSync(data.path, 0o711);
  const kept = () => ['workspaces', 'history', 'caches'].map((name) => readdirSync(data.at(name)).length);
  const first = await startPlatform(['--data', data.path]);
  const account = await first.newAccount();
  const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
  const [one, two] = [await account.newWorkspace(), await account.newWorkspace()];
  const workspaces = [
    { name: 'one', workspaceId: one },
    { name: 'two', workspaceId: two },
  ];
  const agentId = await account.newAgent({ sandbox, workspaces });
  for (const workspace of ['one', 'two']) {
    mustBe(200, await account.call(agentId, 'snapshot_create', { workspace, name: 'empty' }));
    mustBe(200, await account.call(agentId, 'bash', { workspace, command: 'echo x > ~/.cache/x; echo x > x' }));
  }
  const both = kept();
  await first[Symbol.asyncDispose]();

  await using second = await startPlatform(['--data', data.path]);
  const again = openAccount(second.url, account.secret, account.accountId);
  mustBe(200, await again.send('DELETE', `/v1/agents/${agentId}`));
  mustBe(200, await again.send('DELETE', `/v1/workspaces/${one}`));
  expect(kept()).toEqual(both.map((count) => count - 1));
});
