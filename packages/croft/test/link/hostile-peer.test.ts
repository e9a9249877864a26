import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import type { AppError } from '@croft/protocol';
import { expect, test, vi } from 'vitest';
import { createPeer } from '../../src/link/calls/create-peer.ts';
import type { CallHandler } from '../../src/link/calls/peer.ts';
import {
  decodeFrames,
  encodeFrame,
  type FrameType,
  frameTypes,
  type LinkFrame,
  stampFrame,
} from '../../src/link/transport/frames.ts';
import { frameCost, fullWindow, initialWindow, maxCalls, maxDataBytes } from '../../src/link/transport/link-limits.ts';
import { createWirePair } from './connect-peers.ts';

/** A real peer, and somebody at the other end who can say anything. */
function connectHostile(handlers: Record<string, CallHandler> = {}) {
  const { peer, link } = createPeer({ isDialler: false, graceMs: 60_000 });
  peer.serve(handlers);
  const [own, other] = createWirePair();
  const heard: LinkFrame[] = [];
  const end = { reason: '' };
  let sequence = 0;
  other.start({
    onMessage: (message) => decodeFrames(message, (frame) => heard.push(frame)),
    onDrain: () => {},
    onClose: (reason) => {
      end.reason = reason;
    },
  });
  link.attach(own, 0);
  const send = (type: FrameType, call: number, payload: string | Buffer = '', channel = 0, ack = 0) =>
    other.send(stampFrame(encodeFrame(type, call, channel, Buffer.from(payload)), ++sequence, ack));
  const open = (call: number, method: string) => send(frameTypes.open, call, JSON.stringify({ method, params: {} }));
  return { peer, link, heard, end, send, open, raw: other.send };
}

const hang: CallHandler = (_, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
const data = (bytes: number) => Buffer.alloc(bytes, 'x');

type Hostile = ReturnType<typeof connectHostile>;

/** Each of these is no accident: the link is over, and so is everything that was under way on it. */
test.each<[string, string, (hostile: Hostile) => void]>([
  ['data for a call that was never made', 'not open', ({ send }) => send(frameTypes.data, 77, data(1))],
  ['an answer to a call that was never made', 'not open', ({ send }) => send(frameTypes.answer, 4, '1')],
  ['a second answer', 'not open', ({ send }) => [1, 2].map(() => send(frameTypes.answer, 2, '1'))],
  ['an opening with a number of ours', 'does not fit', ({ open }) => open(2, 'hang')],
  ['an opening with a number of ours to come', 'not open', ({ open }) => open(4, 'hang')],
  ['the same call twice', 'used before', ({ open }) => [1, 1].map((id) => open(id, 'hang'))],
  ['a call with an older number', 'used before', ({ open }) => [5, 3].map((id) => open(id, 'hang'))],
  ['taking back what is ours', 'does not fit', ({ send }) => send(frameTypes.cancel, 2)],
  [
    'the end of a call before its answer',
    'before its answer',
    ({ open, send }) => [open(1, 'hang'), send(frameTypes.done, 1)],
  ],
  ['what is no JSON', 'not JSON', ({ send }) => send(frameTypes.open, 1, '{"method":')],
  ['a call without a method', 'valid method name', ({ send }) => send(frameTypes.open, 1, '[]')],
  ['a method with a line break', 'valid method name', ({ open }) => open(1, 'a\nb')],
  ['a wrong deadline', 'deadline', ({ send }) => send(frameTypes.open, 1, '{"method":"hang","deadlineMs":-1}')],
  ['data after its end', 'after its end', ({ send }) => [send(frameTypes.end, 2), send(frameTypes.data, 2, data(1))]],
  ['two ends', 'second end', ({ send }) => [send(frameTypes.end, 2), send(frameTypes.break, 2)]],
  ['more credit than a window', 'credit', ({ send }) => send(frameTypes.credit, 2, Buffer.from('ffffffff', 'hex'))],
  ['an answer that is no JSON', 'not JSON', ({ send }) => send(frameTypes.answer, 2, 'nonsense')],
  [
    'data beyond its credit',
    'without credit',
    ({ send }) => [1, 2].map(() => send(frameTypes.data, 2, data(maxDataBytes))),
  ],
  [
    'data beyond its credit in single bytes',
    'without credit',
    ({ send }) => Array.from({ length: initialWindow / frameCost }, () => send(frameTypes.data, 2, data(1))),
  ],
  [
    'more calls than anybody may have',
    'more calls',
    ({ open }) => Array.from({ length: 2 * maxCalls + 1 }, (_, index) => open(2 * index + 1, 'hang')),
  ],
])('%s ends the link', async (_, reason, attack) => {
  const ended = vi.fn();
  const hostile = connectHostile({ hang: (params, call) => hang(params, call).finally(ended) });
  const call = hostile.peer.call('read', {}, {});
  await vi.waitFor(() => expect(hostile.heard).toHaveLength(1));
  attack(hostile);
  expect((await hostile.peer.lost).message).toContain(reason);
  await call.answer.catch((thrown) => expect(thrown).toMatchObject({ code: 'E_RUNNER_LOST', details: { sent: true } }));
  await vi.waitFor(() => expect(hostile.end.reason).toContain(reason));
  const opened = hostile.heard.filter(({ type }) => type === frameTypes.fail).length;
  expect(opened).toBeLessThanOrEqual(maxCalls);
});

/** Each of these may be an accident on the way: the connection ends, and the link waits for another. */
test.each<[string, string, (hostile: Hostile) => void]>([
  ['a frame before its turn', 'missing', ({ raw }) => raw(stampFrame(encodeFrame(frameTypes.cancel, 1), 2, 0))],
  [
    'an acknowledgement of what was never sent',
    'never sent',
    ({ raw }) => raw(stampFrame(encodeFrame(frameTypes.ack, 0), 0, 99)),
  ],
  ['noise', 'header', ({ raw }) => raw(Buffer.from('noise'))],
  ['a huge frame', 'wrong size', ({ send }) => send(frameTypes.data, 2, data(maxDataBytes + 1))],
])('%s ends the connection', async (_, reason, attack) => {
  const hostile = connectHostile();
  hostile.peer.call('read', {}, {});
  await vi.waitFor(() => expect(hostile.heard).toHaveLength(1));
  attack(hostile);
  await vi.waitFor(() => expect(hostile.end.reason).toContain(reason));
  expect(hostile.link.state).toBe('reconnecting');
});

test('messages for a cancelled call are dropped, and its answer ends it', async () => {
  const { peer, send, heard, link } = connectHostile();
  const controller = new AbortController();
  const call = peer.call('read', {}, { signal: controller.signal });
  await vi.waitFor(() => expect(heard).toHaveLength(1));
  controller.abort(new Error('enough'));
  await expect(call.answer).rejects.toThrow('enough');
  for (let index = 0; index < 100; index++) send(frameTypes.data, 2, data(maxDataBytes));
  send(frameTypes.tell, 2, '"late"');
  send(frameTypes.answer, 2, '"late"');
  await vi.waitFor(() => expect(heard.map(({ type }) => type)).toContain(frameTypes.done));
  expect(link.state).toBe('online');
  send(frameTypes.tell, 2, '"later"');
  await peer.lost;
});

test('messages for an answered call are dropped until the caller has the answer', async () => {
  const { send, open, heard, link, peer } = connectHostile({ quick: async () => 1 });
  open(1, 'quick');
  await vi.waitFor(() => expect(heard).toHaveLength(1));
  send(frameTypes.data, 1, data(10));
  send(frameTypes.cancel, 1);
  send(frameTypes.done, 1);
  await turn();
  await turn();
  expect(link.state).toBe('online');
  send(frameTypes.data, 1, data(10));
  expect((await peer.lost).message).toContain('not open');
});

test('a flood of calls is refused above the limit, and the others go on', async () => {
  const { open, heard, link } = connectHostile({ hang });
  for (let index = 0; index < maxCalls + 10; index++) open(2 * index + 1, 'hang');
  await vi.waitFor(() => expect(heard.filter(({ type }) => type === frameTypes.fail)).toHaveLength(10));
  expect(heard[0]!.payload.toString()).toContain('E_TOO_MANY');
  expect(link.state).toBe('online');
});

test('a peer that never answers is limited to the allowed number of calls, cancelled ones too', async () => {
  const { peer } = connectHostile();
  const controller = new AbortController();
  for (let index = 0; index < maxCalls; index++) peer.call('read', {}, { signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(peer.call('read', {}, {}).answer).rejects.toMatchObject({ code: 'E_TOO_MANY' });
});

test('an error of the other side gets a known code, without control characters', async () => {
  const { peer, send, heard } = connectHostile();
  const bodies = [
    {
      code: 'E_STALE',
      message: 'red \u001b[31mtext\u0007',
      hint: 'run rm',
      details: { 'a\u0000': ['\u001b]0;title\u0007x'] },
    },
    { code: 'toString', message: 12, details: 'none' },
    { code: 'E_STALE', message: 'm'.repeat(100_000), details: { large: 'l'.repeat(100_000) } },
    null,
  ];
  const calls = bodies.map(() => peer.call('read', {}, {}));
  await vi.waitFor(() => expect(heard).toHaveLength(bodies.length));
  for (const [index, body] of bodies.entries()) send(frameTypes.fail, 2 * index + 2, JSON.stringify(body));
  const errors = (await Promise.all(calls.map((call) => call.answer.catch((thrown) => thrown)))) as AppError[];
  expect(errors[0]).toMatchObject({ code: 'E_STALE', message: 'red text', details: { a: ['x'] } });
  expect(errors[0]!.text).not.toContain('rm');
  expect(errors[1]).toMatchObject({ code: 'E_INTERNAL', details: {} });
  expect(errors[2]!.message.length).toBeLessThan(20_000);
  expect(errors[2]!.details).toEqual({});
  expect(errors[3]).toMatchObject({ code: 'E_INTERNAL' });
});

test('an unread channel is limited to its window, and a read one gets credit', async () => {
  const { peer, send, heard } = connectHostile();
  const call = peer.call('read', {}, {});
  await vi.waitFor(() => expect(heard).toHaveLength(1));
  const half = data(initialWindow / 2 - frameCost);
  send(frameTypes.data, 2, half);
  send(frameTypes.data, 2, half);
  const reading = text(call.readable(0));
  await vi.waitFor(() => expect(heard.at(-1)?.type).toBe(frameTypes.credit));
  const granted = () =>
    heard
      .filter(({ type }) => type === frameTypes.credit)
      .reduce((sum, frame) => sum + frame.payload.readUInt32LE(0), 0);
  await vi.waitFor(() => expect(granted()).toBeGreaterThanOrEqual((fullWindow * 3) / 4));
  expect(granted()).toBeLessThanOrEqual(fullWindow);
  send(frameTypes.end, 2);
  expect(await reading).toHaveLength(2 * half.length);
});

test('a peer that does not read blocks the writers, and is dropped if it keeps asking', async () => {
  const large = 'x'.repeat(1_000_000);
  const { open, peer } = connectHostile({ large: async () => large });
  for (let index = 0; index < 100; index++) open(2 * index + 1, 'large');
  expect((await peer.lost).message).toContain('does not take');
});

test('a peer that resumes early and then confirms everything gets nothing twice, and blocks nobody', async () => {
  const { peer, link, heard } = connectHostile();
  peer.call('read', {}, {});
  await vi.waitFor(() => expect(heard).toHaveLength(1));
  const [own, other] = createWirePair();
  const again: LinkFrame[] = [];
  let messages = 0;
  const send = (message: Buffer) => {
    // Without an end it would never come back here.
    if (++messages > 100) throw new Error('it sends without end');
    own.send(message);
  };
  other.start({
    onMessage: (message) => decodeFrames(message, (frame) => again.push(frame)),
    ...{ onDrain: () => {}, onClose: () => {} },
  });
  let receive: (message: Buffer) => void = () => {};
  const start: typeof own.start = (events) => {
    own.start(events);
    receive = events.onMessage;
  };
  link.attach({ ...own, send, start }, 0);
  receive(stampFrame(encodeFrame(frameTypes.ack, 0), 0, 1));
  peer.call('list', {}, {});
  await vi.waitFor(() => expect(again.map(({ type, sequence }) => [type, sequence])).toEqual([[frameTypes.open, 2]]));
});
