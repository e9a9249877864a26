import { expect, test, vi } from 'vitest';
import { createSandboxPool } from './sandbox-pool.ts';

test('a session that has ended opens no sandbox, and says so', async () => {
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

test('a sandbox of which something could not be taken away is forgotten, and ends nothing else', async () => {
  const gone = Promise.withResolvers<void>();
  const pool = createSandboxPool({ idleMs: 1000, open: async () => ({ closed: gone.promise, close: async () => {} }) });
  await pool.use('main', async () => 1);
  gone.reject(new Error('the directory is busy'));
  await vi.waitFor(() => expect(pool.isEmpty()).toBe(true));
});
