import { expect, test } from 'vitest';
import { createCircuitBreaker } from './circuit-breaker.ts';

test('callers that retry at once and for ever do not hide the end of the outage', async () => {
  let isAway = true;
  const changes: (Date | undefined)[] = [];
  const breaker = createCircuitBreaker({
    ask: async () => {
      if (isAway) throw new Error('away');
    },
    onChange: (since) => changes.push(since),
  });
  expect(await breaker.suspect()).toBe(false);
  isAway = false;
  const insist = async () => {
    while (breaker.since) await breaker.check().catch(() => {});
  };
  await Promise.all([insist(), insist()]);
  await breaker.check();
  expect(changes).toEqual([expect.any(Date), undefined]);
});
