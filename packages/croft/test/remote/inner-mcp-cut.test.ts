import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mustBe, type Platform, startPlatform } from '../agents/ground.ts';
import { inner, serverFile } from '../inner-mcp/ground.ts';
import { type FaultyCable, startFaultyCable } from '../link/faulty-cable.ts';
import { startRemote } from './ground.ts';

let platform: Platform;
let cable: FaultyCable;
let remote: Awaited<ReturnType<typeof startRemote>>;
beforeAll(async () => {
  platform = await startPlatform(['--runner-heartbeat', '0.5']);
  cable = await startFaultyCable(platform.url);
  remote = await startRemote(platform, { name: 'far', url: cable.url });
  const { account, agentId, ok } = remote;
  await ok('write', { file_path: 'server.mjs', content: serverFile.toString() });
  const config = { mcpServers: { inner: inner() } };
  mustBe(200, await account.send('PATCH', `/v1/agents/${agentId}`, { config }));
  await ok('mcp__inner__count');
});
afterAll(async () => {
  await remote[Symbol.asyncDispose]();
  await cable[Symbol.asyncDispose]();
  await platform[Symbol.asyncDispose]();
});

/** Again whenever there is a connection, so often or until the work is done. Answers how often. */
async function cutWhile(fault: () => void, work: Promise<unknown>): Promise<number> {
  const done = new AbortController();
  const faults = (async () => {
    let [times, seen] = [0, 0];
    while (!done.signal.aborted && times < 4) {
      if (cable.count() > seen) {
        [times, seen] = [times + 1, cable.count()];
        fault();
      }
      await pause(100, undefined, { signal: done.signal }).catch(() => {});
    }
    return times;
  })();
  await work.finally(() => done.abort());
  return faults;
}

test('calls of a server in the sandbox reach it once and in order, while the cable is cut', async () => {
  const told: string[] = [];
  const work = async () => {
    for (let number = 0; number < 15; number++) told.push((await remote.ok('mcp__inner__order', { number })).text);
  };
  expect(await cutWhile(() => cable.cut(), work())).toBeGreaterThan(0);
  const numbers = Array.from({ length: 15 }, (_, number) => number);
  expect(told).toEqual(numbers.map((number) => numbers.slice(0, number + 1).join(',')));
});

test.each([
  ['is cut in the middle of what is sent', () => cable.cutAfter(60_000)],
  ['swallows everything', () => cable.swallow()],
])('what it answers to calls under way is theirs, byte for byte, while the cable %s', async (_, fault) => {
  // Not of one byte each, so that a piece may end within a letter.
  const inputs = Array.from({ length: 8 }, (_, index) =>
    `${index} ${randomBytes(20_000).toString('base64')} ü漢😀`.repeat(3),
  );
  const answers = Promise.all(inputs.map((words) => remote.ok('mcp__inner__echo', { words })));
  expect(await cutWhile(fault, answers)).toBeGreaterThan(0);
  expect((await answers).map(({ text }) => text)).toEqual(inputs.map((words) => JSON.stringify({ words })));
  // It is the server that it was: none was started anew.
  const { text } = await remote.ok('mcp__inner__order', { number: 'last' });
  expect(text).toMatch(/^0,1,2,.*,14,/);
});
