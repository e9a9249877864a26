import { AppError } from '@croft/protocol';
import { expect, test } from 'vitest';
import type { ToolResult } from '../tools/tool.ts';
import type { WorkspaceCall, WrapCall } from '../workspace/workspace.ts';
import { runWrappedCall } from './run-wrapped-call.ts';

const call: WorkspaceCall = {
  ...{ tool: 'bash', access: 'execute', session: 's', title: 'true', signal: new AbortController().signal },
};
const answer: ToolResult = { text: 'ran', structured: {} };

/** Notes what happens, in order. */
function prepare() {
  const steps: string[] = [];
  const note = (step: string) => void steps.push(step);
  const wrapCall: WrapCall = async (_, work) => {
    note('read before');
    try {
      return await work();
    } finally {
      note('read after');
    }
  };
  const work = async () => {
    note('ran');
    return answer;
  };
  return { steps, note, wrapCall, work };
}

test('what has to be read before a call is read while its beginning is recorded, and the call waits for that', async () => {
  const { steps, note, wrapCall, work } = prepare();
  const recorded = Promise.withResolvers<void>();
  const result = runWrappedCall({ wrapCall }, call, { begun: recorded.promise, work });
  await new Promise(setImmediate);
  expect(steps).toEqual(['read before']);
  note('recorded');
  recorded.resolve();
  expect(await result).toBe(answer);
  expect(steps).toEqual(['read before', 'recorded', 'ran', 'read after']);
});

test('a call whose beginning cannot be recorded does not run, and may be repeated', async () => {
  const { steps, wrapCall, work } = prepare();
  const begun = Promise.reject(new AppError('E_STORAGE_FAILED', 'the records do not answer'));
  await expect(runWrappedCall({ wrapCall }, call, { begun, work })).rejects.toMatchObject({
    code: 'E_STORAGE_FAILED',
    hint: expect.stringContaining('Nothing was done'),
  });
  expect(steps).not.toContain('ran');
});

test('a call that its workspace refuses fails with that reason, whatever becomes of its record', async () => {
  const { steps, work } = prepare();
  const begun = Promise.reject(new AppError('E_STORAGE_FAILED', 'the records do not answer'));
  const wrapCall: WrapCall = async () => {
    throw new AppError('E_RUNNER_LOST', 'the runner is gone');
  };
  await expect(runWrappedCall({ wrapCall }, call, { begun, work })).rejects.toMatchObject({ code: 'E_RUNNER_LOST' });
  await new Promise(setImmediate);
  expect(steps).toEqual([]);
});
