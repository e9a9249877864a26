import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createIdleKeyDropper } from './drop-idle-keys.ts';

test('a key is dropped when nobody has used it for a while, and not while somebody does', async () => {
  const dropped: string[] = [];
  const idle = createIdleKeyDropper(20, (key) => dropped.push(key));
  const long = Promise.withResolvers<void>();
  const using = idle.use('a', () => long.promise);
  await idle.use('a', async () => {});
  await expect(idle.use('b', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  await vi.waitFor(() => expect(dropped).toEqual(['b']));
  await delay(40);
  expect(dropped).toEqual(['b']);
  long.resolve();
  await using;
  await vi.waitFor(() => expect(dropped).toEqual(['b', 'a']));
});
