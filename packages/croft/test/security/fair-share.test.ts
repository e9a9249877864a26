import { writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { type Account, mustBe, startPlatform } from '../support/servers/platform.ts';
import { readStalls } from '../support/servers/read-stalls.ts';
import { attacks, prepareAttack } from './hostile-account.ts';

/** Duration of each attack alone. */
const aloneMs = 3000;
/** Duration of all attacks at once. `CROFT_FAIR_SHARE_SECONDS=60` gives them a full minute. */
const togetherMs = 1000 * Number(process.env.CROFT_FAIR_SHARE_SECONDS ?? 6);
const idleMs = 8000;
/** An attack may make calls of others so much slower than they are on an idle machine, where that is more than `minMs`. */
const maxTimes = 10;
const minMs = 250;
/** All attacks at once take both cores of a small machine for programs alone: most often 10 to 25 times. */
const maxMsTogether = 2000;

/** Makes the calls of an ordinary account again and again. Returns the time of each call, in order. */
async function workFor(ms: number, account: Account, agentId: string): Promise<number[]> {
  const took: number[] = [];
  const call = async (tool: string, input: object) => {
    const startedAt = performance.now();
    mustBe(200, await account.call(agentId, tool, input));
    took.push(performance.now() - startedAt);
  };
  for (const until = performance.now() + ms; performance.now() < until; ) {
    await call('bash', { command: 'echo hi' });
    await call('write', { file_path: `n${took.length % 20}.txt`, content: `${took.length}\n` });
    await call('read', { file_path: 'a.txt' });
    await call('glob', { pattern: '**/*.txt' });
    // Below the rate that one account may have.
    await setTimeout(250);
  }
  return took.sort((one, other) => one - other);
}

const at = (share: number, sorted: readonly number[]) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0);
const figuresOf = (sorted: readonly number[]) => ({
  calls: sorted.length,
  p50: at(0.5, sorted),
  p99: at(0.99, sorted),
  worst: Math.round(sorted.at(-1) ?? 0),
});

test(
  'an account that attacks the machine makes calls of another at most ten times slower, and no combination of attacks delays one by two seconds',
  async () => {
    using directory = makeDirectory();
    const eventsFile = directory.at('events.jsonl');
    writeFileSync(eventsFile, '');
    await using platform = await startPlatform(['--events', eventsFile]);
    const [ann, eve] = [await platform.newAccount('ann'), await platform.newAccount('eve')];
    const sandbox = await ann.newSandbox({ permissionMode: 'bypass' });
    const workspaces = [{ name: 'w', workspaceId: await ann.newWorkspace() }];
    const agentId = await ann.newAgent({ sandbox, workspaces });
    mustBe(200, await ann.call(agentId, 'write', { file_path: 'a.txt', content: 'a\n' }));
    const prepared = await Promise.all(
      attacks.map(async (attack) => ({ name: attack.name, ...(await prepareAttack(eve, attack)) })),
    );
    await workFor(1000, ann, agentId);
    const idle = figuresOf(await workFor(idleMs, ann, agentId));
    console.info('idle', JSON.stringify(idle));

    const workUnder = async (running: typeof prepared) => {
      const work = workFor(running.length > 1 ? togetherMs : aloneMs, ann, agentId);
      const [took] = await Promise.all([work, ...running.map(({ runUntil }) => runUntil(work))]);
      const stalls = readStalls(eventsFile).map(({ processorMs }) => processorMs);
      writeFileSync(eventsFile, '');
      return { ...figuresOf(took), worstStallOfThread: Math.max(0, ...stalls) };
    };
    const limitMs = Math.max(minMs, maxTimes * idle.p99);
    for (const one of prepared) {
      const figures = await workUnder([one]);
      console.info(one.name, JSON.stringify({ ...figures, rounds: one.rounds() }));
      expect.soft(figures.p99, `${one.name}: ${JSON.stringify({ idle, figures })}`).toBeLessThan(limitMs);
    }
    const together = await workUnder(prepared);
    console.info('all at once', JSON.stringify(together));
    expect(together.p99, JSON.stringify({ idle, together })).toBeLessThan(maxMsTogether);
  },
  240_000 + 2 * togetherMs,
);
