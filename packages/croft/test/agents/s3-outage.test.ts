import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { startS3Gateway } from '../support/s3/s3-server.ts';
import { startBucketServers } from '../support/servers/bucket-servers.ts';
import { type Account, type Answer, type Json, mustBe } from '../support/servers/platform.ts';
import { startPostgres } from '../support/servers/postgres.ts';

const [gateway, postgres] = [await startS3Gateway(), await startPostgres()];
const patience = { timeout: 60_000, interval: 200 };
/** An outage is decided within ten seconds; the rest is the call itself, on a busy machine. */
const decidedMs = 14_000;
const knownMs = 5000;

afterAll(async () => {
  await gateway?.stop();
  await postgres?.[Symbol.asyncDispose]();
});

async function timed(work: Promise<Answer>): Promise<Answer & { readonly ms: number }> {
  const startedAt = performance.now();
  return { ...(await work), ms: performance.now() - startedAt };
}

describe.skipIf(!gateway || !postgres)('a bucket that goes away', { timeout: 180_000 }, () => {
  const events = makeDirectory();
  let fixture: Awaited<ReturnType<typeof startBucketServers>>;
  let ann: Account;
  beforeAll(async () => {
    fixture = await startBucketServers(gateway!, postgres!, 'out', ['--events', events.at('events')]);
    ann = fixture.here;
  });
  afterAll(async () => {
    gateway?.resume();
    await fixture?.[Symbol.asyncDispose]();
    events[Symbol.dispose]();
  });

  async function newAgent(onOutage: 'refuse' | 'queue') {
    const sandbox = await ann.newSandbox({ permissionMode: 'bypass' });
    const before = readMounts();
    const workspaceId = await ann.newWorkspace({ storage: { provider: 's3', onOutage } });
    const agent = await ann.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
    mustBe(200, await ann.call(agent, 'write', { file_path: 'f', content: 'before\n' }));
    const [namespace = ''] = readMounts().filter((name) => !before.includes(name));
    return { agent, outside: fixture.outside(namespace), files: join(mounts(), namespace, 'files') };
  }
  const mounts = () => join(fixture.servers[0]!.data, 'mounts');
  function readMounts(): string[] {
    try {
      return readdirSync(mounts());
    } catch {
      return [];
    }
  }
  const bash = (agent: string, command: string) => timed(ann.call(agent, 'bash', { command }));
  const outages = (): Json[] =>
    readFileSync(events.at('events'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === 'lifecycle.storage.outage')
      .map(({ fields }) => fields.state);

  const ways: [string, () => unknown, () => unknown][] = [
    ['hangs', () => gateway!.hang(), () => gateway!.resume()],
    ['is killed', () => gateway!.kill(), () => gateway!.restart()],
  ];
  test.each(ways)(
    'it %s: found once, reads go on, changes wait or are refused before they run',
    async (_, begin, end) => {
      const [refusing, queueing] = [await newAgent('refuse'), await newAgent('queue')];
      const before = outages().length;
      await begin();
      const first = await bash(queueing.agent, 'echo out; echo 1 >> log; exit 4');
      expect(first.ms).toBeLessThan(decidedMs);
      expect(mustBe(200, first)).toMatchObject({
        output: 'out\n',
        exitCode: 4,
        notices: [expect.stringMatching(/^Not stored yet: log\..*has not answered since/)],
      });
      // The event is written beside the answer.
      await vi.waitFor(() => expect(outages().slice(before)).toEqual(['began']));
      for (const { agent } of [refusing, queueing]) {
        const read = await timed(ann.call(agent, 'read', { file_path: 'f' }));
        expect(mustBe(200, read).content).toBe('before\n');
        expect(read.ms).toBeLessThan(knownMs);
      }
      const second = await bash(queueing.agent, 'echo 2 >> log');
      expect(mustBe(200, second).notices).toContainEqual(expect.stringContaining('Not stored yet: log'));
      expect(second.ms).toBeLessThan(knownMs);
      const refused = await bash(refusing.agent, 'echo 1 >> log');
      expect(refused.ms).toBeLessThan(knownMs);
      expect(refused.body.error).toMatchObject({
        code: 'E_STORAGE_UNAVAILABLE',
        hint: expect.stringMatching(/^Nothing was done.*call again in a moment/),
      });
      await end();
      await expect.poll(async () => (await queueing.outside.all()).log, patience).toBe('1\n2\n');
      expect(outages().slice(before)).toEqual(['began', 'ended']);
      await expect.poll(async () => (await bash(refusing.agent, 'echo once >> log')).status, patience).toBe(200);
      expect((await refusing.outside.all()).log).toBe('once\n');
    },
  );

  test.each(ways)(
    'it %s while a command runs: the answer has the output, and no change is lost',
    async (_, begin, end) => {
      const { agent, outside, files } = await newAgent('refuse');
      const running = bash(
        agent,
        'echo run >> runs; touch begun; until test -e go; do sleep 0.05; done; echo late > after; echo done; exit 3',
      );
      await expect.poll(() => readdirSync(files), patience).toContain('begun');
      await begin();
      writeFileSync(join(files, 'go'), '');
      const answer = mustBe(200, await running);
      expect(answer).toMatchObject({ output: 'done\n', exitCode: 3 });
      expect(answer.notices.join('\n')).toMatch(/The call ran.*has not answered since.*Do not repeat/s);
      expect(JSON.stringify(answer)).not.toMatch(/(?:try|call|request) again/i);
      await end();
      await expect.poll(async () => (await outside.all()).runs, patience).toBe('run\n');
      await expect.poll(async () => (await outside.all()).after, patience).toBe('late\n');
      await expect.poll(() => outages().at(-1), patience).toBe('ended');
    },
  );
});
