import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createConcurrencyLimit } from './concurrency-limit.ts';

test('a limited number of tasks run at once, and the others follow in order of arrival', async () => {
  const slots = createConcurrencyLimit(2);
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const begun: number[] = [];
  const all = gates.map(({ promise }, index) =>
    slots.run(async () => {
      begun.push(index);
      await promise;
      return index;
    }),
  );
  await setImmediate();
  expect(begun).toEqual([0, 1]);
  gates[1]?.resolve();
  await setImmediate();
  expect(begun).toEqual([0, 1, 2]);
  for (const { resolve } of gates) resolve();
  expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4]);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});

test('a failed task frees its slot, once', async () => {
  const slots = createConcurrencyLimit(1);
  const failing = Array.from({ length: 3 }, () => slots.run(() => Promise.reject(new Error('no'))));
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = slots.run(() => promise);
  let hasBegun = false;
  const second = slots.run(async () => {
    hasBegun = true;
  });
  await setImmediate();
  expect(hasBegun).toBe(false);
  resolve();
  await Promise.all([first, second]);
  expect(hasBegun).toBe(true);
});
