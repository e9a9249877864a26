import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { startFaultyCable } from '../support/faults/faulty-cable.ts';
import { addAccount, kill, moveTo, openInstallation } from '../support/servers/installation.ts';
import { type Account, mustBe } from '../support/servers/platform.ts';
import { addRemote, agentOn, untilRunner } from './runner-fixture.ts';

type Fields = Record<string, string>;

/** The fields of all `lifecycle.workspace.<name>` events in a file, which several servers append to. */
function eventsIn(file: string, name: string): Fields[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const events = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === `lifecycle.workspace.${name}`);
  return events.map(({ fields }) => fields);
}

const madeOn = ({ root }: { root: string }) => readdirSync(join(root, 'workspaces'));

async function write(account: Account, agentId: string, content: string): Promise<void> {
  mustBe(200, await account.call(agentId, 'write', { file_path: 'a.txt', content }));
}

const read = async (account: Account, agentId: string): Promise<string> =>
  mustBe(200, await account.call(agentId, 'read', { file_path: 'a.txt' })).content;

test('files on an offline runner are removed when it reconnects, but not a new workspace of the same name', async () => {
  await using ownInstallation = openInstallation();
  const events = ownInstallation.at('events');
  const server = await ownInstallation.start(['--events', events]);
  const account = await addAccount(server, 'owner');
  await using far = await addRemote(account);
  const other = await agentOn(account, { runner: 'far' });
  await write(account, far.agentId, 'old\n');
  await write(account, other.agentId, 'new\n');
  const { name } = mustBe(200, await account.send('GET', `/v1/workspaces/${far.workspaceId}`));
  await far.runner.stop('SIGTERM');
  await untilRunner(account, 'far', 'offline');
  mustBe(200, await account.send('DELETE', `/v1/agents/${far.agentId}`));
  mustBe(200, await account.send('DELETE', `/v1/workspaces/${far.workspaceId}`));
  const reported = { account: account.accountId, workspace: far.workspaceId, runner: 'far' };
  expect(eventsIn(events, 'left')).toMatchObject([{ ...reported, until: expect.stringMatching(/^\d{4}-.*Z$/) }]);
  // One that has files there gets the name, and so does one that is made there after it.
  mustBe(200, await account.send('PATCH', `/v1/workspaces/${other.workspaceId}`, { name }));

  far.runner.restart();
  await vi.waitFor(() => expect(eventsIn(events, 'gone')).toEqual([reported]));
  expect(madeOn(far.runner)).toHaveLength(1);
  expect(await read(account, other.agentId)).toBe('new\n');
  mustBe(200, await account.send('PATCH', `/v1/workspaces/${other.workspaceId}`, { name: 'another' }));
  const workspaceId = await account.newWorkspace({}, name);
  const again = await account.newAgent({ sandbox: other.sandboxId, workspaces: [{ name: 'main', workspaceId }] });
  await write(account, again, 'anew\n');

  // Over the next connection nothing is asked for that was done.
  await far.runner.stop('SIGTERM');
  await untilRunner(account, 'far', 'offline');
  far.runner.restart();
  await untilRunner(account, 'far');
  expect([await read(account, other.agentId), await read(account, again)]).toEqual(['new\n', 'anew\n']);
  expect(eventsIn(events, 'gone')).toEqual([reported]);
});

test('a pending removal survives the death of the server', async () => {
  await using ownInstallation = openInstallation();
  const events = ownInstallation.at('events');
  const server = await ownInstallation.start(['--events', events]);
  const account = await addAccount(server, 'owner');
  await using between = await startFaultyCable(server.url);
  await using far = await addRemote(account, { url: between.url });
  await write(account, far.agentId, 'old\n');
  mustBe(200, await account.send('DELETE', `/v1/agents/${far.agentId}`));
  // It is connected and does nothing more: both are killed while the server waits for it.
  far.runner.child.kill('SIGSTOP');
  const path = `/v1/workspaces/${far.workspaceId}`;
  const removing = account.send('DELETE', path).catch(() => undefined);
  await vi.waitFor(async () => expect((await account.send('GET', path)).status).toBe(404));
  await kill(server);
  await removing;
  await far.runner.stop('SIGKILL');
  expect(madeOn(far.runner)).toHaveLength(1);

  const next = await ownInstallation.start(['--events', events]);
  between.aim(next.url);
  far.runner.restart();
  await untilRunner(moveTo(next, account), 'far');
  await vi.waitFor(() => expect(eventsIn(events, 'gone')).toMatchObject([{ workspace: far.workspaceId }]));
  expect(madeOn(far.runner)).toEqual([]);
});
