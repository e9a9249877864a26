import { expect, test } from 'vitest';
import { createTurns, noteCallStarted } from './turns.ts';

function work(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

test('the event loop runs between two turns, however many tasks there are', async () => {
  let [rounds, steps, isDone] = [0, 0, false];
  const goRound = () => {
    rounds += 1;
    if (!isDone) setImmediate(goRound);
  };
  setImmediate(goRound);
  const slices = 10;
  const workers = Array.from({ length: 8 }, async () => {
    const turn = createTurns();
    for (let slice = 0; slice < slices; slice++) {
      work(6);
      steps += 1;
      await turn();
    }
  });
  await Promise.all(workers);
  isDone = true;
  // The first turn of each runs at once; every other turn had its own round of the event loop.
  expect(steps).toBe(80);
  expect(rounds).toBeGreaterThanOrEqual(8 * (slices - 1));
});

test('an aborted task ends at its next turn', async () => {
  const stop = new AbortController();
  const turn = createTurns(stop.signal);
  work(6);
  const next = turn();
  stop.abort(new Error('called off'));
  await expect(next).rejects.toThrow('called off');
});

test('a short task never waits', () => {
  const turn = createTurns();
  expect(turn()).toBeUndefined();
});

/** Counts the rounds of the event loop during work of 20 turns, with a call that begins before or after the work. */
async function countRounds(callBegins: 'before' | 'after' | 'never'): Promise<number> {
  let [rounds, isDone] = [0, false];
  const goRound = () => {
    rounds += 1;
    if (!isDone) setImmediate(goRound);
  };
  setImmediate(goRound);
  using ended = new DisposableStack();
  if (callBegins === 'before') ended.use(noteCallStarted());
  const turn = createTurns();
  work(2);
  if (callBegins === 'after') ended.use(noteCallStarted());
  for (let slice = 0; slice < 20; slice++) {
    await turn();
    work(2);
  }
  isDone = true;
  return rounds;
}

test('a task makes way for a call that began after it, and for no other', async () => {
  expect(await countRounds('never')).toBeLessThan(50);
  expect(await countRounds('before')).toBeLessThan(50);
  expect(await countRounds('after')).toBeGreaterThan(200);
});
