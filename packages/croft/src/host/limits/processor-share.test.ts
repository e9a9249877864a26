import { expect, test, vi } from 'vitest';
import { type Credits, createProcessorShare } from './processor-share.ts';

let now = 0;

/** A group whose processor time and clock the test sets. */
function startShare({ credits = new Map() as Credits, account = undefined as string | undefined } = {}) {
  let used = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const changes: boolean[] = [];
  const group = { processorMs: () => used, giveWay: (isLast: boolean) => changes.push(isLast) };
  const share = createProcessorShare(group, account, credits);
  return {
    ...{ changes, start: share.start, stop: share.stop },
    async pass(ms: number, computedMs: number) {
      now += ms;
      used += computedMs;
      await share.check();
    },
  };
}

const resting = { leftMs: 500, countedAt: 0, isUsedUp: false, computingAt: -10_000, sandboxes: 1 };

test('a sandbox that computes little has full priority', async () => {
  const { changes, pass } = startShare();
  for (let round = 0; round < 100; round++) await pass(100, 15);
  expect(changes).toEqual([]);
});

test('a sandbox that has used up its burst goes last, and first again after a rest', async () => {
  const { changes, pass } = startShare();
  for (let round = 0; round < 4; round++) await pass(100, 200);
  expect(changes).toEqual([true]);
  await pass(500, 0);
  expect(changes).toEqual([true]);
  await pass(2000, 0);
  expect(changes).toEqual([true, false]);
});

test('an hour of computing is made up for within seconds', async () => {
  const { changes, pass } = startShare();
  await pass(3_600_000, 7_200_000);
  await pass(12_000, 0);
  expect(changes).toEqual([true, false]);
});

test('concurrent sandboxes share the regained time', async () => {
  const credits: Credits = new Map(
    Array.from({ length: 7 }, () => [Symbol('other'), { ...resting, computingAt: 1_000_000_000 }]),
  );
  const { changes, pass } = startShare({ credits });
  for (let round = 0; round < 100; round++) await pass(100, 15);
  expect(changes).toEqual([true]);
  const short = startShare({ credits });
  for (let round = 0; round < 100; round++) await short.pass(100, 2);
  expect(short.changes).toEqual([]);
});

test('sandboxes that have ended no longer count', async () => {
  const { changes, pass } = startShare({ credits: new Map([[Symbol('gone'), resting]]) });
  for (let round = 0; round < 100; round++) await pass(100, 15);
  expect(changes).toEqual([]);
});

test('the sandboxes of an account use one burst, and a further sandbox starts last', async () => {
  const credits: Credits = new Map();
  const [one, two] = [startShare({ credits, account: 'eve' }), startShare({ credits, account: 'eve' })];
  const ann = startShare({ credits, account: 'ann' });
  for (let round = 0; round < 6; round++) {
    await one.pass(0, 80);
    await two.pass(0, 80);
    await ann.pass(100, 5);
  }
  expect([one.changes, two.changes]).toEqual([[true], [true]]);
  expect(startShare({ credits, account: 'eve' }).changes).toEqual([true]);
  expect(ann.changes).toEqual([]);
});

test('an account that closes its sandboxes keeps its debt until it has rested', async () => {
  const credits: Credits = new Map();
  const spent = startShare({ credits, account: 'eve' });
  await spent.pass(1000, 2000);
  spent.stop();
  expect(startShare({ credits, account: 'eve' }).changes).toEqual([true]);
  credits.get('eve')!.sandboxes = 0;
  now += 20_000;
  expect(startShare({ credits, account: 'eve' }).changes).toEqual([]);
});

test('a command that starts after a rest has full priority at once', async () => {
  const { changes, pass, start } = startShare();
  await pass(1000, 1500);
  expect(changes).toEqual([true]);
  now += 20_000;
  start();
  expect(changes).toEqual([true, false]);
});
