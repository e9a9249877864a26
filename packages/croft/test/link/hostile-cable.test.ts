import { createHash, randomBytes } from 'node:crypto';
import { finished } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPeer } from '../../src/link/calls/create-peer.ts';
import type { CallHandler, Peer } from '../../src/link/calls/peer.ts';
import { fullLinkBytes } from '../../src/link/transport/link-limits.ts';
import { createDice, type Dice, type Faults, keepConnected } from './hostile-cable.ts';

const faults: Faults = { cut: 100, corrupt: 20, truncate: 20, duplicate: 100, blackHole: 20, delay: 150 };
const calm: Faults = { cut: 0, corrupt: 0, truncate: 0, duplicate: 0, blackHole: 0, delay: 0 };

interface Task {
  readonly key: string;
  readonly sent: number;
  readonly wanted: number;
}

/** A prime, so that what is moved by any usual size is seen to be. */
const period = 65_521;
const noise = Buffer.concat(Array(2).fill(randomBytes(period)));

/** Bytes that tell where they belong: of this task, at this place. */
function bytesOf(key: string, from: number, size: number): Buffer {
  const salt = createHash('sha256').update(key).digest().readUInt16LE();
  const bytes = Buffer.allocUnsafe(size);
  for (let at = 0; at < size; at += period)
    noise.copy(bytes, at, (salt + from) % period, ((salt + from) % period) + period);
  return bytes;
}

/** Takes what the caller writes, and writes its own at the same time. Runs are counted: each key is run once. */
function createWorker(runs: Map<string, number>): CallHandler {
  return async (params, call) => {
    const { key, sent, wanted } = params as Task;
    runs.set(key, (runs.get(key) ?? 0) + 1);
    const taking = take(call.readable(0), key, sent);
    const reported: unknown[] = [];
    call.onMessage((message) => reported.push(message));
    call.sendMessage({ key, begun: true });
    await write(call.writable(3), `${key} back`, wanted);
    await taking;
    call.sendMessage({ key, ended: true });
    return { key, told: reported };
  };
}

async function take(stream: NodeJS.ReadableStream, key: string, size: number): Promise<void> {
  let at = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (!chunk.equals(bytesOf(key, at, chunk.length))) throw new Error(`${key} differs after ${at}`);
    at += chunk.length;
  }
  if (at !== size) throw new Error(`${key} has ${at} of ${size}`);
}

async function write(stream: NodeJS.WritableStream, key: string, size: number): Promise<void> {
  const part = 1 + (size % 30_011);
  for (let at = 0; at < size; at += part) {
    if (!stream.write(bytesOf(key, at, Math.min(part, size - at)))) await new Promise((on) => stream.once('drain', on));
  }
  stream.end();
  await finished(stream);
}

async function runTask(peer: Peer, task: Task): Promise<void> {
  const call = peer.call('work', task, {});
  const reported: unknown[] = [];
  call.onMessage((message) => reported.push(message));
  call.sendMessage('first');
  const reading = take(call.readable(3), `${task.key} back`, task.wanted);
  await write(call.writable(0), task.key, task.sent);
  call.sendMessage('last');
  const [answer] = await Promise.all([call.answer, reading]);
  const { key } = task;
  expect(answer).toMatchObject({ key, told: expect.arrayContaining(['first']) });
  expect(reported).toEqual([
    { key, begun: true },
    { key, ended: true },
  ]);
}

function tasksOf(side: string, dice: Dice): Task[] {
  const size = () => [0, 1, dice(1000), dice(100_000), dice(600_000)][dice(5)]!;
  return Array.from({ length: 12 }, (_, index) => ({ key: `${side} ${index}`, sent: size(), wanted: size() }));
}

async function runAll(seed: number, chosen: Faults) {
  const dice = createDice(seed);
  const runs = new Map<string, number>();
  const server = createPeer({ isDialler: false, graceMs: 60_000 });
  const runner = createPeer({ isDialler: true, graceMs: 60_000 });
  for (const { peer } of [server, runner]) peer.serve({ work: createWorker(runs) });
  const cable = keepConnected(server.link, runner.link, dice, chosen);
  const lost = Promise.race([server.peer.lost, runner.peer.lost]).then((error) => Promise.reject(error));
  const own = tasksOf('of the server', dice).map((task) => runTask(server.peer, task));
  const others = tasksOf('of the runner', dice).map((task) => runTask(runner.peer, task));
  await Promise.race([Promise.all([...own, ...others]), lost]).finally(cable.stop);
  lost.catch(() => {});
  server.peer.close('over');
  return { runs, connections: cable.connections() };
}

test('over a cable that cuts, delays, splits, doubles and drops, every byte arrives once and no call runs twice', async () => {
  let connections = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0 }), async (seed) => {
      const result = await runAll(seed, faults);
      connections += result.connections;
      expect([...result.runs.values()]).toEqual(Array(24).fill(1));
    }),
    { numRuns: 10 },
  );
  // Otherwise nothing was shown.
  expect(connections).toBeGreaterThan(15);
});

test('over a stable cable one connection is enough', async () => {
  expect((await runAll(1, calm)).connections).toBe(1);
});

test('without a connection writers wait, and memory does not grow', async () => {
  const server = createPeer({ isDialler: false, graceMs: 60_000 });
  const runner = createPeer({ isDialler: true, graceMs: 60_000 });
  const runs = new Map<string, number>();
  runner.peer.serve({ work: createWorker(runs) });
  let written = 0;
  const tasks = Array.from({ length: 400 }, (_, index) => {
    const call = server.peer.call('work', { key: `${index}`, sent: 100_000, wanted: 0 }, {});
    call.writable(0).write(bytesOf(`${index}`, 0, 60_000), () => {
      written += 60_000;
    });
    call.writable(0).end(bytesOf(`${index}`, 60_000, 40_000), () => {
      written += 40_000;
    });
    return call.answer;
  });
  for (let index = 0; index < 100; index++) await turn();
  expect(written).toBeLessThan(fullLinkBytes + 1_000_000);
  const cable = keepConnected(server.link, runner.link, createDice(7), calm);
  await Promise.all(tasks).finally(cable.stop);
  expect(runs.size).toBe(400);
  expect(written).toBe(400 * 100_000);
});
