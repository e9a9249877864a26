import { PassThrough } from 'node:stream';
import { AppError, type TerminalServerMessage } from '@croft/protocol';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ProgramExit, Sandbox } from '../commands/sandbox.ts';
import { createTerminals, type TerminalOwner } from './terminals.ts';

const owner: TerminalOwner = { accountId: 'a', person: 'key 1', sandboxId: 's', workspaceId: 'w' };
const piece = 64 * 1024;
const size = { rows: 24, columns: 80 };
const over = () => {};
const untold = { onOpen: async () => {}, onClosed: async () => {} };
const usage = { userMs: 0, systemMs: 0, maxRssBytes: 0 };

/** A sandbox whose one program prints what a test says, and ends when it is killed. */
function newSandbox() {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const exit = Promise.withResolvers<ProgramExit>();
  const kill = vi.fn(() => exit.resolve({ code: null, signal: 'SIGKILL', usage }));
  const close = vi.fn(async () => kill());
  const start = vi.fn(() => ({ stdin, stdout, stderr, exit: exit.promise, kill, signal() {}, resize() {} }));
  const limits = { memoryBytes: 1, processes: 1, cpus: 1, fileBytes: 1, openFiles: 1, diskBytes: 1 };
  const about = { name: 'fake', workspacePath: '/w', temporaryPath: '/tmp', network: 'deny-all', limits } as const;
  const sandbox: Sandbox = { ...about, start, close, takeDenials: () => [], closed: exit.promise.then(over, over) };
  return { sandbox, start, stdout, kill, close, exit };
}

function open(graceMs = 60_000) {
  const made = newSandbox();
  const terminals = createTerminals({ graceMs, openSandbox: async () => made.sandbox, ...untold });
  return { ...made, terminals };
}

function newViewer() {
  const [reported, shown]: [TerminalServerMessage[], Buffer[]] = [[], []];
  const leave = vi.fn();
  const viewer = {
    show: (bytes: Buffer) => void shown.push(bytes),
    tell: (one: TerminalServerMessage) => void reported.push(one),
  };
  return { ...viewer, leave, told: reported, text: () => Buffer.concat(shown).toString() };
}

function useFakeTimers() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

test('a later viewer takes the terminal over, and the earlier viewer ends nothing by leaving', async () => {
  const { terminals, stdout } = open();
  const [first, second] = [newViewer(), newViewer()];
  const terminal = await terminals.enter(owner, { size }, first);
  await terminals.enter(owner, { size, terminal: terminal.id }, second);
  expect(first.leave).toHaveBeenCalledOnce();
  terminal.detach(first);
  stdout.write('still here');
  await vi.waitFor(() => expect(second.text()).toBe('still here'));
  expect(first.text()).toBe('');
});

test('a terminal without a viewer ends after its grace period, unless a viewer returns', async () => {
  useFakeTimers();
  const { terminals, kill, close } = open(1000);
  const viewer = newViewer();
  const terminal = await terminals.enter(owner, { size }, viewer);
  vi.advanceTimersByTime(5000);
  terminal.detach(viewer);
  vi.advanceTimersByTime(999);
  const again = newViewer();
  await terminals.enter(owner, { size, terminal: terminal.id }, again);
  vi.advanceTimersByTime(5000);
  expect(kill).not.toHaveBeenCalled();
  terminal.detach(again);
  vi.advanceTimersByTime(1000);
  expect(kill).toHaveBeenCalled();
  await terminal.ended;
  await Promise.resolve();
  expect(close).toHaveBeenCalled();
  expect(terminals.owners()).toEqual([]);
});

test('a viewer that attaches after a failed start gets the reason', async () => {
  const { terminals, exit, close } = open();
  exit.reject(new AppError('E_SANDBOX_UNAVAILABLE', 'there is no shell'));
  const viewer = newViewer();
  await terminals.enter(owner, { size }, viewer);
  await vi.waitFor(() => expect(viewer.leave).toHaveBeenCalled());
  expect(viewer.told.at(-1)).toEqual({ type: 'error', code: 'E_SANDBOX_UNAVAILABLE', message: 'there is no shell' });
  await vi.waitFor(() => expect(close).toHaveBeenCalled());
});

test('acknowledged output is kept for a while, and an acknowledgement of unprinted output loses nothing', async () => {
  const { terminals, stdout } = open();
  const viewer = newViewer();
  const terminal = await terminals.enter(owner, { size }, viewer);
  for (let index = 0; index < 6; index += 1) stdout.write(Buffer.alloc(piece, `${index}`));
  await vi.waitFor(() => expect(viewer.text()).toHaveLength(6 * piece));
  terminal.confirm(Number.MAX_SAFE_INTEGER);
  for (const from of [0, 6 * piece + 1]) {
    const back = terminals.enter(owner, { size, terminal: terminal.id, from }, newViewer());
    await expect(back).rejects.toMatchObject({ code: 'E_RANGE' });
  }
  const late = newViewer();
  await terminals.enter(owner, { size, terminal: terminal.id }, late);
  expect(late.told[0]).toMatchObject({ type: 'attached', offset: 4 * piece });
  expect(late.text()).toBe('4'.repeat(piece) + '5'.repeat(piece));
});

test.each([
  ['account', { accountId: 'b' }],
  ['person', { person: 'key 2' }],
  ['sandbox', { sandboxId: 't' }],
  ['workspace', { workspaceId: 'x' }],
])('a terminal is not found by another %s', async (_, other) => {
  const { terminals } = open();
  const { id } = await terminals.enter(owner, { size }, newViewer());
  const stranger = terminals.enter({ ...owner, ...other }, { size, terminal: id }, newViewer());
  await expect(stranger).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
});

test('each account has its own limit of open terminals, also for concurrent requests', async () => {
  const made = Array.from({ length: 60 }, newSandbox);
  const openSandbox = vi.fn(async () => made[openSandbox.mock.calls.length - 1]?.sandbox as Sandbox);
  const terminals = createTerminals({ graceMs: 60_000, openSandbox, ...untold });
  const asked = Array.from({ length: 55 }, () => terminals.enter(owner, { size }, newViewer()));
  const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(5);
  expect(refused[0]).toMatchObject({ reason: { code: 'E_TOO_MANY' } });
  await expect(terminals.enter(owner, { size }, newViewer())).rejects.toMatchObject({ code: 'E_TOO_MANY' });
  await terminals.enter({ ...owner, accountId: 'b' }, { size }, newViewer());
  made[0]?.kill();
  await vi.waitFor(() => expect(terminals.owners()).toHaveLength(50));
  await terminals.enter(owner, { size }, newViewer());
});

test('a terminal that fails to open frees its slot and its sandbox', async () => {
  const { terminals, start, close } = open();
  start.mockImplementation(() => {
    throw new AppError('E_SANDBOX_UNAVAILABLE', 'it is gone');
  });
  for (let index = 0; index < 51; index += 1)
    await expect(terminals.enter(owner, { size }, newViewer())).rejects.toThrow('it is gone');
  expect(close).toHaveBeenCalledTimes(51);
  expect(terminals.owners()).toEqual([]);
});

test('a shell starts only if the audit trail has its opening, and each recorded opening is closed once', async () => {
  const [untold, reported] = [newSandbox(), newSandbox()];
  const made = [untold, reported];
  const onOpen = vi.fn(async () => {});
  const onClosed = vi.fn(async () => {});
  const openSandbox = async () => made.shift()?.sandbox as Sandbox;
  const terminals = createTerminals({ graceMs: 60_000, openSandbox, onOpen, onClosed });
  onOpen.mockRejectedValueOnce(new AppError('E_STORAGE_FAILED', 'the disk is full'));
  await expect(terminals.enter(owner, { size }, newViewer())).rejects.toThrow('the disk is full');
  expect([untold.start.mock.calls, untold.close.mock.calls.length, onClosed.mock.calls]).toEqual([[], 1, []]);
  const { id, ended } = await terminals.enter(owner, { size }, newViewer());
  await terminals.close();
  await ended;
  expect(onClosed.mock.calls).toEqual([[owner, id, { reason: 'the server stopped' }]]);
});

test('removing an account ends its terminals and no others', async () => {
  const made = [newSandbox(), newSandbox()] as const;
  const terminals = createTerminals({
    graceMs: 60_000,
    openSandbox: async ({ accountId }) => made[accountId === 'a' ? 0 : 1].sandbox,
    ...untold,
  });
  await terminals.enter(owner, { size }, newViewer());
  await terminals.enter({ ...owner, accountId: 'b' }, { size }, newViewer());
  await terminals.endOf('a');
  expect([made[0].close.mock.calls.length > 0, made[1].close.mock.calls.length]).toEqual([true, 0]);
});
