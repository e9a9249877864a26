import { setImmediate, setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createKeyedLock } from './keyed-lock.ts';

test('tasks with one key run one at a time, in order of arrival', async () => {
  const lock = createKeyedLock();
  const events: string[] = [];
  const work = (name: string, delayMs: number) => async () => {
    events.push(`${name} starts`);
    await setTimeout(delayMs);
    events.push(`${name} ends`);
    return name;
  };
  const results = await Promise.all([
    lock.run('k', work('a', 10)),
    lock.run('k', work('b', 1)),
    lock.run('k', work('c', 0)),
  ]);
  expect(results).toEqual(['a', 'b', 'c']);
  expect(events).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
});

test('a key is held from the first task to the end of the last', async () => {
  const lock = createKeyedLock();
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  expect(lock.isHeld('a')).toBe(false);
  const first = lock.run('a', () => opened);
  const last = lock.run('a', async () => expect(lock.isHeld('a')).toBe(true));
  expect([lock.isHeld('a'), lock.isHeld('b')]).toEqual([true, false]);
  open();
  await Promise.all([first, last]);
  expect(lock.isHeld('a')).toBe(false);
});

test('tasks with different keys run side by side', async () => {
  const lock = createKeyedLock();
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const waiting = lock.run('a', () => opened);
  await lock.run('b', async () => open());
  await waiting;
});

test.each([
  ['rejects', () => Promise.reject(new Error('broken'))],
  [
    'throws at once',
    () => {
      throw new Error('broken');
    },
  ],
])('a task that %s does not block the next', async (_, broken) => {
  const lock = createKeyedLock();
  const failing = lock.run('k', broken);
  const following = lock.run('k', async () => 'done');
  await expect(failing).rejects.toThrow('broken');
  expect(await following).toBe('done');
  expect(lock.size).toBe(0);
});

test('an idle lock stores no key', async () => {
  const lock = createKeyedLock();
  const runs = Array.from({ length: 1000 }, (_, index) => lock.run(`key-${index % 100}`, () => setImmediate()));
  expect(lock.size).toBe(100);
  await Promise.all(runs);
  expect(lock.size).toBe(0);
});

test('several keys are held together, also if one is named twice', async () => {
  const lock = createKeyedLock();
  const events: string[] = [];
  const both = lock.runAll(['b', 'a', 'b'], async () => {
    await setTimeout(5);
    events.push('both');
  });
  await Promise.all([both, lock.run('a', async () => events.push('a')), lock.run('b', async () => events.push('b'))]);
  expect(events[0]).toBe('both');
  expect(lock.size).toBe(0);
});

test('a task without keys just runs', async () => {
  expect(await createKeyedLock().runAll([], async () => 1)).toBe(1);
});

test('any mix of keys finishes, and no key is held by two tasks at once', async () => {
  const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 5 });
  const requests = fc.array(fc.record({ wanted: keys, delay: fc.nat(4) }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(requests, async (arrivals) => {
      const lock = createKeyedLock();
      const held = new Set<string>();
      const hold = (wanted: string[]) => async () => {
        const unique = new Set(wanted);
        expect(held.isDisjointFrom(unique)).toBe(true);
        for (const key of unique) held.add(key);
        await setImmediate();
        for (const key of unique) held.delete(key);
      };
      const arrive = async ({ wanted, delay }: { wanted: string[]; delay: number }) => {
        for (let turn = 0; turn < delay; turn++) await setImmediate();
        await lock.runAll(wanted, hold(wanted));
      };
      await Promise.all(arrivals.map(arrive));
      expect(lock.size).toBe(0);
    }),
  );
});
