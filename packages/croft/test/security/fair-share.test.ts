import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { startPlatform } from '../support/servers/platform.ts';
import { readStalls } from '../support/servers/read-stalls.ts';
import { attacks, prepareAttack } from './hostile-account.ts';
import { openOrdinaryAccount } from './ordinary-account.ts';

const minute = 60_000;
/** Duration of each attack alone. */
const aloneMs = 3000;
/** Duration of all attacks at once. `CROFT_FAIR_SHARE_SECONDS=60` gives them a full minute. */
const togetherMs = 1000 * Number(process.env.CROFT_FAIR_SHARE_SECONDS ?? 6);
const idleMs = 8000;
/** An attack may make calls of others so much slower than they are without one. */
const maxTimes = 10;
/**
 * Slower calls count only if they are slower than this: other tests, which run beside this one, begin and end between the
 * two measurements. The full minute is for a machine that does nothing else, and has no such minimum.
 */
const minMs = togetherMs < minute ? 250 : 0;

test(
  'an account that attacks the machine makes calls of another at most ten times slower, with one attack or with all at once',
  async () => {
    using directory = makeDirectory();
    const eventsFile = directory.at('events.jsonl');
    writeFileSync(eventsFile, '');
    await using platform = await startPlatform(['--events', eventsFile]);
    const [ann, eve] = [await openOrdinaryAccount(platform), await platform.newAccount('eve')];
    const prepared = await Promise.all(
      attacks.map(async (attack) => ({ name: attack.name, ...(await prepareAttack(eve, attack)) })),
    );
    await ann.workFor(1000);
    const idle = await ann.workFor(idleMs);
    console.info('idle', JSON.stringify(idle));
    const limitMs = Math.max(minMs, maxTimes * idle.p99);

    const mustBeFair = async (name: string, running: typeof prepared, forMs: number) => {
      const work = ann.workFor(forMs);
      const [took] = await Promise.all([work, ...running.map(({ runUntil }) => runUntil(work))]);
      const stalls = readStalls(eventsFile).map(({ processorMs }) => processorMs);
      writeFileSync(eventsFile, '');
      const rounds = running.map((one) => one.rounds());
      const figures = JSON.stringify({ idle, ...took, worstStallOfThread: Math.max(0, ...stalls), rounds });
      console.info(name, figures);
      expect.soft(took.p99, `${name}: ${figures}`).toBeLessThan(limitMs);
    };
    for (const one of prepared) await mustBeFair(one.name, [one], aloneMs);
    await mustBeFair('all at once', prepared, togetherMs);
  },
  240_000 + 2 * togetherMs,
);
