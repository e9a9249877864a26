import { existsSync, globSync, readdirSync, readFileSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAgentSessions } from '../../src/app/agent-sessions.ts';
import { findSpare } from '../../src/app/stale-runtimes.ts';
import { tighten } from '../../src/core/accounts/fence.ts';
import { createSession, type Session } from '../../src/core/session.ts';
import type { SessionMemory } from '../../src/core/session-memory.ts';
import { newChildName } from '../../src/core/session-name.ts';
import { cacheAt } from '../../src/lib/cache-directory.ts';
import { measureTree } from '../../src/lib/measure-tree.ts';
import { createConnectionRoom } from '../../src/mcp/connection-room.ts';
import { openRecords } from '../../src/records/index.ts';
import { createKeptWorkspaces } from '../../src/storages/kept.ts';
import { eras, makeDirectory } from '../harness.ts';
import { type Account, connectAgent, mustBe, openAccount, type Platform, startPlatform } from './ground.ts';

interface Remembered {
  readonly session: Session;
  readonly memory: SessionMemory;
}

let platform: Platform;
let account: Account;

beforeAll(async () => {
  platform = await startPlatform(['--approval-wait', '20']);
  account = await platform.newAccount();
});

afterAll(() => platform[Symbol.asyncDispose]());

async function newAgent(permissionMode: string, names = ['w']) {
  const sandboxId = await account.newSandbox({ permissionMode });
  const workspaces = [];
  for (const name of names) workspaces.push({ name, workspaceId: await account.newWorkspace() });
  return { sandboxId, workspaces, agentId: await account.newAgent({ sandbox: sandboxId, workspaces }) };
}

async function newKey(scopes: string[], name: string) {
  const { key, secret } = mustBe(201, await account.send('POST', '/v1/keys', { name, scopes }));
  return { keyId: key.keyId as string, ...openAccount(account.url, secret, account.accountId) };
}

async function approvePending(agentId: string): Promise<number> {
  const { approvals } = (await account.send('GET', `/v1/approvals?state=pending&agentId=${agentId}`)).body;
  for (const { approvalId } of approvals) await account.approve(approvalId);
  return approvals.length;
}

/** Whether a program of that name runs anywhere on this machine, started by this test and not by another run of it. */
function isRunning(name: string): boolean {
  return globSync('/proc/[0-9]*/cmdline').some((file) => {
    try {
      return readFileSync(file, 'utf8').startsWith(`${name}-${process.pid}\0`);
    } catch {
      return false;
    }
  });
}

describe('what a person agreed to', () => {
  test('is not run in another directory by going there first', async () => {
    const { agentId } = await newAgent('ask');
    const inDirectory = async (path: string) => mustBe(200, await account.call(agentId, 'cd', { path }));
    const { approval: made } = mustBe(202, await account.call(agentId, 'bash', { command: 'mkdir a b' }));
    await account.approve(made.approvalId);
    mustBe(200, await account.call(agentId, 'bash', { command: 'mkdir a b' }));

    await inDirectory('a');
    const { approval } = mustBe(202, await account.call(agentId, 'bash', { command: 'rm -rf *' }));
    expect(approval).toMatchObject({ preview: 'rm -rf *', workspace: expect.stringMatching(/^w \(ws_\w+\), in "a"$/) });
    await account.approve(approval.approvalId, { scope: 'session' });
    await inDirectory('/workspaces/w/b');
    expect((await account.call(agentId, 'bash', { command: 'rm -rf *' })).status).toBe(202);
    const claim = { 'croft-approval': approval.approvalId };
    const claimed = await account.call(agentId, 'bash', { command: 'rm -rf *' }, claim);
    expect(claimed.body.error.code).toBe('E_APPROVAL_MISMATCH');
    await inDirectory('/workspaces/w/a');
    mustBe(200, await account.call(agentId, 'bash', { command: 'rm -rf *' }, claim));
  });

  test('is not run in another directory by going there while they were asked', async () => {
    const { agentId } = await newAgent('edit');
    await using agent = await connectAgent(account, agentId, { session: 'mover' });
    expect(await agent.call('write', { file_path: 'sub/a.txt', content: '' })).toMatchObject({ isError: false });
    const running = agent.call('bash', { command: 'pwd' });
    await expect
      .poll(async () => (await account.send('GET', `/v1/approvals?agentId=${agentId}`)).body.approvals.length)
      .toBe(1);
    expect(await agent.call('cd', { path: 'sub' })).toMatchObject({ isError: false });
    await approvePending(agentId);
    expect((await running).structured.output).toBe('/workspaces/w\n');
  });

  test('is not needed less because a sandbox runs what the agent wrote when it opens', async () => {
    const sandbox = await account.newSandbox({
      permissionMode: 'edit',
      persistent: true,
      onCreate: ['sh ./set-up.sh'],
    });
    const workspaces = [{ name: 'w', workspaceId: await account.newWorkspace() }];
    const agentId = await account.newAgent({ sandbox, workspaces });
    mustBe(200, await account.call(agentId, 'write', { file_path: 'set-up.sh', content: 'touch evil' }));
    for (const path of ['~', '/tmp', '~/..', '/workspaces/w/../../tmp']) await account.call(agentId, 'cd', { path });
    for (const [tool, input] of Object.entries({ grep: { pattern: 'x' }, glob: { pattern: '*' }, list: {} }))
      mustBe(200, await account.call(agentId, tool, input));
    expect(mustBe(200, await account.call(agentId, 'glob', { pattern: 'evil' })).paths).toEqual([]);
    const { approval } = mustBe(202, await account.call(agentId, 'bash', { command: 'ls' }));
    await account.approve(approval.approvalId);
    expect(mustBe(200, await account.call(agentId, 'bash', { command: 'ls' })).output).toContain('evil');
    expect(mustBe(200, await account.call(agentId, 'cd', { path: '~' })).path).toBe('/home/croft');
  });

  test('says which secrets a command is given', async () => {
    const { agentId } = await newAgent('ask');
    mustBe(200, await account.send('PUT', '/v1/secrets/deploy', { value: 'not-to-be-shown-anywhere' }));
    const bash = mustBe(202, await account.call(agentId, 'bash', { command: 'env', secrets: ['deploy'] }));
    expect(bash.approval.preview).toBe('with the secrets deploy:\nenv');
    const run = mustBe(202, await account.call(agentId, 'run_command', { cmd: 'env', secrets: ['deploy'] }));
    expect(run.approval.preview).toBe('with the secrets deploy:\n"env"');
  });

  test('is not done any more once the agent has lost what it would be done with', async () => {
    const { agentId, workspaces } = await newAgent('ask');
    await using agent = await connectAgent(account, agentId, { session: 'late' });
    const running = agent.call('write', { file_path: 'late.txt', content: '' });
    await expect
      .poll(async () => (await account.send('GET', `/v1/approvals?agentId=${agentId}`)).body.approvals.length)
      .toBe(1);
    const readOnly = { config: { workspaces: workspaces.map((one) => ({ ...one, sandbox: null })) } };
    mustBe(200, await account.send('PATCH', `/v1/agents/${agentId}`, readOnly));
    await approvePending(agentId);
    expect(await running.catch(() => ({ isError: true }))).toMatchObject({ isError: true });
    expect(mustBe(200, await account.call(agentId, 'glob', { pattern: '*' })).paths).toEqual([]);
  });

  test('is not done any more for a key that was revoked meanwhile', async () => {
    const { agentId } = await newAgent('ask');
    const key = await newKey(['call'], 'revoked');
    await using agent = await connectAgent(key, agentId, { era: '2025' });
    const running = agent.call('write', { file_path: 'late.txt', content: '' });
    await expect
      .poll(async () => (await account.send('GET', `/v1/approvals?agentId=${agentId}`)).body.approvals.length)
      .toBe(1);
    mustBe(200, await account.send('DELETE', `/v1/keys/${key.keyId}`));
    await approvePending(agentId);
    expect(await running.catch(() => ({ isError: true }))).toMatchObject({ isError: true });
    expect(mustBe(200, await account.call(agentId, 'glob', { pattern: '*' })).paths).toEqual([]);
    await expect(agent.call('glob', { pattern: '*' })).rejects.toThrow('E_UNAUTHORIZED');
  });

  test.each(eras)('is not said by a client whose key may only call (%s)', async (era) => {
    const { agentId } = await newAgent('ask');
    const model = await newKey(['call'], `model-${era}`);
    const asked: string[] = [];
    await using agent = await connectAgent(model, agentId, {
      era,
      onAsked(message) {
        asked.push(message);
        return { action: 'accept', content: { decision: 'approve' } };
      },
    });
    const running = agent.call('write', { file_path: 'a.txt', content: '' });
    await expect
      .poll(async () => (await account.send('GET', `/v1/approvals?agentId=${agentId}`)).body.approvals.length)
      .toBe(1);
    const [{ approvalId, state }] = (await account.send('GET', `/v1/approvals?agentId=${agentId}`)).body.approvals;
    expect(state).toBe('pending');
    mustBe(200, await account.deny(approvalId));
    expect(await running).toMatchObject({ structured: { error: { code: 'E_APPROVAL_DENIED' } } });
    expect(asked).toEqual([]);
  });
});

describe('what runs ends', () => {
  const start = (by: Account, agentId: string, name: string, session = 'default') =>
    by.call(
      agentId,
      'bash',
      { command: `exec -a ${name}-${process.pid} sleep 600`, run_in_background: true },
      { 'croft-session': session },
    );

  test('when the agent loses its sandbox, also in sessions that do not call again', async () => {
    const { agentId } = await newAgent('bypass');
    const child = mustBe(201, await account.send('POST', `/v1/agents/${agentId}/sessions`, { workspaces: ['w'] }));
    mustBe(200, await start(account, agentId, 'doomed-own'));
    mustBe(200, await start(account, agentId, 'doomed-child', child.session));
    await expect.poll(() => isRunning('doomed-own') && isRunning('doomed-child')).toBe(true);
    mustBe(200, await account.send('PATCH', `/v1/agents/${agentId}`, { config: { sandbox: null } }));
    await expect.poll(() => isRunning('doomed-own') || isRunning('doomed-child')).toBe(false);
  });

  test('when its sandbox gets another fence', async () => {
    const { agentId, sandboxId } = await newAgent('bypass');
    mustBe(200, await start(account, agentId, 'doomed-fence'));
    await expect.poll(() => isRunning('doomed-fence')).toBe(true);
    mustBe(200, await account.send('PATCH', `/v1/sandboxes/${sandboxId}`, { config: { permissionMode: 'ask' } }));
    await expect.poll(() => isRunning('doomed-fence')).toBe(false);
  });

  test('when the key that started it is revoked, and only then', async () => {
    const { agentId } = await newAgent('bypass');
    const [one, other] = [await newKey(['call'], 'goes'), await newKey(['call'], 'stays')];
    mustBe(200, await start(one, agentId, 'doomed-key'));
    mustBe(200, await start(other, agentId, 'other-key'));
    await expect.poll(() => isRunning('doomed-key') && isRunning('other-key')).toBe(true);
    mustBe(200, await account.send('DELETE', `/v1/keys/${one.keyId}`));
    await expect.poll(() => isRunning('doomed-key')).toBe(false);
    expect(isRunning('other-key')).toBe(true);
    mustBe(200, await account.send('DELETE', `/v1/agents/${agentId}`));
    await expect.poll(() => isRunning('other-key')).toBe(false);
  });
});

describe('sessions', () => {
  test('of another key are not ended by one that may only call', async () => {
    const { agentId } = await newAgent('bypass');
    const [victim, model] = [await newKey(['call'], 'victim'), await newKey(['call'], 'attacker')];
    mustBe(200, await victim.call(agentId, 'glob', { pattern: '*' }));
    const path = `/v1/agents/${agentId}/sessions/${encodeURIComponent(`${victim.keyId}/default`)}`;
    expect((await model.send('DELETE', path)).status).toBe(404);
    mustBe(200, await account.send('DELETE', path));
  });

  test('that were a child’s do not come back without its fence', async () => {
    using directory = makeDirectory();
    await using records = await openRecords({ file: join(directory.path, 'croft.db') });
    const sessions = createAgentSessions({ records, maxSessions: 10, now: () => new Date() });
    const owner = { accountId: 'acct_1', agentId: 'agent_1' };
    // As when it is ended between the first look of a call at its fence and the next.
    const id = `key_1/${newChildName()}`;
    const session = createSession(id, { sandboxIdleMs: 1000, openSandbox: () => Promise.reject(new Error('none')) });
    const memory = sessions.memoryOf(owner, id);
    await memory.refresh(session);
    await memory.keep(session);
    await expect(sessions.fenceOf(owner, id)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    expect((await sessions.list(owner, { limit: 10 })).rows).toEqual([]);
  });

  test('of a child whose state says nothing of a fence have nothing at all', async () => {
    using directory = makeDirectory();
    await using records = await openRecords({ file: join(directory.path, 'croft.db') });
    const sessions = createAgentSessions({ records, maxSessions: 10, now: () => new Date() });
    const row = { accountId: 'acct_1', agentId: 'agent_1', session: `key_1/${newChildName()}`, version: 1 };
    const usedAt = new Date().toISOString();
    await records.change((tables) => tables.sessions.put({ ...row, state: '{}', usedAt }));
    await expect(sessions.fenceOf(row, row.session)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });

  test('with the same fence in other words have the same one', () => {
    expect(tighten({}, { workspaces: ['b', 'a', 'b'] })).toEqual(tighten({}, { workspaces: ['a', 'b'] }));
  });
});

describe('the network of an account', () => {
  /** What answers there: straight, and through the proxy. */
  async function reach(by: Account, url: string, config: object): Promise<string> {
    const sandbox = await by.newSandbox({ permissionMode: 'bypass', ...config });
    const workspaces = [{ name: 'w', workspaceId: await by.newWorkspace() }];
    const agentId = await by.newAgent({ sandbox, workspaces });
    const command = `curl -s -m 5 ${url}/healthz; curl -s -m 5 --noproxy '' -x "$http_proxy" ${url}/healthz; true`;
    return mustBe(200, await by.call(agentId, 'bash', { command })).output;
  }

  test('is not that of this machine: nothing that listens here is reached', async () => {
    const { port } = new URL(platform.url);
    for (const config of [
      { internet: true },
      { network: { mode: 'allow-all' } },
      { network: { mode: 'restricted', allowCidrs: [`127.0.0.1/32:${port}`, '127.0.0.0/8'] } },
    ])
      expect(await reach(account, platform.url, config)).not.toContain('"status":"ok"');
  });

  test('is so where the operator says it may be', async () => {
    await using open = await startPlatform(['--network', 'allow-all']);
    expect(await reach(await open.newAccount(), open.url, { internet: true })).toContain('"status":"ok"');
  });
});

describe('what one account can take up', () => {
  test('sessions of an agent it does not have, or of workspaces that the agent does not have, are not kept', async () => {
    const { agentId } = await newAgent('bypass');
    const eve = await platform.newAccount('eve');
    for (const id of [agentId, 'agent_'.padEnd(30, '0'), 'x'.repeat(3000)])
      for (const answer of [
        await eve.send('POST', `/v1/agents/${id}/sessions`, {}),
        await eve.send('GET', `/v1/agents/${id}/sessions`),
      ])
        expect(answer).toMatchObject({ status: 404, body: { error: { message: 'Agent not found' } } });
    const workspaces = Array.from({ length: 10_000 }, (_, index) => `none-${index}`);
    expect((await account.send('POST', `/v1/agents/${agentId}/sessions`, { workspaces })).status).toBe(400);
  });

  test('what commands keep in caches counts, and goes with the workspace', async () => {
    const ann = await platform.newAccount('caching');
    const caches = () => readdirSync(join(platform.data, 'caches'));
    const before = caches();
    const sandbox = await ann.newSandbox({ permissionMode: 'bypass' });
    const command = 'head -c 1000000 /dev/urandom > ~/.cache/big && ls ~/.cache';
    const stateless = await ann.newAgent({ sandbox });
    mustBe(200, await ann.call(stateless, 'bash', { command: 'true' }));
    await expect.poll(caches).toEqual(before);

    const agentId = await ann.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId: await ann.newWorkspace() }] });
    expect(mustBe(200, await ann.call(agentId, 'bash', { command })).output).toContain('big');
    expect(caches()).toHaveLength(before.length + 1);
    const [namespace = ''] = readdirSync(join(platform.data, 'workspaces')).filter((name) => sizeOfCache(name) > 0);
    expect(await createKeptWorkspaces(platform.data).measure([namespace])).toBeGreaterThan(1_000_000);
    mustBe(200, await ann.send('DELETE', '/v1/account'));
    expect(caches()).toEqual(before);

    function sizeOfCache(name: string): number {
      const cache = cacheAt(join(platform.data, 'caches'), realpathSync(join(platform.data, 'workspaces', name)));
      return existsSync(join(cache, 'big')) ? 1 : 0;
    }
  });

  test('a session that there is no room for does nothing first', async () => {
    using directory = makeDirectory();
    await using records = await openRecords({ file: join(directory.path, 'croft.db') });
    const sessions = createAgentSessions({ records, maxSessions: 1, now: () => new Date() });
    const owner = { accountId: 'acct_1', agentId: 'agent_1' };
    const none = { sandboxIdleMs: 1000, openSandbox: () => Promise.reject(new Error('none')) };
    const [first, second] = ['key_1/a', 'key_1/b'].map((id) => ({
      session: createSession(id, none),
      memory: sessions.memoryOf(owner, id),
    })) as [Remembered, Remembered];
    await first.memory.refresh(first.session);
    await first.memory.keep(first.session);
    await first.memory.refresh(first.session);
    await expect(second.memory.refresh(second.session)).rejects.toMatchObject({ code: 'E_QUOTA' });
  });

  test('empty files count too, and so does what is behind very many', async () => {
    using directory = makeDirectory();
    for (const name of ['a', 'b', 'c']) writeFileSync(join(directory.path, name), '');
    expect(await measureTree(directory.path)).toBeGreaterThanOrEqual(3 * 4096);
    expect(await measureTree(directory.path, 3)).toBeLessThan(Number.POSITIVE_INFINITY);
    expect(await measureTree(directory.path, 2)).toBe(Number.POSITIVE_INFINITY);
  });

  test('a name that is no tool’s is not sent back at length', async () => {
    const { agentId } = await newAgent('bypass');
    // Clients of 2026 say it in a header as well, which is cut off long before.
    await using agent = await connectAgent(account, agentId, { era: '2025' });
    expect((await agent.call('x'.repeat(1_000_000))).text.length).toBeLessThan(1000);
  });

  test('of more fences than anybody needs those go in which nothing runs, from the one idle longest on', () => {
    const toEntry = (key: string) => [key, { runtime: { isIdle: () => key.startsWith('idle') } }] as const;
    const keysOf = (names: string[], max: number) => findSpare(names.map(toEntry), max).map(([key]) => key);
    expect(keysOf(['busy-1', 'idle-1', 'busy-2', 'idle-2', 'idle-3'], 4)).toEqual(['idle-1']);
    expect(keysOf(['busy-1', 'idle-1', 'idle-2'], 0)).toEqual(['idle-1']);
    expect(keysOf(['idle-1', 'idle-2'], 2)).toEqual([]);
  });

  test('of connections of 2025, the one idle longest goes for one too many', () => {
    const closed: number[] = [];
    const room = createConnectionRoom(2);
    const connections = [0, 1, 2, 3].map((number) => ({ close: async () => void closed.push(number) }));
    for (const index of [0, 1, 0, 2, 3]) room.use(connections[index] as (typeof connections)[number]);
    expect(closed).toEqual([1, 0]);
  });
});

test('handles of workspaces that were removed are let go of, but not at once', async () => {
  using directory = makeDirectory();
  const kept = createKeptWorkspaces(directory.path);
  const { handle } = kept.open('fs-0123456789', 'w');
  const isOpen = () => isLinkTo(`/proc/self/fd/${handle}`, 'fs-0123456789');
  await kept.remove('fs-0123456789');
  kept.closeGone();
  expect(isOpen()).toBe(true);
  kept.closeGone();
  expect(isOpen()).toBe(false);
});

function isLinkTo(path: string, part: string): boolean {
  try {
    return readlinkSync(path).includes(part);
  } catch {
    return false;
  }
}
