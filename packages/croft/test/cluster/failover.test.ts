import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startS3 } from '../support/s3/s3-server.ts';
import { kill } from '../support/servers/installation.ts';
import { connectAgent, mustBe } from '../support/servers/platform.ts';
import { startPostgres } from '../support/servers/postgres.ts';
import { newAgent, startCluster, type TestCluster } from './fixture.ts';

const [postgres, s3] = [await startPostgres(), await startS3()];
afterAll(() => postgres?.[Symbol.asyncDispose]());

const inBucket = { storage: { provider: 's3' } };

describe.skipIf(!postgres || !s3)('servers on one database and one bucket', () => {
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await startCluster(postgres!, { s3, args: ['--account-limit', 'sandboxes=10'] });
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  const leases = () => postgres!.execute(cluster.url, 'SELECT lease_key, server_id, epoch FROM leases');

  test('first opener has the workspace, and the other server forwards to it', async () => {
    // With a bucket and several servers, the bucket is where a workspace is that names no storage.
    const { agent, workspaceId } = await newAgent(cluster.at(1));
    const made = mustBe(200, await cluster.at(0).send('GET', `/v1/workspaces/${workspaceId}`));
    expect(made.config.storage.provider).toBe('s3');
    mustBe(200, await cluster.at(0).call(agent, 'write', { file_path: 'a.txt', content: 'one\n' }));
    mustBe(200, await cluster.at(1).call(agent, 'bash', { command: 'echo two >> a.txt' }));
    expect(mustBe(200, await cluster.at(0).call(agent, 'read', { file_path: 'a.txt' })).content).toBe('one\ntwo\n');
    const own = (await leases()).filter(({ lease_key }) => String(lease_key).endsWith(workspaceId));
    expect(own).toHaveLength(1);
    // The session is one, whichever server is asked: the file was read at the first, and is edited at the second.
    const edit = { file_path: 'a.txt', old_string: 'two', new_string: 'three' };
    mustBe(200, await cluster.at(1).call(agent, 'edit', edit));
  });

  test('an account never has more sandboxes than its limit on all servers together', async () => {
    const account = cluster.at(0);
    const agents: string[] = [];
    for (let count = 0; count < 40; count += 1)
      agents.push(await account.newAgent({ sandbox: await account.newSandbox({ permissionMode: 'bypass' }) }));
    const open = await Promise.all(
      agents.map((agent, index) =>
        cluster.at(index % 2).call(agent, 'bash', { command: 'sleep 3; echo done', run_in_background: false }),
      ),
    );
    const ran = open.filter(({ status }) => status === 200);
    const refused = open.filter(({ body }) => body?.error?.code === 'E_QUOTA');
    expect(ran.length).toBeLessThanOrEqual(10);
    expect(ran.length).toBeGreaterThan(5);
    expect(ran.length + refused.length).toBe(40);
  });

  test('an approval asked for on one server and given on the other goes on at once', async () => {
    const account = cluster.at(0);
    const { agent } = await newAgent(account, inBucket, { permissionMode: 'ask' });
    const { approval } = mustBe(202, await account.call(agent, 'write', { file_path: 'b.txt', content: 'x' }));
    mustBe(200, await cluster.at(1).approve(approval.approvalId));
    const claim = { 'croft-approval': approval.approvalId };
    mustBe(200, await cluster.at(1).call(agent, 'write', { file_path: 'b.txt', content: 'x' }, claim));
  });

  test('a call that waits for an approval is woken by a decision on the other server', async () => {
    const account = cluster.at(0);
    const waitMs = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const { agent } = await newAgent(account, inBucket, { permissionMode: 'ask' });
        await using client = await connectAgent(account, agent, { era: '2025' });
        const waiting = client.call('write', { file_path: 'agreed.txt', content: 'yes' });
        const pending = `/v1/approvals?state=pending&agentId=${agent}`;
        const list = async () => mustBe(200, await cluster.at(1).send('GET', pending)).approvals;
        await expect.poll(list, { timeout: 10_000 }).toHaveLength(1);
        const [{ approvalId }] = await list();
        // By now the call looks by itself once a second.
        await new Promise((resolve) => setTimeout(resolve, 4000));
        const decidedAt = performance.now();
        mustBe(200, await cluster.at(1).approve(approvalId));
        expect(await waiting).toMatchObject({ isError: false });
        return performance.now() - decidedAt;
      }),
    );
    expect(waitMs.toSorted((a, b) => a - b)[3]).toBeLessThan(500);
  }, 60_000);

  test('a read whose server is killed is answered by another, and a change is told as unknown', async () => {
    const { agent } = await newAgent(cluster.at(0), inBucket);
    mustBe(200, await cluster.at(0).call(agent, 'write', { file_path: 'c.txt', content: 'one\n' }));
    const changing = cluster.at(1).call(agent, 'bash', { command: 'sleep 20; echo late >> c.txt' });
    await expect
      .poll(() => postgres!.execute(cluster.url, `SELECT tool FROM calls WHERE tool = 'bash'`))
      .not.toEqual([]);
    const ask = await newAgent(cluster.at(0), inBucket, { permissionMode: 'ask' });
    const asked = mustBe(202, await cluster.at(0).call(ask.agent, 'bash', { command: 'echo agreed' }));
    await kill(cluster.servers[0]!);
    const lost = await changing;
    expect(lost).toMatchObject({ status: 503, body: { error: { code: 'E_SERVER_LOST', details: { sent: true } } } });
    const startedAt = performance.now();
    const read = mustBe(200, await cluster.at(1).call(agent, 'read', { file_path: 'c.txt' }));
    expect(read.content).toBe('one\n');
    expect(performance.now() - startedAt).toBeLessThan(25_000);
    mustBe(200, await cluster.at(1).call(agent, 'bash', { command: 'echo two >> c.txt' }));
    // What the dead server has asked for is decided and claimed on the other one.
    mustBe(200, await cluster.at(1).approve(asked.approval.approvalId));
    const claim = { 'croft-approval': asked.approval.approvalId };
    const agreed = await cluster.at(1).call(ask.agent, 'bash', { command: 'echo agreed' }, claim);
    expect(mustBe(200, agreed).output).toBe('agreed\n');
    await cluster.restart(0);
    expect(mustBe(200, await cluster.at(0).call(agent, 'read', { file_path: 'c.txt' })).content).toBe('one\ntwo\n');
  }, 90_000);

  test('a server that is stopped gives everything to the other at once', async () => {
    const { agent } = await newAgent(cluster.at(0), inBucket);
    mustBe(200, await cluster.at(0).call(agent, 'write', { file_path: 'd.txt', content: 'one\n' }));
    const { child } = cluster.servers[0]!;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const answers = [];
    while (child.exitCode === null && answers.length < 200) {
      answers.push((await cluster.at(1).call(agent, 'read', { file_path: 'd.txt' })).status);
    }
    await exited;
    answers.push((await cluster.at(1).call(agent, 'read', { file_path: 'd.txt' })).status);
    expect(new Set(answers)).toEqual(new Set([200]));
    await cluster.restart(0);
  }, 60_000);
});
