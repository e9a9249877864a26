import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newToken, type Runner, startRunner } from '../remote/runner-fixture.ts';
import { startFaultyCable } from '../support/faults/faulty-cable.ts';
import { kill } from '../support/servers/installation.ts';
import { mustBe } from '../support/servers/platform.ts';
import { startPostgres } from '../support/servers/postgres.ts';
import { newAgent, startCluster, type TestCluster } from './fixture.ts';

const postgres = await startPostgres();
afterAll(() => postgres?.[Symbol.asyncDispose]());

describe.skipIf(!postgres)('a runner and two servers', () => {
  let cluster: TestCluster;
  let runner: Runner;
  let token: string;

  beforeAll(async () => {
    cluster = await startCluster(postgres!);
    token = await newToken(cluster.at(0), 'far');
    runner = await startRunner({ url: cluster.servers[0]!.url, token });
    await vi.waitFor(async () => expect(await states(1)).toEqual(['online']));
  });
  afterAll(async () => {
    await runner?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  const states = async (index: number) =>
    mustBe(200, await cluster.at(index).send('GET', '/v1/runners')).runners.map(
      ({ state }: { state: string }) => state,
    );
  const links = () => postgres!.execute(cluster.url, 'SELECT runner, server_id, epoch FROM runner_links');

  test('that is connected to one server works for agents at the other', async () => {
    const { agent, workspaceId } = await newAgent(cluster.at(1), {}, { provider: 'remote', runner: 'far' });
    mustBe(200, await cluster.at(1).call(agent, 'write', { file_path: 'a.txt', content: 'one\n' }));
    expect(mustBe(200, await cluster.at(0).call(agent, 'bash', { command: 'cat a.txt' })).output).toBe('one\n');
    expect(mustBe(200, await cluster.at(1).send('GET', `/v1/workspaces/${workspaceId}/files`)).files).toHaveLength(1);
    // Any runner will do, and only the other server has one.
    const any = await newAgent(cluster.at(1), {}, { provider: 'remote', labels: {} });
    expect(mustBe(200, await cluster.at(1).call(any.agent, 'bash', { command: 'echo two' })).output).toBe('two\n');
  });

  test('that connects to the other server is there from then on', async () => {
    const { agent } = await newAgent(cluster.at(0), {}, { provider: 'remote', runner: 'far' });
    mustBe(200, await cluster.at(0).call(agent, 'write', { file_path: 'b.txt', content: 'two\n' }));
    const [before] = await links();
    // The server still waits for the runner, whose process is the same machine at another server.
    await runner.stop('SIGKILL');
    const again = await startRunner({ url: cluster.servers[1]!.url, token, args: ['--data', runner.data] });
    await using _ = again;
    await expect
      .poll(async () => Number((await links())[0]?.epoch), { timeout: 20_000 })
      .toBeGreaterThan(Number(before?.epoch));
    const after = await links();
    expect(after).toHaveLength(1);
    expect(after[0]?.server_id).not.toBe(before?.server_id);
    expect(mustBe(200, await cluster.at(0).call(agent, 'bash', { command: 'echo three' })).output).toBe('three\n');
  });

  test('whose token is revoked at one server is disconnected from the other within a second', async () => {
    const other = await newToken(cluster.at(0), 'near');
    await using near = await startRunner({ url: cluster.servers[0]!.url, token: other });
    const isOnline = async (index: number) => {
      const answer = await cluster.at(index).send('GET', '/v1/runners/near');
      return answer.body.state === 'online';
    };
    await expect.poll(() => isOnline(1), { timeout: 20_000 }).toBe(true);
    mustBe(200, await cluster.at(1).send('DELETE', '/v1/runners/near'));
    const revokedAt = performance.now();
    await near.output.find(/revoked/);
    expect(performance.now() - revokedAt).toBeLessThan(1000);
  });

  test('connects to any server when its own is killed, and works there', async () => {
    await using balancer = await startFaultyCable(cluster.servers[0]!.url);
    await using moving = await startRunner({ url: balancer.url, token: await newToken(cluster.at(1), 'moving') });
    const { agent } = await newAgent(cluster.at(1), {}, { provider: 'remote', runner: 'moving' });
    const state = async () => (await cluster.at(1).send('GET', '/v1/runners/moving')).body.state;
    await expect.poll(state, { timeout: 20_000 }).toBe('online');
    mustBe(200, await cluster.at(1).call(agent, 'write', { file_path: 'kept.txt', content: 'kept\n' }));
    balancer.aim(cluster.servers[1]!.url);
    await kill(cluster.servers[0]!);
    const read = () => cluster.at(1).call(agent, 'bash', { command: 'cat kept.txt' });
    await expect
      .poll(read, { timeout: 40_000, interval: 500 })
      .toMatchObject({ status: 200, body: { output: 'kept\n' } });
    expect(moving.child.exitCode).toBe(null);
  }, 90_000);
});
