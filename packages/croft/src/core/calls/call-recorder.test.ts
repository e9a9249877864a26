import { AppError } from '@croft/protocol';
import { expect, test } from 'vitest';
import { createSecrets } from '../secrets/secrets.ts';
import { createWorkspaceSet } from '../workspace/workspace-set.ts';
import { createActiveCalls } from './active-calls.ts';
import { createCallRecorder } from './call-recorder.ts';

async function fail(thrown: unknown): Promise<{ error: AppError; log: string[] }> {
  const log: string[] = [];
  const secrets = createSecrets([]);
  const workspaces = createWorkspaceSet([]);
  const record = createCallRecorder({
    workspaces,
    secrets,
    journal: undefined,
    emit: () => {},
    onWarning: (line) => log.push(line),
  });
  const work = () => Promise.reject(thrown);
  const { signal } = new AbortController();
  const caught = await createActiveCalls()
    .run([signal], (call) => record({ name: 'bash', rawInput: {}, session: 's' }, call, work))
    .catch((error: unknown) => error);
  if (!AppError.is(caught)) throw caught;
  return { error: caught, log };
}

test('the log has the cause of an unexpected failure, and the answer refers to the log', async () => {
  const { error, log } = await fail(new Error('EMFILE: too many open files'));
  expect([error.code, error.hint]).toEqual(['E_INTERNAL', expect.stringContaining('log has the cause')]);
  expect(log).toEqual([expect.stringMatching(/^bash failed: Error: EMFILE: too many open files\n\s+at /)]);
});

test('a failure that the caller can act on is not logged', async () => {
  expect((await fail(new AppError('E_STALE', 'changed'))).log).toEqual([]);
});
