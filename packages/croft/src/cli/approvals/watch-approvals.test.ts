import { PassThrough } from 'node:stream';
import type { Approval } from '@croft/protocol';
import type { ApprovalEvent } from '@croft/sdk';
import { afterEach, expect, test, vi } from 'vitest';
import type { ApprovalDecision, ApprovalSource } from './approval-source.ts';
import { askAtTerminal } from './watch-approvals.ts';

const approval: Approval = {
  ...{ approvalId: 'ap_000000000000000000000001', agentId: 'agent_1', session: 'default', input: {}, hash: '0' },
  ...{ tool: 'bash', workspace: 'notes', preview: 'rm -r build', state: 'pending', scope: 'once' },
  ...{ createdAt: '2026-01-31T12:00:00.000Z', expiresAt: '2026-01-31T13:00:00.000Z' },
};

afterEach(() => void vi.useRealTimers());

/** A person at a terminal who is shown one approval. */
async function showOne() {
  vi.useFakeTimers({ toFake: ['Date'] });
  const [stdin, stdout, decided] = [new PassThrough(), new PassThrough(), [] as ApprovalDecision[]];
  async function* watch(signal: AbortSignal): AsyncGenerator<ApprovalEvent> {
    yield { type: 'pending', approval };
    await new Promise((ended) => signal.addEventListener('abort', ended, { once: true }));
  }
  const source: Pick<ApprovalSource, 'watch' | 'decide'> = {
    watch,
    async decide(_, decision) {
      decided.push(decision);
      return { ...approval, state: 'approved' };
    },
  };
  const terminal = { stdin, stdout, stderr: stdout, stop: new AbortController().signal };
  const over = askAtTerminal(source as ApprovalSource, terminal as never);
  const until = async (text: string) => {
    let seen = '';
    for (let chunk = ''; !seen.includes(text); chunk = String(stdout.read() ?? '')) {
      seen += chunk;
      await new Promise((turn) => setImmediate(turn));
    }
  };
  await until('q quit');
  /** Resolves when the keys were heard. */
  const type = async (keys: string) => {
    stdin.write(keys);
    await new Promise((turn) => setImmediate(turn));
  };
  return { decided, over, type, until };
}

test('a key decides nothing in the first 400 ms of a question, and decides after them', async () => {
  const { decided, over, type, until } = await showOne();
  await type('a');
  vi.setSystemTime(Date.now() + 399);
  await type('aaaa');
  expect(decided).toEqual([]);
  vi.setSystemTime(Date.now() + 1);
  await type('aaaa');
  await until('approved');
  expect(decided).toEqual([{ decision: 'approve', scope: 'once' }]);
  await type('q');
  await over;
});
