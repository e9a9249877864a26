import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { addAccount, kill, moveTo, openInstallation } from '../support/servers/installation.ts';
import { type Account, type Answer, mustBe, startPlatform } from '../support/servers/platform.ts';

async function newAgent(account: Account) {
  const [sandbox, workspaceId] = [await account.newSandbox({ permissionMode: 'bypass' }), await account.newWorkspace()];
  return account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
}

function expectFull(answer: Answer, limit: string): void {
  expect(answer).toMatchObject({ status: 409, body: { error: { code: 'E_QUOTA', details: { limit } } } });
  // No answer asks the client to retry.
  expect(answer.headers.get('retry-after')).toBeNull();
}

test('files of one workspace: a change over the quota is not acknowledged, and a change that frees space is', async () => {
  await using platform = await startPlatform();
  const ann = await platform.newAccount('ann');
  const workspaceId = await ann.newWorkspace({ quota: { bytes: 1000, files: 3 } });
  const sandbox = await ann.newSandbox({ permissionMode: 'bypass' });
  const agent = await ann.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
  const write = (file_path: string, length: number) =>
    ann.call(agent, 'write', { file_path, content: 'x'.repeat(length) });
  const full = { code: 'E_QUOTA', details: { limit: 'bytes', used: 1100, allowed: 1000 } };
  mustBe(200, await write('a', 900));
  expect((await write('b', 200)).body.error).toMatchObject(full);
  const command = 'head -c 200 /dev/zero > b';
  expect((await ann.call(agent, 'bash', { command })).body.error).toMatchObject(full);
  const many = await ann.call(agent, 'bash', { command: 'touch c d e' });
  expect(many.body.error).toMatchObject({ code: 'E_QUOTA', details: { limit: 'files', used: 4, allowed: 3 } });
  mustBe(200, await ann.call(agent, 'bash', { command: 'touch c' }));
  mustBe(200, await write('f', 100));
  mustBe(
    200,
    await ann.send('PATCH', `/v1/workspaces/${workspaceId}`, { config: { quota: { bytes: 5000, files: 10 } } }),
  );
  mustBe(200, await write('b', 2000));
});

test('open sandboxes: one more than the limit is refused until another is closed', async () => {
  await using platform = await startPlatform(['--account-limit', 'sandboxes=2']);
  const [ann, bob] = [await platform.newAccount('ann'), await platform.newAccount('bob')];
  const [agent, foreign] = [await newAgent(ann), await newAgent(bob)];
  const run = (on: Account, of: string, session: string, command = 'echo hi') =>
    on.call(of, 'bash', { command }, { 'croft-session': session });

  mustBe(200, await run(ann, agent, 'one'));
  mustBe(200, await run(ann, agent, 'two'));
  expectFull(await run(ann, agent, 'three'), 'sandboxes');
  // What is open goes on, what needs none is let through, and nobody else is kept from anything.
  mustBe(200, await run(ann, agent, 'one'));
  mustBe(200, await ann.call(agent, 'write', { file_path: 'a', content: '' }, { 'croft-session': 'three' }));
  mustBe(200, await run(bob, foreign, 'one'));
  expectFull(await run(ann, await newAgent(ann), 'one'), 'sandboxes');

  mustBe(200, await ann.send('DELETE', `/v1/agents/${agent}/sessions/two`));
  await expect.poll(async () => (await run(ann, agent, 'three')).status).toBe(200);
  expectFull(await run(ann, agent, 'two'), 'sandboxes');

  // Without a workspace each call has a sandbox of its own, which is gone with it.
  mustBe(200, await ann.send('DELETE', `/v1/agents/${agent}/sessions/one`));
  const stateless = await ann.newAgent({ sandbox: await ann.newSandbox({ permissionMode: 'bypass' }) });
  for (let turn = 0; turn < 4; turn += 1)
    await expect.poll(async () => (await run(ann, stateless, 'any')).status).toBe(200);
  const many = await Promise.all(Array.from({ length: 4 }, () => run(ann, stateless, 'any', 'sleep 1')));
  expect(new Set(many.map(({ status }) => status))).toEqual(new Set([200, 409]));
});

test('storage: an account over its quota may delete and read until it is below', async () => {
  await using ownInstallation = openInstallation();
  const limit = ['--account-limit', 'storage=1m'];
  const first = await ownInstallation.start();
  const [ann, bob] = [await addAccount(first, 'ann'), await addAccount(first, 'bob')];
  const [agent, second, foreign] = [await newAgent(ann), await newAgent(ann), await newAgent(bob)];
  mustBe(200, await ann.call(agent, 'bash', { command: 'head -c 5000000 /dev/urandom > big; echo x > small' }));
  await kill(first);

  // The figure of the server before is gone, so that the first look is waited for.
  const server = await ownInstallation.start(limit);
  const again = moveTo(server, ann);
  const write = { file_path: 'a.txt', content: 'a' };
  expectFull(await again.call(agent, 'write', write), 'storage');
  expectFull(await again.call(agent, 'bash', { command: 'true' }), 'storage');
  expectFull(await again.call(agent, 'memory_save', { title: 'a', content: 'b' }), 'storage');
  expectFull(await again.call(second, 'write', write), 'storage');
  mustBe(200, await moveTo(server, bob).call(foreign, 'write', write));
  mustBe(200, await again.call(agent, 'read', { file_path: 'small' }));
  mustBe(200, await again.call(agent, 'delete', { file_path: 'big' }));
  expect(mustBe(200, await again.call(agent, 'glob', { pattern: '*' })).paths).toEqual(['small']);
  await kill(server);

  const third = moveTo(await ownInstallation.start(limit), ann);
  // What could be undone by is counted too, and gives way to files as soon as one is refused.
  await expect.poll(async () => (await third.call(agent, 'write', write)).status, { timeout: 20_000 }).toBe(200);
  mustBe(200, await third.call(second, 'bash', { command: 'true' }));
});

describe('requests', () => {
  test('above the limit per minute are refused with a time to wait; other accounts are not', async () => {
    await using platform = await startPlatform();
    const [ann, bob] = [await platform.newAccount('ann'), await platform.newAccount('bob')];
    const lanes = Array.from({ length: 8 }, async () => {
      for (let count = 0; count < 1000; count += 1) {
        const answer = await ann.send('GET', '/v1/account');
        if (answer.status !== 200) return answer;
      }
      return undefined;
    });
    for (const refused of await Promise.all(lanes)) {
      expect(refused).toMatchObject({ status: 429, body: { error: { code: 'E_RATE_LIMITED' } } });
      expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    mustBe(200, await bob.send('GET', '/v1/account'));
    await expect.poll(async () => (await ann.send('GET', '/v1/account')).status).toBe(200);
  });

  test('per minute are limited by a flag of the operator, and so are the records of an account', async () => {
    const limits = ['requests=20', 'agents=1', 'workspaces=2', 'keys=2'].flatMap((limit) => ['--account-limit', limit]);
    await using platform = await startPlatform(limits);
    const [ann, bob] = [await platform.newAccount('ann'), await platform.newAccount('bob')];
    await ann.newWorkspace();
    await ann.newWorkspace();
    const third = await ann.send('POST', '/v1/workspaces', { name: 'third' });
    expect(third).toMatchObject({ status: 409, body: { error: { code: 'E_QUOTA' } } });
    expect(third.headers.get('retry-after')).toBeNull();
    await ann.newAgent({});
    expect((await ann.send('POST', '/v1/agents', { name: 'second', config: {} })).body.error.code).toBe('E_QUOTA');
    const many = await Promise.all(Array.from({ length: 40 }, () => bob.send('GET', '/v1/account')));
    const refused = many.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(10);
    const [first] = refused;
    expect(first?.body.error.message).toContain('more than 20 requests');
    // What it says is true: no sooner, and then it works.
    const seconds = Number(first?.headers.get('retry-after'));
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(3);
    await expect.poll(async () => (await bob.send('GET', '/v1/account')).status, { timeout: 10_000 }).toBe(200);
  });

  test.each([
    ...[
      'sandboxes',
      'storage=',
      'sandboxes=-1',
      'sandboxes=1.5',
      'storage=lots',
      'files=3',
      'requests=0',
      'keys=1e3',
    ].map((limit) => ['--account-limit', limit]),
    ...['refusals=0', 'request-size=1k', 'connections=', 'toString=1'].map((limit) => ['--server-limit', limit]),
    ...['drain=2h', 'drain=-1', 'sandbox-idle=0', 'sandbox-idle=25d', 'approval=10ms', 'drain'].map((time) => [
      '--server-time',
      time,
    ]),
  ])('%s %s is refused, and nothing is opened', async (flag, limit) => {
    await using ownInstallation = openInstallation();
    const good = ['--account-limit', 'agents=1', '--server-time', 'drain=1s'];
    const refused = await ownInstallation.croft('serve', '--port', '0', ...good, flag!, limit!);
    expect(refused).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(`${flag} takes`) });
    expect(existsSync(ownInstallation.at('croft.db'))).toBe(false);
  });
});

test('--server-time drain says how long a server that stops waits for a call', async () => {
  await using short = await startPlatform(['--server-time', 'drain=0.3s']);
  const ann = await short.newAccount('ann');
  const agent = await newAgent(ann);
  mustBe(200, await ann.call(agent, 'bash', { command: 'true' }));
  const call = ann.call(agent, 'bash', { command: 'touch started; sleep 100' }).catch(() => undefined);
  await expect
    .poll(async () => (await ann.call(agent, 'glob', { pattern: 'started' })).body.paths)
    .toEqual(['started']);
  const [exited, askedAt] = [once(short.child, 'exit'), performance.now()];
  short.child.kill('SIGTERM');
  await exited;
  // It would be ten seconds.
  expect(performance.now() - askedAt).toBeLessThan(8000);
  await call;
});
