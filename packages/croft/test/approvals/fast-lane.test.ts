import { AppError } from '@croft/protocol';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { expect, test, vi } from 'vitest';
import { createFastLane, type Reply } from '../../src/mcp/fast-lane.ts';

test('a call that may need an approval is left to the MCP server, which can ask', async () => {
  const call = vi.fn(async () => ({ text: '', structured: {} }));
  const toolbox = { call, mayAsk: (name: string) => name === 'bash' };
  const sent: JSONRPCMessage[] = [];
  const reply: Reply = { send: (message) => void (message && sent.push(message)), notify() {}, handOver: () => {} };
  const lane = createFastLane({ toolbox, session: () => 'one' });
  const request = (id: number, name: string) =>
    lane.take({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } }, reply);
  lane.take({ jsonrpc: '2.0', method: 'notifications/initialized' }, reply);
  expect([request(1, 'bash'), request(2, 'read')]).toEqual([false, true]);
  await vi.waitFor(() => expect(sent).toMatchObject([{ id: 2 }]));
  expect(call).toHaveBeenCalledExactlyOnceWith('read', {}, expect.anything());
});

test('a call that turns out to need an approval is handed over before anybody is asked', async () => {
  const call = vi.fn(async () => {
    throw new AppError('E_APPROVAL_REQUIRED', 'a person has to agree');
  });
  const lane = createFastLane({ toolbox: { call, mayAsk: () => false }, session: () => 'one' });
  const reply = { send: vi.fn(), notify: vi.fn(), handOver: vi.fn() };
  lane.take({ jsonrpc: '2.0', method: 'notifications/initialized' }, reply);
  const taken = lane.take(
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'write', arguments: {} } },
    reply,
  );
  expect(taken).toBe(true);
  await vi.waitFor(() => expect(reply.handOver).toHaveBeenCalledOnce());
  expect(reply.send).not.toHaveBeenCalled();
  expect(call).toHaveBeenCalledWith('write', {}, expect.objectContaining({ asker: 'later' }));
});
