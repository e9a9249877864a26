import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inner, serverFile } from '../inner-mcp/fixture.ts';
import { readWhole } from '../support/harness.ts';
import { mustBe } from '../support/servers/platform.ts';
import { type RunnerWithCable, startRunnerWithCable, withFaultsDuring } from './runner-with-cable.ts';

let cabled: RunnerWithCable;
let cable: RunnerWithCable['cable'];
let remote: RunnerWithCable['remote'];
beforeAll(async () => {
  cabled = await startRunnerWithCable();
  ({ cable, remote } = cabled);
  const { account, agentId, ok } = remote;
  await ok('write', { file_path: 'server.mjs', content: serverFile.toString() });
  const config = { mcpServers: { inner: inner() } };
  mustBe(200, await account.send('PATCH', `/v1/agents/${agentId}`, { config }));
  await ok('mcp__inner__count');
});
afterAll(() => cabled[Symbol.asyncDispose]());

test('calls of an inner server reach it once and in order, while the cable is cut', async () => {
  const reported: string[] = [];
  const work = async () => {
    for (let number = 0; number < 15; number++) reported.push((await remote.ok('mcp__inner__order', { number })).text);
  };
  await withFaultsDuring(cable, () => cable.cut(), work());
  const numbers = Array.from({ length: 15 }, (_, number) => number);
  expect(reported).toEqual(numbers.map((number) => numbers.slice(0, number + 1).join(',')));
});

test.each([
  ['is cut in the middle of what is sent', () => cable.cutAfter(60_000)],
  ['swallows everything', () => cable.swallow()],
])('its answers reach their calls, byte for byte, while the cable %s', async (_, fault) => {
  // Not of one byte each, so that a piece may end within a letter.
  const inputs = Array.from({ length: 8 }, (_, index) =>
    `${index} ${randomBytes(20_000).toString('base64')} ü漢😀`.repeat(3),
  );
  const answers = Promise.all(inputs.map((words) => remote.ok('mcp__inner__echo', { words })));
  await withFaultsDuring(cable, fault, answers);
  const whole = await Promise.all((await answers).map((answer) => readWhole(remote.call, answer)));
  expect(whole).toEqual(inputs.map((words) => JSON.stringify({ words })));
  // It is the server that it was: none was started anew.
  const { text } = await remote.ok('mcp__inner__order', { number: 'last' });
  expect(text).toMatch(/^0,1,2,.*,14,/);
});
