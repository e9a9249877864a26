import { expect, test } from 'vitest';
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
