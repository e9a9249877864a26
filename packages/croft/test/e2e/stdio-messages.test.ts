import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, expect, test } from 'vitest';
import { collect, croft, makeDirectory } from '../support/harness.ts';

const directory = makeDirectory({ 'a.txt': 'one\n' });
afterAll(() => directory[Symbol.dispose]());

const read = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'read', arguments: { file_path: 'a.txt' } } };
const invalid = -32600;

test.each([
  ['is no JSON', 'hello', -32700, null],
  ['is half an object', '{"jsonrpc":', -32700, null],
  ['is a batch', [{ ...read, id: 1 }], invalid, null],
  ['is a number', 42, invalid, null],
  ['speaks no version', { id: 2, method: 'ping' }, invalid, 2],
  ['speaks another version', { ...read, id: 'three', jsonrpc: '1.0' }, invalid, 'three'],
  ['has no method', { jsonrpc: '2.0', id: 4 }, invalid, 4],
  ['has a method that is no name', { jsonrpc: '2.0', id: 5, method: 5 }, invalid, 5],
  ['has a list of parameters', { ...read, id: 6, params: ['a.txt'] }, invalid, 6],
  ['has null for an id', { ...read, id: null }, invalid, null],
  ['has an object for an id', { ...read, id: {} }, invalid, null],
])('a line that %s is answered with an error, and the next line as usual', async (_, line, code, id) => {
  await using server = await shakeHands();
  server.send(line);
  server.send({ ...read, id: 'next' });
  const answers = await server.until('"id":"next"');
  expect(answers).toMatchObject([
    { jsonrpc: '2.0', id, error: { code, message: expect.any(String) } },
    { id: 'next', result: { structuredContent: { content: '1\tone\n' } } },
  ]);
});

test.each([
  ['an answer to nothing', { jsonrpc: '2.0', id: 99, result: {} }],
  ['an answer of another version', { jsonrpc: '1.0', id: 99, result: {} }],
  ['a call that wants no answer', read],
  ['an empty line', ''],
])('%s is not answered', async (_, line) => {
  await using server = await shakeHands();
  server.send(line);
  server.send({ ...read, id: 'next' });
  expect(await server.until('"id":"next"')).toMatchObject([{ id: 'next' }]);
});

/** A `croft mcp` of 2025, and what it answers after the handshake. */
async function shakeHands() {
  const child = spawn(croft, ['mcp', '--workspace', directory.path], { stdio: ['pipe', 'pipe', 'pipe'] });
  const output = collect(child);
  const send = (line: unknown) => child.stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } };
  send({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params });
  await output.find(/"id":"hello"/);
  send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return {
    send,
    async until(text: string): Promise<unknown[]> {
      await output.find(new RegExp(text));
      const [, ...answers] = output.stdout().trimEnd().split('\n');
      return answers.map((answer) => JSON.parse(answer));
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
