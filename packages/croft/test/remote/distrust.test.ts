import { mkdirSync, readdirSync } from 'node:fs';
import type { AppError } from '@croft/protocol';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createSandboxCapacity } from '../../src/app/offer/sandbox-capacity.ts';
import { createRunnerOffer } from '../../src/app/offer.ts';
import type { Sandbox } from '../../src/core/commands/sandbox.ts';
import type { CallHandler } from '../../src/link/calls/peer.ts';
import { connectPeers } from '../link/connect-peers.ts';
import { makeDirectory } from '../support/harness.ts';
import { operator, roomyLimits } from '../support/sandboxes/open-sandbox.ts';
import { openOffer } from './offer-fixture.ts';
import { openLyingRunner, workspaceRequest } from './ports-fixture.ts';

const never = new AbortController().signal;
const wanted = { limits: roomyLimits, network: { mode: 'deny-all' } } as const;

/** The deepest value that can be sent. */
function nest(depth: number): unknown {
  let inner: unknown = 'x';
  for (let index = 0; index < depth; index += 1) inner = [inner];
  return inner;
}

test('an error that a runner reports is cleaned, and limited in depth', async () => {
  const failure = { code: 'E_NOT_RUNNING', message: 'red \u001b[31mtext\u0007', details: { deep: nest(1000) } };
  const { openSandbox } = await openLyingRunner({
    'sandbox.open': async (_params, call) => {
      const about = { name: 'none', workspacePath: '/workspaces/w', network: 'deny-all', limits: roomyLimits };
      call.sendMessage({ type: 'open', sandbox: 's', ...about });
      return new Promise(() => {});
    },
    'sandbox.start': async () => ({ end: { failure }, denials: [] }),
  });
  const sandbox = await openSandbox(wanted);
  const { exit } = sandbox.start({ argv: ['true'], signal: never });
  const error = (await exit.catch((thrown) => thrown)) as AppError;
  expect(error).toMatchObject({ code: 'E_NOT_RUNNING', message: 'red text' });
  expect(JSON.stringify(error.details).length).toBeLessThan(100);
});

test('changes that a runner reports byte by byte are not copied again for each byte', async () => {
  const done = Promise.withResolvers<void>();
  const { watch } = await openLyingRunner({
    'workspace.watch': async (_params, call) => {
      call.sendMessage({ isWatching: true });
      const write = (text: string) => new Promise((resolve) => call.writable(0).write(text, resolve));
      for (let index = 0; index < 4000; index += 1) await write(' ');
      await write('[{"path":"a","type":"write"}]\n');
      return new Promise(() => {});
    },
  });
  const concat = vi.spyOn(Buffer, 'concat');
  onTestFinished(() => concat.mockRestore());
  await watch?.(() => done.resolve(), never);
  await done.promise;
  const copied = concat.mock.calls.flatMap(([pieces]) => pieces).reduce((sum, { length }) => sum + length, 0);
  expect(copied).toBeLessThan(2_000_000);
});

test('a listing longer than the request allows is not parsed', async () => {
  const sending: CallHandler = async (_params, call) => {
    call.writable(0).end(JSON.stringify(Array.from({ length: 200_000 }, () => 1)));
    return null;
  };
  const { files } = await openLyingRunner({ 'files.list': sending, 'files.times': sending });
  const refused = { code: 'E_SANDBOX_UNAVAILABLE', message: expect.stringContaining('bytes that were asked for') };
  await expect(files.list('', { limit: 10 })).rejects.toMatchObject(refused);
  await expect(files.modifiedTimes(['a'])).rejects.toMatchObject(refused);
});

test('a runner opens at most the sandboxes that its operator allows', async () => {
  const { offer, offered } = await openOffer({ capacity: 2 });
  const { openSandbox } = offered;
  const opened = await Promise.allSettled([1, 2, 3].map(() => openSandbox(wanted)));
  const open = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])) as [Sandbox, Sandbox];
  expect(open).toHaveLength(2);
  await expect(openSandbox(wanted)).rejects.toMatchObject({ code: 'E_SANDBOX_UNAVAILABLE' });
  await open[0].close();
  const next = await openSandbox(wanted);
  await Promise.all([open[1].close(), next.close()]);
  expect(offer.load()).toBe(0);
});

test('a server cannot choose the directory of a bucket on a runner', async () => {
  using fixture = makeDirectory();
  const [, runner] = connectPeers();
  const bucket = { objects: 'any', mark: 'any', onOutage: 'refuse' } as const;
  const [good, bad] = [`fs-${'0'.repeat(40)}`, '../../outside'];
  mkdirSync(fixture.at('work'));
  const offered = {
    sandbox: { provider: 'bubblewrap', readable: [], network: { mode: 'deny-all' }, limits: roomyLimits },
    ...{ data: fixture.at('data'), host: { ...operator, variables: {} }, isReadOnly: false, onWarning() {} },
  } as const;
  await using making = createRunnerOffer({ ...offered, workspaces: [], root: fixture.at('root') });
  await using named = createRunnerOffer({ ...offered, workspaces: [{ name: 'work', path: fixture.at('work') }] });
  const ask = (offer: typeof making, namespace: string) =>
    offer.on(runner).open({ ...workspaceRequest, namespace, bucket });
  await expect(ask(making, bad)).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
  // A workspace in a bucket never uses a directory of the operator, whatever its name.
  await expect(ask(named, good)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  expect((await ask(making, good)).root).toBe('/workspaces/work');
});

test('a sandbox that could not be opened does not count against the capacity', async () => {
  const { counted, taken } = createSandboxCapacity(1);
  const failing = async () => Promise.reject(new Error('it does not start'));
  await expect(counted(failing)).rejects.toThrow('it does not start');
  await expect(counted(failing)).rejects.toThrow('it does not start');
  expect(taken()).toBe(0);
});

test('a read-only runner refuses every change by itself', async () => {
  const { offered, fixture } = await openOffer({ isReadOnly: true });
  const { access, files, openSandbox, history, transactions } = offered;
  expect([access, history, transactions]).toEqual(['read-only', undefined, undefined]);
  const [bytes, none] = [Buffer.from('x'), (async function* () {})()];
  for (const attempt of [
    () => files.write('a.txt', bytes),
    () => files.change('a.txt', () => ({ bytes })),
    () => files.upload('b.txt', none, { maxBytes: 1 }),
    () => files.remove('a.txt', { recursive: true, signal: never }),
    () => files.rename('a.txt', 'b.txt'),
    () => openSandbox(wanted),
  ])
    await expect(attempt()).rejects.toMatchObject({ code: 'E_READ_ONLY' });
  expect((await files.read('a.txt')).bytes.toString()).toBe('as it was');
  expect(readdirSync(fixture.at('work'))).toEqual(['a.txt']);
});
