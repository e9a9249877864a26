import { closeSync, constants, openSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLanguageServersOfWorkspaces } from '../../src/app/workspaces/language-servers-of-workspaces.ts';
import { createDiskFiles } from '../../src/disk/disk-files.ts';
import { createBubblewrap } from '../../src/providers/bubblewrap/provider.ts';
import { makeDirectory } from '../support/harness.ts';
import { operator } from '../support/sandboxes/open-sandbox.ts';
import { mustBe, startPlatform } from '../support/servers/platform.ts';

test('nothing is kept of a workspace whose code nobody asks about any more, and the next question opens it again', async () => {
  const fixture = makeDirectory({ 'a.ts': 'export const one = 1;\n' });
  const handle = openSync(fixture.path, constants.O_RDONLY | constants.O_DIRECTORY);
  const servers = createLanguageServersOfWorkspaces({
    ...{ mode: 'full', provider: createBubblewrap(operator), readable: [], emit: () => {}, idleMs: 50 },
  });
  onTestFinished(async () => {
    await servers.close();
    closeSync(handle);
    fixture[Symbol.dispose]();
  });
  const files = createDiskFiles({ handle, names: [fixture.path] });
  const ownWorkspace = {
    name: 'w',
    root: '/workspaces/w',
    key: 'w',
    directoryFd: () => handle,
    mustBeThere() {},
    files,
  };
  const code = servers.of(ownWorkspace, 'full');
  const first = await code.treeVersion();
  expect(servers.size()).toBe(1);
  await vi.waitFor(() => expect(servers.size()).toBe(0));
  expect(await code.treeVersion()).not.toBe(first);
});

test('a language server is one of the sandboxes of its account', async () => {
  await using platform = await startPlatform(['--account-limit', 'sandboxes=1']);
  const account = await platform.newAccount('counted');
  const workspaceId = await account.newWorkspace();
  const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
  const agent = await account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
  const call = (tool: string, input: object) => account.call(agent, tool, input);
  mustBe(200, await call('write', { file_path: 'a.ts', content: 'export const one = 1;\nexport const two = one;\n' }));
  mustBe(200, await call('bash', { command: 'true' }));
  const asked = await call('hover', { file_path: 'a.ts', line: 2, symbol: 'one' });
  expect(JSON.stringify(asked.body)).toContain('sandboxes open, which is its limit');
});
