import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { expect, test, vi } from 'vitest';
import { createFastLane, type SendAnswer } from '../../src/mcp/fast-lane.ts';

test('a call that a person may have to agree to is left to those who can ask', async () => {
  const call = vi.fn(async () => ({ text: '', structured: {} }));
  const toolbox = { call, mayAsk: (name: string) => name === 'bash' };
  const sent: JSONRPCMessage[] = [];
  const send: SendAnswer = (message) => void (message && sent.push(message));
  const lane = createFastLane({ toolbox, session: () => 'one' });
  const request = (id: number, name: string) =>
    lane.take({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } }, send);
  lane.take({ jsonrpc: '2.0', method: 'notifications/initialized' }, send);
  expect([request(1, 'bash'), request(2, 'read')]).toEqual([false, true]);
  await vi.waitFor(() => expect(sent).toMatchObject([{ id: 2 }]));
  expect(call).toHaveBeenCalledExactlyOnceWith('read', {}, expect.anything());
});
