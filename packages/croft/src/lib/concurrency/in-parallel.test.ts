import { expect, test } from 'vitest';
import { inParallel } from './in-parallel.ts';

test('never more than the limit at a time, and every item once', async () => {
  const done: number[] = [];
  let [running, most] = [0, 0];
  await inParallel(
    Array.from({ length: 50 }, (_, index) => index),
    7,
    async (item) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      done.push(item);
    },
  );
  expect(done.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index));
  expect(most).toBe(7);
});

test('a failure ends the whole, after the tasks in progress are over', async () => {
  const [begun, ended]: [number[], number[]] = [[], []];
  const work = inParallel([1, 2, 3, 4, 5, 6, 7, 8], 3, async (item) => {
    begun.push(item);
    await new Promise((resolve) => setImmediate(resolve));
    if (item === 2) throw new Error('two');
    await new Promise((resolve) => setTimeout(resolve, 5));
    ended.push(item);
  });
  await expect(work).rejects.toThrow('two');
  expect(begun).toEqual([1, 2, 3]);
  expect(ended.toSorted()).toEqual([1, 3]);
});

test('a source that fails leaves no task running', async () => {
  const ended: number[] = [];
  async function* source() {
    yield 1;
    throw new Error('source');
  }
  const work = inParallel(source(), 3, async (item) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    ended.push(item);
  });
  await expect(work).rejects.toThrow('source');
  expect(ended).toEqual([1]);
});
