import { expect, test, vi } from 'vitest';
import { createProcessorShare } from './processor-share.ts';

/** A group whose processor time and clock the test sets. */
function startShare(computing = new Map<symbol, number>()) {
  let [used, now] = [0, 0];
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const changes: boolean[] = [];
  const group = { processorMs: () => used, giveWay: (isLast: boolean) => changes.push(isLast) };
  const share = createProcessorShare(group, computing);
  return {
    changes,
    async pass(ms: number, computedMs: number) {
      now += ms;
      used += computedMs;
      await share.check();
    },
  };
}

test('who computes little always comes first', async () => {
  const { changes, pass } = startShare();
  for (let round = 0; round < 100; round++) await pass(100, 15);
  expect(changes).toEqual([]);
});

test('who has used up its burst comes last, and first again when it has rested', async () => {
  const { changes, pass } = startShare();
  for (let round = 0; round < 4; round++) await pass(100, 200);
  expect(changes).toEqual([true]);
  await pass(500, 0);
  expect(changes).toEqual([true]);
  await pass(2000, 0);
  expect(changes).toEqual([true, false]);
});

test('an hour of computing takes no longer to make up for than seconds', async () => {
  const { changes, pass } = startShare();
  await pass(3_600_000, 7_200_000);
  await pass(12_000, 0);
  expect(changes).toEqual([true, false]);
});

test('those who compute at the same time share what they regain', async () => {
  const others = new Map(Array.from({ length: 7 }, () => [Symbol('other'), 1_000_000]));
  const { changes, pass } = startShare(others);
  for (let round = 0; round < 100; round++) await pass(100, 15);
  expect(changes).toEqual([true]);
  const short = startShare(others);
  for (let round = 0; round < 100; round++) await short.pass(100, 2);
  expect(short.changes).toEqual([]);
});

test('those who have ended count no more', async () => {
  const { changes, pass } = startShare(new Map([[Symbol('gone'), -10_000]]));
  for (let round = 0; round < 100; round++) await pass(100, 15);
  expect(changes).toEqual([]);
});
