import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createAgentSessions } from '../../src/app/agents/agent-sessions.ts';
import { tightenLimits } from '../../src/core/accounts/surface/session-limits.ts';
import { createSession } from '../../src/core/sessions/session.ts';
import { newChildName } from '../../src/core/sessions/session-name.ts';
import { openRecords } from '../../src/records/index.ts';
import { eras, makeDirectory } from '../support/harness.ts';
import { type Account, connectAgent, mustBe, openAccount } from '../support/servers/platform.ts';
import { account, newAgent } from './hostile-fixture.ts';

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

describe('an approved call', () => {
  test('is not run in another directory by changing the directory first', async () => {
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

  test('is not run in another directory by changing the directory while the person is asked', async () => {
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

  test('is still required when a sandbox runs a script of the agent as it opens', async () => {
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

  test('names the secrets that the command gets', async () => {
    const { agentId } = await newAgent('ask');
    mustBe(200, await account.send('PUT', '/v1/secrets/deploy', { value: 'not-to-be-shown-anywhere' }));
    const bash = mustBe(202, await account.call(agentId, 'bash', { command: 'env', secrets: ['deploy'] }));
    expect(bash.approval.preview).toBe('with the secrets deploy:\nenv');
    const run = mustBe(202, await account.call(agentId, 'run_command', { cmd: 'env', secrets: ['deploy'] }));
    expect(run.approval.preview).toBe('with the secrets deploy:\n"env"');
  });

  test('is not run after the agent lost the sandbox or workspace for it', async () => {
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

  test('is not run for a key that was revoked meanwhile', async () => {
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

  test.each(eras)('cannot be approved by a client whose key has only the scope call (%s)', async (era) => {
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

describe('a running command ends', () => {
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

  test('when the permission mode of its sandbox changes', async () => {
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
  test('of another key cannot be ended by a key with only the scope call', async () => {
    const { agentId } = await newAgent('bypass');
    const [victim, model] = [await newKey(['call'], 'victim'), await newKey(['call'], 'attacker')];
    mustBe(200, await victim.call(agentId, 'glob', { pattern: '*' }));
    const path = `/v1/agents/${agentId}/sessions/${encodeURIComponent(`${victim.keyId}/default`)}`;
    expect((await model.send('DELETE', path)).status).toBe(404);
    mustBe(200, await account.send('DELETE', path));
  });

  test('that were child sessions do not come back without their limits', async () => {
    using directory = makeDirectory();
    await using records = await openRecords({ file: join(directory.path, 'croft.db') });
    const sessions = createAgentSessions({ records, maxSessions: 10, now: () => new Date() });
    const owner = { accountId: 'acct_1', agentId: 'agent_1' };
    // Simulates that the session ends between two checks of its limits.
    const id = `key_1/${newChildName()}`;
    const session = createSession(id, { sandboxIdleMs: 1000, openSandbox: () => Promise.reject(new Error('none')) });
    const memory = sessions.memoryOf(owner, id);
    await memory.refresh(session);
    await memory.save(session);
    await expect(sessions.limitsOf(owner, id)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    expect((await sessions.list(owner, { limit: 10 })).rows).toEqual([]);
  });

  test('of a child without stored limits have no tools', async () => {
    using directory = makeDirectory();
    await using records = await openRecords({ file: join(directory.path, 'croft.db') });
    const sessions = createAgentSessions({ records, maxSessions: 10, now: () => new Date() });
    const row = { accountId: 'acct_1', agentId: 'agent_1', session: `key_1/${newChildName()}`, version: 1 };
    const usedAt = new Date().toISOString();
    await records.change((tables) => tables.sessions.put({ ...row, state: '{}', usedAt }));
    await expect(sessions.limitsOf(row, row.session)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });

  test('with equal limits in another order are the same', () => {
    expect(tightenLimits({}, { workspaces: ['b', 'a', 'b'] })).toEqual(tightenLimits({}, { workspaces: ['a', 'b'] }));
  });
});
