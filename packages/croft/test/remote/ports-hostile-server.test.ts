import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { serveWorkspaces } from '../../src/runner/serve-workspaces.ts';
import { connectPeers } from '../link/connect-peers.ts';
import { roomyLimits } from '../support/sandboxes/open-sandbox.ts';
import { asking, openTestFixture, workspaceRequest } from './ports-fixture.ts';

const wanted = { limits: roomyLimits, network: { mode: 'deny-all' } };
const own = { ...wanted, session: 's', title: 't' };
const entry = { kind: 'file', mode: 0o644, size: 1, hash: 'a'.repeat(64) };
const change = { path: 'a.js', before: entry };
const invalid = { code: 'E_INVALID_INPUT' };
const unknown = { code: 'E_NOT_FOUND' };

async function openAsked() {
  const fixture = await openTestFixture();
  const ask = asking(fixture.server);
  const { place: handle } = (await ask('workspace.open', workspaceRequest)) as { place: string };
  return { ...fixture, ask, place: handle };
}

/** A sandbox that stays open until the link is closed. */
async function openSandboxId(server: Awaited<ReturnType<typeof openAsked>>['server'], handle: string): Promise<string> {
  const call = server.call('sandbox.open', { place: handle, ...wanted }, {});
  const reported = Promise.withResolvers<string>();
  call.onMessage((message) => reported.resolve((message as { sandbox: string }).sandbox));
  call.answer.catch(reported.reject);
  return reported.promise;
}

describe('a hostile server', () => {
  test.each(['../outside.txt', '/etc/hostname', 'a/../../outside.txt', '/workspace/../outside.txt'])(
    'cannot use a path outside: %s',
    async (path) => {
      const { ask, place: handle, directory, server } = await openAsked();
      writeFileSync(`${directory}/../outside.txt`, 'secret');
      const outside = { code: 'E_SANDBOX_VIOLATION' };
      for (const method of ['stat', 'read', 'version', 'open'])
        await expect(ask(`files.${method}`, { place: handle, path }), method).rejects.toMatchObject(outside);
      await expect(ask('files.list', { place: handle, path, limit: 1 })).rejects.toMatchObject(outside);
      await expect(ask('files.remove', { place: handle, path, recursive: true })).rejects.toMatchObject(outside);
      await expect(ask('files.rename', { place: handle, from: path, to: 'in' })).rejects.toMatchObject(outside);
      const write = server.call('files.write', { place: handle, path, size: 1 }, {});
      write.writable(1).end('x');
      await expect(write.answer).rejects.toMatchObject(outside);
      expect(readFileSync(`${directory}/../outside.txt`, 'utf8')).toBe('secret');
    },
  );

  test.each(['..', '../../usr', 'a/b', '', '.', 'a\0b', 'a\nb'])('cannot use an invalid name: %j', async (name) => {
    const { ask } = await openAsked();
    await expect(ask('workspace.open', { ...workspaceRequest, name })).rejects.toMatchObject(invalid);
  });

  test('cannot use a workspace, a file or a sandbox of another link', async () => {
    const { offer, server, place: handle, ask, at } = await openAsked();
    writeFileSync(at('a.txt'), 'mine');
    const sandbox = await openSandboxId(server, handle);
    const open = server.call('files.open', { place: handle, path: 'a.txt' }, {});
    const file = await new Promise((resolve) =>
      open.onMessage((reported) => resolve((reported as { file: string }).file)),
    );

    const [other, runner] = connectPeers();
    serveWorkspaces(runner, offer);
    const askOther = asking(other);
    const { place: own } = (await askOther('workspace.open', workspaceRequest)) as { place: string };
    expect(own).not.toBe(handle);
    const command = { argv: ['true'], hasInput: false, isMerged: false };
    await expect(askOther('files.stat', { place: handle, path: 'a.txt' })).rejects.toMatchObject(unknown);
    await expect(askOther('files.range', { file, start: 0 })).rejects.toMatchObject(unknown);
    await expect(askOther('sandbox.start', { sandbox, command })).rejects.toMatchObject(unknown);
    await expect(askOther('sandbox.open', { place: handle, ...wanted })).rejects.toMatchObject(unknown);
    expect(await ask('files.stat', { place: handle, path: 'a.txt' })).toMatchObject({ size: 4 });
    expect(await ask('sandbox.start', { sandbox, command })).toMatchObject({ end: { exit: { code: 0 } } });
    other.close('over');
  });

  test.each([
    ['files.stat', {}],
    ['files.stat', { path: 7 }],
    ['files.stat', { path: 'a', more: true }],
    ['files.stat', { path: 'x'.repeat(5000) }],
    ['files.read', { path: 'a', maxBytes: -1 }],
    ['files.list', { path: '', limit: -1 }],
    ['files.list', { path: '', limit: 1e300 }],
    ['files.list', { path: '', limit: '10' }],
    ['files.write', { path: 'a', size: 2 ** 40 }],
    ['files.write', { path: 'a', size: 1, expect: 'whatever' }],
    ['files.upload', { path: 'a', maxBytes: 1.5, waits: false }],
    ['files.remove', { path: 'a', recursive: 'yes' }],
    ['search.start', { argv: ['../../bin/sh'] }],
    ['search.start', { argv: [] }],
    ['sandbox.open', { ...wanted, limits: { ...roomyLimits, memoryBytes: -1 } }],
    ['sandbox.open', { ...wanted, limits: { ...roomyLimits, processes: 1e300 } }],
    ['sandbox.open', { ...wanted, limits: {} }],
    ['sandbox.open', { ...wanted, network: { mode: 'everything' } }],
    ['sandbox.open', { ...wanted, network: { mode: 'restricted', domains: ['*'] } }],
    ['sandbox.open', { ...wanted, readable: ['/'] }],
    ['history.check', { call: { tool: 'x' } }],
    ['history.list-at', { snapshot: 's', path: '../outside' }],
    ['history.read-at', { snapshot: 's', path: '../outside.txt' }],
    ['history.read-at', { snapshot: 's', path: '' }],
    ['history.take-back', { changes: [{ ...change, path: '../outside.txt' }] }],
    ['history.take-back', { changes: [{ ...change, path: '' }] }],
    ['history.take-back', { changes: [{ ...change, before: { ...entry, mode: 65_536 } }] }],
    ['history.take-back', { changes: [{ ...change, text: 'more' }] }],
    ['history.take-back', { changes: Array(201).fill(change) }],
    ['transactions.begin', { ...own, asBefore: [{ ...change, path: '/etc/passwd' }] }],
    ['transactions.begin', { ...own, asBefore: Array(201).fill(change) }],
  ])('cannot use %s with %j, which is refused before the disk is read', async (method, params) => {
    const { ask, place: handle, directory } = await openAsked();
    await expect(ask(method, { place: handle, ...params })).rejects.toMatchObject(invalid);
    expect(readdirSync(directory)).toEqual([]);
  });

  test.each([
    ['fewer', 'ab', 3],
    ['more', 'abcd', 3],
  ])('%s bytes than it announced writes nothing', async (_what, body, size) => {
    const { server, place: handle, at } = await openAsked();
    const call = server.call('files.write', { place: handle, path: 'a.txt', size }, {});
    call.writable(1).end(body);
    await expect(call.answer).rejects.toThrow();
    expect(existsSync(at('a.txt'))).toBe(false);
  });

  test('that breaks off a body, or announces a wrong size, changes nothing', async () => {
    const { server, place: handle, directory } = await openAsked();
    const write = server.call('files.write', { place: handle, path: 'a.txt', size: 6 }, {});
    write.writable(1).write('half');
    write.writable(1).destroy();
    await expect(write.answer).rejects.toMatchObject({ code: 'E_CANCELLED' });

    const upload = server.call('files.upload', { place: handle, path: 'b.txt', maxBytes: 100, waits: false }, {});
    upload.writable(1).end('half');
    upload.sendMessage({ order: 'sent', size: 8 });
    await expect(upload.answer).rejects.toMatchObject({ code: 'E_CANCELLED' });
    expect(readdirSync(directory)).toEqual([]);
  });

  test('cannot change a read-only workspace, nor run anything in it', async () => {
    const fixture = await openTestFixture();
    const { offered, directory, at } = fixture;
    mkdirSync(at('dir'));
    const [server, runner] = connectPeers();
    const open = async () => ({ ...offered, access: 'read-only' as const });
    serveWorkspaces(runner, { open, remove: fixture.offer.remove });
    const ask = asking(server);
    const { place: handle } = (await ask('workspace.open', workspaceRequest)) as { place: string };
    const refused = { code: 'E_READ_ONLY' };
    await expect(ask('files.write', { place: handle, path: 'a', size: 0 })).rejects.toMatchObject(refused);
    await expect(ask('files.upload', { place: handle, path: 'a', maxBytes: 9, waits: false })).rejects.toMatchObject(
      refused,
    );
    await expect(ask('files.remove', { place: handle, path: 'dir', recursive: true })).rejects.toMatchObject(refused);
    await expect(ask('files.rename', { place: handle, from: 'dir', to: 'b' })).rejects.toMatchObject(refused);
    await expect(ask('sandbox.open', { place: handle, ...wanted })).rejects.toMatchObject(refused);
    await expect(ask('history.take-back', { place: handle, changes: [change] })).rejects.toMatchObject(refused);
    await expect(ask('transactions.begin', { place: handle, ...own, asBefore: [change] })).rejects.toMatchObject(
      refused,
    );
    expect(readdirSync(directory)).toEqual(['dir']);
    server.close('over');
  });

  test('fails only its own call with an invalid message', async () => {
    const { server, place: handle, ask } = await openAsked();
    const sandbox = await openSandboxId(server, handle);
    const command = { argv: ['sleep', '1000'], hasInput: false, isMerged: false };
    const call = server.call('sandbox.start', { sandbox, command }, {});
    call.sendMessage({ type: 'signal', name: 'rm -rf' });
    await expect(call.answer).rejects.toMatchObject(invalid);
    const next = { argv: ['true'], hasInput: false, isMerged: false };
    expect(await ask('sandbox.start', { sandbox, command: next })).toMatchObject({ end: { exit: { code: 0 } } });
  });
});
