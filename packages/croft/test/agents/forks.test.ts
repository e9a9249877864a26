import { chmodSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { canOverlay, mountsIn, unmountBelow } from '../history/layers-fixture.ts';
import { makeDirectory } from '../support/harness.ts';
import { type Account, openAccount, type Platform, startPlatform } from '../support/servers/platform.ts';

let platform: Platform;
let account: Account;
beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount();
}, 60_000);
afterAll(() => platform[Symbol.asyncDispose]());

/** An agent with a workspace that it may change, and what is needed to look. */
async function newAgent(permissionMode = 'bypass') {
  const sandbox = await account.newSandbox({ permissionMode });
  const workspaceId = await account.newWorkspace();
  const agentId = await account.newAgent({ sandbox, workspaces: [{ name: 'main', workspaceId }] });
  const call = (tool: string, input: object = {}) => account.call(agentId, tool, input);
  const read = async (workspace: string, path: string) =>
    (await call('bash', { workspace, command: `cat ${path}` })).body.output;
  return { sandbox, workspaceId, agentId, call, read };
}

describe('an agent that forks its workspace', () => {
  test('has the fork from then on, works in it, and merges it', async () => {
    const { agentId, workspaceId, call, read } = await newAgent();
    await call('write', { file_path: 'a.txt', content: 'one\n' });
    const forked = await call('workspace_fork', { name: 'agent-try' });
    expect(forked.status, JSON.stringify(forked.body)).toBe(200);
    const { workspaceId: forkId } = forked.body;
    expect(forkId).toMatch(/^ws_/);
    expect(forkId).not.toBe(workspaceId);
    const record = await account.send('GET', `/v1/workspaces/${forkId}`);
    expect(record.body.config).toMatchObject({ forkOf: workspaceId });
    const agent = await account.send('GET', `/v1/agents/${agentId}`);
    expect(agent.body.config.workspaces.map(({ name }: { name: string }) => name)).toEqual(['main', 'agent-try']);

    expect(await read('agent-try', 'a.txt')).toBe('one\n');
    await call('bash', { workspace: 'agent-try', command: 'echo two > a.txt; echo new > b.txt' });
    expect(await read('main', 'a.txt')).toBe('one\n');
    const merged = await call('workspace_merge', { workspace: 'main', fork: 'agent-try' });
    expect(merged.status, JSON.stringify(merged.body)).toBe(200);
    expect(await read('main', 'a.txt')).toBe('two\n');
    expect(await read('main', 'b.txt')).toBe('new\n');

    const removed = await call('workspace_remove', { workspace: 'main', fork: 'agent-try' });
    expect(removed.status, JSON.stringify(removed.body)).toBe(200);
    expect((await account.send('GET', `/v1/workspaces/${forkId}`)).status).toBe(404);
    expect(mountsIn(platform.data)).toEqual([]);
    expect(await read('main', 'a.txt')).toBe('two\n');
  });

  test('is the only agent that can reach the fork, also by its name', async () => {
    const one = await newAgent();
    await one.call('write', { file_path: 'secret.txt', content: 'of one\n' });
    const other = await account.newAgent({
      sandbox: one.sandbox,
      workspaces: [{ name: 'main', workspaceId: one.workspaceId }],
    });
    await one.call('workspace_fork', { name: 'only-mine' });
    expect((await account.call(other, 'list', { workspace: 'only-mine' })).status).not.toBe(200);
    const merge = await account.call(other, 'workspace_merge', { fork: 'only-mine' });
    expect(merge.status).toBe(404);
    const stranger = await platform.newAccount('bob');
    expect((await stranger.send('GET', `/v1/workspaces/${one.workspaceId}/forks`)).status).toBe(404);
  });

  test('needs the same approvals in the fork as in the workspace', async () => {
    const { workspaceId, sandbox } = await newAgent('edit');
    const forked = await account.send('POST', `/v1/workspaces/${workspaceId}/forks`, { name: 'for-edit' });
    expect(forked.status, JSON.stringify(forked.body)).toBe(201);
    const agentId = await account.newAgent({ sandbox, workspaces: [{ name: 'main', workspaceId }] });
    const made = await account.call(agentId, 'workspace_fork', { name: 'edit-try' });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    const asked = await account.call(agentId, 'bash', { workspace: 'edit-try', command: 'true' });
    expect(asked.status).toBe(202);
    const reader = await account.newAgent({ workspaces: [{ name: 'main', workspaceId }] });
    expect((await account.call(reader, 'workspace_fork', { name: 'reader-try' })).status).not.toBe(200);
  });
});

test('a transaction belongs to one session of one agent, and another with the same session name cannot use it', async () => {
  const one = await newAgent();
  const workspaces = [{ name: 'main', workspaceId: one.workspaceId }];
  const other = await account.newAgent({ sandbox: one.sandbox, workspaces });
  const session = { 'croft-session': 'same' };
  const begun = await account.call(one.agentId, 'bash', { command: 'echo x > x', transaction: true }, session);
  const { transaction } = begun.body.changes;
  expect((await account.call(other, 'transaction_commit', { transaction }, session)).status).toBe(404);
  expect((await account.call(other, 'transaction_discard', { transaction }, session)).status).toBe(404);
  expect((await account.call(one.agentId, 'transaction_commit', { transaction }, session)).status).toBe(200);
});

describe('forks over REST', () => {
  test('are made, listed and merged, also from a snapshot, and a conflict changes nothing', async () => {
    const { workspaceId, call, read } = await newAgent();
    await call('write', { file_path: 'a', content: 'old\n' });
    await account.send('POST', `/v1/workspaces/${workspaceId}/snapshots`, { name: 'then' });
    await call('bash', { command: 'echo new > a' });
    const made = await account.send('POST', `/v1/workspaces/${workspaceId}/forks`, {
      name: 'rest-fork',
      snapshot: 'then',
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const { workspaceId: forkId } = made.body.fork;
    const listed = await account.send('GET', `/v1/workspaces/${workspaceId}/forks`);
    expect(listed.body.forks).toEqual([made.body.fork]);
    const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
    const other = await account.newAgent({ sandbox, workspaces: [{ name: 'fork', workspaceId: forkId }] });
    const shown = await account.call(other, 'bash', { command: 'cat a; echo forked > a; echo b > b' });
    expect(shown.body.output).toBe('old\n');
    const path = `/v1/workspaces/${workspaceId}/merge`;
    const refused = await account.send('POST', path, { fork: 'rest-fork' });
    expect(refused.status).toBe(409);
    expect(await read('main', 'a')).toBe('new\n');
    const merged = await account.send('POST', path, { fork: 'rest-fork', onConflict: 'ours' });
    expect(merged.body).toMatchObject({ added: ['b'], conflicts: [{ path: 'a', reason: 'both changed' }] });
    expect(await read('main', 'a')).toBe('new\n');
    expect((await account.send('DELETE', `/v1/workspaces/${forkId}`)).status).toBe(409);
    await account.send('DELETE', `/v1/agents/${other}`);
    expect((await account.send('DELETE', `/v1/workspaces/${forkId}`)).status).toBe(200);
    expect((await account.send('GET', `/v1/workspaces/${workspaceId}/forks`)).body.forks).toEqual([]);
  });

  test('refuse unknown names and snapshots with clear errors', async () => {
    const { workspaceId } = await newAgent();
    const path = `/v1/workspaces/${workspaceId}/forks`;
    for (const body of [{}, { name: '' }, { name: '../x' }, { name: 'all' }])
      expect((await account.send('POST', path, body)).status).toBe(400);
    expect((await account.send('POST', path, { name: 'x', snapshot: 'absent' })).status).toBe(404);
    expect((await account.send('POST', `/v1/workspaces/${workspaceId}/merge`, { fork: 'absent' })).status).toBe(404);
  });
});

test.runIf(canOverlay)('a fork is there again after the server was killed and its mounts are gone', async () => {
  const data = makeDirectory();
  chmodSync(data.path, 0o711);
  onTestFinished(() => data[Symbol.dispose]());
  onTestFinished(() => unmountBelow(data.path));
  const first = await startPlatform(['--data', data.path]);
  account = await first.newAccount();
  const agent = await newAgent();
  await agent.call('write', { file_path: 'a', content: 'a\n' });
  await agent.call('workspace_fork', { name: 'lasting' });
  await agent.call('bash', { workspace: 'lasting', command: 'echo mine > mine' });
  await first[Symbol.asyncDispose]();
  expect(mountsIn(data.path)).toHaveLength(1);
  unmountBelow(data.path);
  await using second = await startPlatform(['--data', data.path]);
  const again = openAccount(second.url, account.secret, account.accountId);
  const { body } = await again.call(agent.agentId, 'bash', { workspace: 'lasting', command: 'cat a mine' });
  expect(body.output, JSON.stringify(body)).toBe('a\nmine\n');
});
