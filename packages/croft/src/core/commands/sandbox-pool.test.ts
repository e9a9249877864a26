import { expect, test, vi } from 'vitest';
import { createSandboxPool } from './sandbox-pool.ts';

test('an ended session opens no sandbox, with an error', async () => {
  const opened: string[] = [];
  const pool = createSandboxPool({
    idleMs: 1000,
    async open(workspace) {
      opened.push(workspace);
      throw new Error('not here');
    },
  });
  await pool.close();
  const ended = { name: 'AppError', code: 'E_SANDBOX_UNAVAILABLE', message: 'the session has ended' };
  await expect(pool.use('main', async () => 1)).rejects.toMatchObject(ended);
  expect(opened).toEqual([]);
});

test('a sandbox that failed to close is dropped from the pool without failing other calls', async () => {
  const gone = Promise.withResolvers<void>();
  const pool = createSandboxPool({ idleMs: 1000, open: async () => ({ closed: gone.promise, close: async () => {} }) });
  await pool.use('main', async () => 1);
  gone.reject(new Error('the directory is busy'));
  await vi.waitFor(() => expect(pool.isEmpty()).toBe(true));
});

test('a sandbox that has ended is replaced before its removal has finished', async () => {
  const [ended, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let opened = 0;
  const pool = createSandboxPool({
    idleMs: 1000,
    open: async () => ({ ended: ended.promise, closed: gone.promise, close: async () => {}, number: ++opened }),
  });
  expect(await pool.use('main', async ({ number }) => number)).toBe(1);
  ended.resolve();
  await ended.promise;
  expect(await pool.use('main', async ({ number }) => number)).toBe(2);
  gone.resolve();
  await vi.waitFor(() => expect(pool.isEmpty()).toBe(true));
});

test('a sandbox opened ahead is the one that is used; if that fails, its user is told', async () => {
  let opened = 0;
  const pool = createSandboxPool({
    idleMs: 1000,
    async open(workspace) {
      opened += 1;
      if (workspace === 'broken') throw new Error('not here');
      return { closed: new Promise<void>(() => {}), close: async () => {} };
    },
  });
  pool.open('main');
  expect(opened).toBe(1);
  await pool.use('main', async () => 1);
  expect(opened).toBe(1);
  pool.open('broken');
  await expect(pool.use('broken', async () => 1)).rejects.toThrow('not here');
});
