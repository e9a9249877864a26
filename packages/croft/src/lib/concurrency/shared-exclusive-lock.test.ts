import { expect, test } from 'vitest';
import { createSharedExclusiveLock } from './shared-exclusive-lock.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('an exclusive task waits for earlier tasks, and later tasks wait for it', async () => {
  const lock = createSharedExclusiveLock();
  const seen: string[] = [];
  const [first, second] = [await lock.enter(), await lock.enter()];
  const gate = Promise.withResolvers<void>();
  const alone = lock.alone(async () => {
    seen.push('alone');
    await gate.promise;
  });
  const later = lock.enter().then((leave) => {
    seen.push('later');
    leave();
  });
  first();
  // Leaving a second time has no effect and must not count for the other holder.
  first();
  await nextTurn();
  expect(seen).toEqual([]);
  second();
  await nextTurn();
  expect(seen).toEqual(['alone']);
  gate.resolve();
  await Promise.all([alone, later]);
  expect(seen).toEqual(['alone', 'later']);
});

test('exclusive tasks run one after the other in order, also after a failure', async () => {
  const lock = createSharedExclusiveLock();
  const seen: number[] = [];
  const failing = lock.alone(async () => {
    await nextTurn();
    seen.push(1);
    throw new RangeError('its own');
  });
  const next = lock.alone(async () => {
    seen.push(2);
  });
  await expect(failing).rejects.toThrow('its own');
  await next;
  expect(seen).toEqual([1, 2]);
  (await lock.enter())();
});
