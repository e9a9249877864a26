import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCountingProxy } from '../support/servers/counting-proxy.ts';
import { type Account, connectAgent, mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';
import { startPostgres } from '../support/servers/postgres.ts';

const postgres = await startPostgres();
afterAll(() => postgres?.[Symbol.asyncDispose]());

const rounds = 15;

describe.skipIf(!postgres)('a call of an account waits for PostgreSQL', () => {
  let proxy: Awaited<ReturnType<typeof startCountingProxy>>;
  let platform: Platform;
  let ann: Account;
  let agent: string;

  beforeAll(async () => {
    proxy = await startCountingProxy(await postgres!.createSchema());
    platform = await startPlatform(['--database-url', proxy.url]);
    ann = await platform.newAccount('ann');
    const sandbox = await ann.newSandbox({ permissionMode: 'bypass' });
    agent = await ann.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId: await ann.newWorkspace() }] });
  });

  afterAll(async () => {
    await platform?.[Symbol.asyncDispose]();
    await proxy?.[Symbol.asyncDispose]();
  });

  /** The usual number: what the server does from time to time comes on top of some calls. */
  async function countPerCall(call: (round: number) => Promise<unknown>): Promise<number> {
    const counts: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const before = proxy.roundTrips();
      await call(round);
      counts.push(proxy.roundTrips() - before);
    }
    return counts.toSorted((a, b) => a - b)[Math.floor(rounds / 2)]!;
  }

  const content = (round: number) => `${round}\n`;

  test('over REST twice for a read, and three times for a change', async () => {
    const write = (round: number) => ann.call(agent, 'write', { file_path: `${round}.txt`, content: content(round) });
    mustBe(200, await write(0));
    expect(await countPerCall(async (round) => mustBe(200, await write(round)))).toBe(3);
    const read = async () => mustBe(200, await ann.call(agent, 'read', { file_path: '0.txt' }));
    expect(await countPerCall(read)).toBe(2);
  });

  test('over MCP as often as over REST', async () => {
    await using client = await connectAgent(ann, agent, { era: '2025' });
    const call = async (name: string, args: Record<string, unknown>) =>
      expect(await client.call(name, args)).toMatchObject({ isError: false });
    const write = (round: number) => call('write', { file_path: `m${round}.txt`, content: content(round) });
    await write(0);
    expect(await countPerCall(write)).toBe(3);
    expect(await countPerCall(() => call('read', { file_path: 'm0.txt' }))).toBe(2);
  });
});
