import { globSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findGroups } from '../../src/lib/cgroup/find-groups.ts';
import { type FaultyCable, startFaultyCable } from '../support/faults/faulty-cable.ts';
import { startS3 } from '../support/s3/s3-server.ts';
import { mustBe } from '../support/servers/platform.ts';
import { startPostgres } from '../support/servers/postgres.ts';
import { newAgent, startCluster, type TestCluster } from './fixture.ts';

const [postgres, s3] = [await startPostgres(), await startS3()];
afterAll(() => postgres?.[Symbol.asyncDispose]());
const reason = 'reason' in findGroups() ? 'no control groups' : undefined;
if (reason) console.warn(`SKIPPED how sandboxes are frozen: ${reason}`);

describe.skipIf(!postgres || !s3 || reason)('a server that is cut off from the database', () => {
  let cluster: TestCluster;
  let cable: FaultyCable;
  let made: Awaited<ReturnType<typeof newAgent>>;
  let beats: string;

  beforeAll(async () => {
    cluster = await startCluster(postgres!, {
      s3,
      async toDatabaseUrl(url, index) {
        if (index > 0) return url;
        cable = await startFaultyCable(url);
        return Object.assign(new URL(url), { port: new URL(cable.url).port }).href;
      },
    });
    made = await newAgent(cluster.at(0), { storage: { provider: 's3' } });
    const command = 'while :; do echo . >> beats; sleep 0.05; done';
    mustBe(200, await cluster.at(0).call(made.agent, 'bash', { command, run_in_background: true }));
    const { data } = cluster.installations[0]!;
    [beats = ''] = await vi.waitFor(() => {
      const found = globSync(`${data}/mounts/**/beats`);
      expect(found).toHaveLength(1);
      return found;
    });
    expect(await holder()).toBe(await idOf(0));
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await cable?.[Symbol.asyncDispose]();
  });

  const idOf = async (index: number) => {
    const sql = `SELECT server_id FROM servers WHERE address = '${cluster.servers[index]!.url}'`;
    return (await postgres!.execute(cluster.url, sql))[0]?.server_id;
  };
  const holder = async () => (await postgres!.execute(cluster.url, 'SELECT server_id FROM leases'))[0]?.server_id;
  /** Whether the program wrote anything within a second. */
  const isRunning = async () => {
    const before = statSync(beats).size;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return statSync(beats).size > before;
  };
  const cut = async () => {
    await cable.refuse();
    cable.cut();
  };

  test('answers no call and freezes its sandboxes, which go on if it is back in time', async () => {
    expect(await isRunning()).toBe(true);
    await cut();
    expect(await cluster.at(0).call(made.agent, 'read', { file_path: 'beats' })).toMatchObject({ status: 503 });
    await expect.poll(isRunning, { timeout: 20_000 }).toBe(false);
    await cable.accept();
    await expect.poll(isRunning, { timeout: 10_000 }).toBe(true);
    expect(await holder()).toBe(await idOf(0));
    mustBe(200, await cluster.at(1).call(made.agent, 'read', { file_path: 'beats', limit: 1 }));
  }, 60_000);

  test('has lost what another server has taken over, and ends what ran for it', async () => {
    await cut();
    mustBe(200, await cluster.at(1).call(made.agent, 'write', { file_path: 'taken.txt', content: 'by the second\n' }));
    expect(await holder()).toBe(await idOf(1));
    expect(await isRunning()).toBe(false);
    await cable.accept();
    await expect
      .poll(() => cluster.at(0).call(made.agent, 'read', { file_path: 'taken.txt' }), { timeout: 20_000 })
      .toMatchObject({ status: 200, body: { content: 'by the second\n' } });
    expect(await isRunning()).toBe(false);
    expect(await holder()).toBe(await idOf(1));
  }, 90_000);

  test('and was stopped as a whole finds out the same way', async () => {
    const again = await newAgent(cluster.at(0), { storage: { provider: 's3' } });
    mustBe(200, await cluster.at(0).call(again.agent, 'write', { file_path: 'a.txt', content: 'one\n' }));
    const { child } = cluster.servers[0]!;
    child.kill('SIGSTOP');
    try {
      const read = await cluster.at(1).call(again.agent, 'read', { file_path: 'a.txt' });
      expect(mustBe(200, read).content).toBe('one\n');
      mustBe(200, await cluster.at(1).call(again.agent, 'bash', { command: 'echo two >> a.txt' }));
    } finally {
      child.kill('SIGCONT');
    }
    await expect
      .poll(() => cluster.at(0).call(again.agent, 'read', { file_path: 'a.txt' }), { timeout: 20_000 })
      .toMatchObject({ status: 200, body: { content: 'one\ntwo\n' } });
  }, 90_000);
});
