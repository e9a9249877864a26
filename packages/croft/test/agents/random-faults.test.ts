import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { namespaceOf } from '../../src/storages/index.ts';
import { startS3Gateway } from '../support/s3/s3-server.ts';
import { startBucketServers } from '../support/servers/bucket-servers.ts';
import { type Account, type Json, mustBe } from '../support/servers/platform.ts';
import { startPostgres } from '../support/servers/postgres.ts';

const [gateway, postgres] = [await startS3Gateway(), await startPostgres()];
/** `CROFT_FAULT_SECONDS=600` goes on for ten minutes. */
const faultyMs = 1000 * Number(process.env.CROFT_FAULT_SECONDS ?? 20);
/** Less than a minute, after which a client would give a call up. */
const longestCallMs = 50_000;

afterAll(async () => {
  await gateway?.stop();
  await postgres?.[Symbol.asyncDispose]();
});

/** The outcome of a call as its caller knows it. */
type Reported = 'done' | 'nothing happened' | 'look first';

function toReported(status: number, body: Json): Reported {
  if (status === 200) return 'done';
  return /nothing was (?:done|stored|written)|(?:call|request|try) again/i.test(
    `${body.error.message} ${body.error.hint}`,
  )
    ? 'nothing happened'
    : 'look first';
}

interface Lane {
  readonly account: Account;
  readonly agent: string;
  readonly told: Map<number, Reported>;
  slowestMs: number;
}

/** One call after the other, each with a number: odd ones add a line, even ones make a file. */
async function work(lane: Lane, until: number): Promise<void> {
  const { account, agent, told: reported } = lane;
  for (let number = 1; performance.now() < until; number += 1) {
    const startedAt = performance.now();
    const { status, body } =
      number % 2 === 1
        ? await account.call(agent, 'bash', { command: `echo ${number} >> log` })
        : await account.call(agent, 'write', { file_path: `n${number}`, content: `${number}\n` });
    reported.set(number, toReported(status, body));
    lane.slowestMs = Math.max(lane.slowestMs, performance.now() - startedAt);
    await pause(20);
  }
}

/** Each is over when it is answered. */
const faults: readonly ((ms: number) => Promise<void>)[] = [
  async (ms) => {
    postgres!.hang();
    await pause(ms);
    postgres!.resume();
  },
  async (ms) => {
    await postgres!.crash();
    await pause(ms / 4);
    await postgres!.start();
  },
  async (ms) => {
    gateway!.hang();
    await pause(ms * 2);
    gateway!.resume();
  },
  async (ms) => {
    await gateway!.kill();
    await pause(ms / 2);
    await gateway!.restart();
  },
];

async function breakThings(until: number): Promise<void> {
  const draws = fc.sample(fc.tuple(fc.nat(faults.length - 1), fc.integer({ min: 300, max: 4000 })), 1000);
  for (const [which, ms] of draws) {
    if (performance.now() > until) return;
    await faults[which]!(ms);
    await pause(ms / 4);
  }
}

async function newLane(account: Account, config: object) {
  const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
  const workspaceId = await account.newWorkspace(config);
  const agent = await account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
  const lane: Lane = { account, agent, told: new Map(), slowestMs: 0 };
  mustBe(200, await account.call(agent, 'write', { file_path: 'log', content: '' }));
  return { lane, namespace: namespaceOf(account.accountId, workspaceId) };
}

/** Acknowledged changes are there once, refused ones are absent, and each unknown one is there once or absent. */
function expectAsReported(reported: Lane['told'], found: Readonly<Record<string, string>>): void {
  const lines = (found.log ?? '').split('\n').filter(Boolean).map(Number);
  const timesOf = (number: number) =>
    number % 2 === 1 ? lines.filter((line) => line === number).length : Number(found[`n${number}`] === `${number}\n`);
  const expected = { done: [1], 'nothing happened': [0], 'look first': [0, 1] };
  const wrong = [...reported].filter(([number, what]) => !expected[what].includes(timesOf(number)));
  expect(wrong.map(([number, what]) => ({ number, what, times: timesOf(number) }))).toEqual([]);
  expect(lines.filter((line) => !reported.has(line))).toEqual([]);
}

/** Through the agent, where there is no other way to its files. */
async function readAll({ account, agent }: Lane): Promise<Record<string, string>> {
  const run = async (command: string) => mustBe(200, await account.call(agent, 'bash', { command })).output as string;
  const files = (await run('for name in n*; do echo "$name $(cat $name)"; done')).trim().split('\n');
  const texts = files.map((line) => line.split(' ')).map(([name, text]) => [name, `${text}\n`]);
  return { ...Object.fromEntries(texts), log: await run('cat log') };
}

describe.skipIf(!gateway || !postgres)('PostgreSQL and the bucket hang and are killed at random', () => {
  test(
    'every answer is true: no acknowledged change is lost, and no refused call that may be repeated has run',
    async () => {
      await using fixture = await startBucketServers(gateway!, postgres!, 'random');
      const { here, there } = fixture;
      const local = await newLane(here, {});
      const refusing = await newLane(here, { storage: { provider: 's3', onOutage: 'refuse' } });
      const queueing = await newLane(there, { storage: { provider: 's3', onOutage: 'queue' } });
      const lanes = [local.lane, refusing.lane, queueing.lane];
      const until = performance.now() + faultyMs;
      await Promise.all([breakThings(until), ...lanes.map((lane) => work(lane, until))]);

      for (const { account, agent, slowestMs } of lanes) {
        expect(slowestMs).toBeLessThan(longestCallMs);
        await vi.waitFor(async () => mustBe(200, await account.call(agent, 'bash', { command: 'true' })));
      }
      expectAsReported(local.lane.told, await readAll(local.lane));
      for (const { lane, namespace } of [refusing, queueing])
        await vi.waitFor(async () => expectAsReported(lane.told, await fixture.outside(namespace).all()));
      const counts = lanes.map(({ told: reported }) =>
        Object.fromEntries(Map.groupBy([...reported.values()], (what) => what)),
      );
      console.info(JSON.stringify(counts.map((of) => Object.entries(of).map(([what, all]) => [what, all?.length]))));
      await vi.waitFor(() => expectTrailWhole(fixture.croft));
    },
    faultyMs + 300_000,
  );
});

/** Every call that began ended, once, and the chain is whole. */
async function expectTrailWhole(croft: (...command: string[]) => Promise<Json>): Promise<void> {
  const { stdout } = await croft('audit', 'export');
  const rows: Json[] = stdout
    .trim()
    .split('\n')
    .map((line: string) => JSON.parse(line));
  const callsOf = (action: string) =>
    rows.filter((row) => row.action === action).map(({ details }) => JSON.parse(details).call as string);
  const ends = Map.groupBy(callsOf('call.ended'), (call) => call);
  const open = callsOf('call.began').filter((call) => ends.get(call)?.length !== 1);
  expect(open).toEqual([]);
  expect(await croft('audit', 'verify')).toMatchObject({ exitCode: 0, stderr: '' });
}
