import { afterAll, describe, expect, test } from 'vitest';
import { startS3 } from '../support/s3/s3-server.ts';
import { kill } from '../support/servers/installation.ts';
import { type Answer, mustBe } from '../support/servers/platform.ts';
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts';
import { newAgent, startCluster, type TestCluster } from './fixture.ts';

const [postgres, s3] = [await startPostgres(), await startS3()];
afterAll(() => postgres?.[Symbol.asyncDispose]());

/** Five minutes by hand: `CROFT_CHAOS_SECONDS=300`. */
const seconds = Number(process.env.CROFT_CHAOS_SECONDS ?? 15);
const size = 3;
const agentCount = 4;

interface Ledger {
  readonly acknowledged: string[];
  /** Answered with an error that says that nothing was done. */
  readonly refused: string[];
  /** Nobody was told what happened. */
  readonly unknown: string[];
}

describe.skipIf(!postgres || !s3)('servers that are killed in turn, and their database', () => {
  test(
    'lose no acknowledged change, and make none twice',
    async () => {
      await using cluster = await startCluster(postgres!, { size, s3, args: ['--account-limit', 'requests=1000000'] });
      const agents = await Promise.all(
        Array.from({ length: agentCount }, () => newAgent(cluster.at(0), { storage: { provider: 's3' } })),
      );
      for (const { agent } of agents) mustBe(200, await cluster.at(0).call(agent, 'bash', { command: 'touch log' }));
      const endAt = performance.now() + seconds * 1000;
      const ledgers = agents.map(({ agent }, index) => appendUntil(cluster, agent, { endAt, name: `agent-${index}` }));
      await Promise.all([disturbUntil(cluster, postgres!, endAt), ...ledgers]);
      for (const [index, ledger] of (await Promise.all(ledgers)).entries()) {
        const log = await readLog(cluster, agents[index]!.agent);
        const times = (word: string) => log.filter((line) => line === word).length;
        expect(ledger.acknowledged.filter((word) => times(word) !== 1)).toEqual([]);
        expect(ledger.refused.filter((word) => times(word) !== 0)).toEqual([]);
        expect(ledger.unknown.filter((word) => times(word) > 1)).toEqual([]);
        expect(ledger.acknowledged.length).toBeGreaterThan(3);
        const { acknowledged, refused, unknown } = ledger;
        console.info(`acknowledged ${acknowledged.length}, refused ${refused.length}, unknown ${unknown.length}`);
      }
      const verdict = await cluster.at(1).send('GET', '/v1/audit/check');
      expect(verdict.body).toMatchObject({ whole: true });
    },
    seconds * 1000 + 180_000,
  );
});

/** Appends one line after the other, at any server. */
async function appendUntil(cluster: TestCluster, agent: string, { endAt, name }: { endAt: number; name: string }) {
  const ledger: Ledger = { acknowledged: [], refused: [], unknown: [] };
  for (let count = 0; performance.now() < endAt; count += 1) {
    const word = `${name}-${count}`;
    const command = `echo ${word} >> log`;
    const answer = await cluster
      .at(count % size)
      .call(agent, 'bash', { command })
      .catch((thrown) => thrown as Error);
    ledger[judge(answer)].push(word);
  }
  return ledger;
}

function judge(answer: Answer | Error): keyof Ledger {
  if (answer instanceof Error) return isRefusedConnection(answer) ? 'refused' : 'unknown';
  if (answer.status === 200) return 'acknowledged';
  return answer.body?.error?.details?.sent === false ? 'refused' : 'unknown';
}

function isRefusedConnection({ cause }: Error): boolean {
  return (cause as { code?: string } | undefined)?.code === 'ECONNREFUSED';
}

/** Kills one server after the other, and now and then the database, and starts each again. */
async function disturbUntil(cluster: TestCluster, database: TestPostgres, endAt: number): Promise<void> {
  for (let turn = 0; performance.now() < endAt; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 3000));
    if (turn % (size + 1) === size) {
      await database.crash();
      await database.start();
      continue;
    }
    const index = turn % (size + 1);
    await kill(cluster.servers[index]!);
    await cluster.restart(index);
  }
}

/** Every server may be starting, or waiting until it may take over. */
async function readLog(cluster: TestCluster, agent: string): Promise<string[]> {
  let lines: string[] = [];
  await expect
    .poll(
      async () => {
        const answer = await cluster.at(0).call(agent, 'bash', { command: 'cat log' });
        lines = String(answer.body?.output ?? '').split('\n');
        return answer.status;
      },
      { timeout: 60_000 },
    )
    .toBe(200);
  return lines;
}
