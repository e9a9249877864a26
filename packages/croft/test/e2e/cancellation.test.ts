import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { LifecycleEvent } from '@croft/protocol';
import { describe, expect, test, vi } from 'vitest';
import { connectHttp, croft, eras, startServer } from '../support/harness.ts';
import { connectChild, makeBlockedSearch } from './blocked-search.ts';

const cancelled = [expect.objectContaining({ is_error: true, code: 'E_CANCELLED' })];
/** Short of the ten seconds that a server waits for calls when it stops: later is too late. */
const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 8000 });
const grep = { name: 'grep', arguments: { pattern: 'hello' } };

describe.concurrent.each(eras)('a client of %s that cancels a call', (era) => {
  test('over HTTP ends a search and every process of it', async () => {
    using directory = makeTree();
    await using server = await startServer(directory.flags);
    await using session = await connectHttp(server, { era });
    const abort = new AbortController();
    const call = isRejected(session.client.callTool(grep, { signal: abort.signal }));
    const { search: processes } = await directory.searching(server.child.pid);
    abort.abort();
    expect(await call).toBe(true);
    await soon(() => expect(directory.results()).toEqual(cancelled));
    await soon(() => expect(processes.filter(isRunning)).toEqual([]));
    expect((await session.call('read', { file_path: 'a.txt' })).text).toBe('1\thello\n');
  });

  test('over stdio ends a search and every process of it', async () => {
    using directory = makeTree();
    await using session = await connectChild(directory.flags, era);
    const abort = new AbortController();
    const call = isRejected(session.client.callTool(grep, { signal: abort.signal }));
    const { search: processes } = await directory.searching(session.child.pid);
    abort.abort();
    expect(await call).toBe(true);
    await soon(() => expect(directory.results()).toEqual(cancelled));
    await soon(() => expect(processes.filter(isRunning)).toEqual([]));
    const { content } = await session.client.callTool({ name: 'read', arguments: { file_path: 'a.txt' } });
    expect(content).toMatchObject([{ text: '1\thello\n' }]);
  });

  test('ends the read of a file without end', async () => {
    using directory = makeTree();
    directory.makeEndless('endless.txt');
    await using server = await startServer(directory.flags);
    await using session = await connectHttp(server, { era });
    const abort = new AbortController();
    const call = session.call('read', { file_path: 'endless.txt', offset: 1e9 }, { signal: abort.signal });
    const ended = isRejected(call);
    await vi.waitFor(() => expect(directory.calls()).toHaveLength(1));
    abort.abort();
    expect(await ended).toBe(true);
    await soon(() => expect(directory.results()).toEqual(cancelled));
  });

  test('leaves its other calls running', async () => {
    using directory = makeTree();
    await using server = await startServer(directory.flags);
    await using session = await connectHttp(server, { era });
    const abort = new AbortController();
    const kept = session.call('grep', { pattern: 'hello' });
    const call = isRejected(session.client.callTool(grep, { signal: abort.signal }));
    await vi.waitFor(() => expect(directory.calls()).toHaveLength(2));
    await directory.searching(server.child.pid);
    abort.abort();
    expect(await call).toBe(true);
    await soon(() => expect(directory.results()).toEqual(cancelled));
    directory.release();
    expect((await kept).text).toBe('a.txt:1:hello\n');
  });
});

describe.concurrent('a client that disconnects', () => {
  test.each(eras)('by closing its connection cancels its calls, in %s', async (era) => {
    using directory = makeTree();
    await using server = await startServer(directory.flags);
    const session = await connectHttp(server, { era });
    const call = isRejected(session.client.callTool(grep));
    const { search: processes } = await directory.searching(server.child.pid);
    await session.client.close();
    expect(await call).toBe(true);
    await soon(() => expect(directory.results()).toEqual(cancelled));
    await soon(() => expect(processes.filter(isRunning)).toEqual([]));
  });

  test.each(eras)('by being killed cancels its calls, in %s', async (era) => {
    using directory = makeTree();
    await using server = await startServer(directory.flags);
    const client = spawn(
      process.execPath,
      ['--input-type=module', '--eval', clientProgram, server.url, server.token, era],
      {
        cwd: import.meta.dirname,
        stdio: 'inherit',
      },
    );
    const { search: processes } = await directory.searching(server.child.pid);
    client.kill('SIGKILL');
    await soon(() => expect(directory.results()).toEqual(cancelled));
    await soon(() => expect(processes.filter(isRunning)).toEqual([]));
  });

  test.each(eras)('by closing standard input cancels its calls and ends the server, in %s', async (era) => {
    using directory = makeTree();
    await using session = await connectChild(directory.flags, era);
    const call = isRejected(session.client.callTool(grep));
    const { all: processes } = await directory.searching(session.child.pid);
    const exited = once(session.child, 'exit');
    session.child.stdin.end();
    await soon(() => expect(directory.results()).toEqual(cancelled));
    expect(await exited).toEqual([0, null]);
    expect(processes.filter(isRunning)).toEqual([]);
    expect(directory.events().at(-1)?.event).toBe('lifecycle.stop');
    await session.client.close();
    expect(await call).toBe(true);
  });

  test('by closing standard input ends the read of a file without end', async () => {
    using directory = makeTree();
    directory.makeEndless('endless.txt');
    await using session = await connectChild(directory.flags, '2026');
    const endless = { name: 'read', arguments: { file_path: 'endless.txt', offset: 1e9 } };
    const call = isRejected(session.client.callTool(endless));
    await vi.waitFor(() => expect(directory.calls()).toHaveLength(1));
    const exited = once(session.child, 'exit');
    session.child.stdin.end();
    await soon(() => expect(directory.results()).toEqual(cancelled));
    expect(await exited).toEqual([0, null]);
    await session.client.close();
    expect(await call).toBe(true);
  });
});

test('a signal to croft tool cancels its call and every process of it', async () => {
  using directory = makeTree();
  const args = ['tool', 'grep', '{"pattern":"hello"}', ...directory.flags];
  const child = spawn(croft, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const { all: processes } = await directory.searching(child.pid);
  child.kill('SIGINT');
  const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect({ stderr, exitCode }).toEqual({ stderr: expect.stringMatching(/^E_CANCELLED: /), exitCode: 1 });
  expect(directory.results()).toEqual(cancelled);
  await soon(() => expect(processes.filter(isRunning)).toEqual([]));
});

test('killing the server leaves no process of a search behind', async () => {
  using directory = makeTree();
  await using server = await startServer(directory.flags);
  await using session = await connectHttp(server);
  const call = isRejected(session.client.callTool(grep));
  const { all: processes } = await directory.searching(server.child.pid);
  server.child.kill('SIGKILL');
  expect(await call).toBe(true);
  await soon(() => expect(processes.filter(isRunning)).toEqual([]));
});

/** A client in a process of its own, for a test to kill in the middle of its call. */
const clientProgram = `
  import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
  const [url, token, era] = process.argv.slice(1);
  const requestInit = { headers: { authorization: 'Bearer ' + token } };
  const options = era === '2026' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {};
  const client = new Client({ name: 'killed', version: '1.0.0' }, options);
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }));
  await client.callTool({ name: 'grep', arguments: { pattern: 'hello' } });
`;

/**
 * A workspace in which a search lasts until the test lets it go on: ripgrep reads `.gitignore` first, and here
 * that is a pipe whose other end the test holds.
 */
function makeTree() {
  const held = makeBlockedSearch('hello\n');
  const fieldsOf = (name: LifecycleEvent['event']) =>
    held.events().flatMap((e) => (e.event === name ? [e.fields] : []));
  return {
    ...held,
    calls: () => fieldsOf('lifecycle.tool.call'),
    results: () => fieldsOf('lifecycle.tool.result'),
    /** Waits until a search is under way below this process. Answers its processes, and those of the box it is in too. */
    async searching(pid = 0): Promise<{ search: number[]; all: number[] }> {
      await held.searching();
      const all = descendantsOf(pid);
      expect(all.map(nameOf)).toEqual(expect.arrayContaining(['bwrap', 'init', 'rg']));
      const [box = 0] = all.filter((one) => nameOf(one) === 'init');
      const search = descendantsOf(box);
      expect(search.map(nameOf)).toEqual(expect.arrayContaining(['init', 'rg']));
      return { search, all };
    },
    /** Text at the start, then as many zeros as would take minutes to read; it takes no room on the disk. */
    makeEndless(name: string): void {
      writeFileSync(held.at(`w/${name}`), 'text\n'.repeat(20_000));
      truncateSync(held.at(`w/${name}`), 2 ** 40);
    },
  };
}

function isRejected(call: Promise<unknown>): Promise<boolean> {
  return call.then(
    () => false,
    () => true,
  );
}

function descendantsOf(pid: number): number[] {
  const parents = readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
    return stat ? [{ pid: Number(name), parent: stat.parent }] : [];
  });
  const below = (parent: number): number[] =>
    parents.filter((one) => one.parent === parent).flatMap((one) => [one.pid, ...below(one.pid)]);
  return below(pid);
}

function nameOf(pid: number): string | undefined {
  return statOf(pid)?.name;
}

/** A zombie has ended, whether or not its parent has noticed. */
function isRunning(pid: number): boolean {
  const state = statOf(pid)?.state;
  return state !== undefined && state !== 'Z' && state !== 'X';
}

function statOf(pid: number): { name: string; state: string; parent: number } | undefined {
  try {
    const [, name = '', state = '', parent = ''] =
      /\((.*)\) (\S) (\d+)/s.exec(readFileSync(join('/proc', String(pid), 'stat'), 'utf8')) ?? [];
    return { name, state, parent: Number(parent) };
  } catch {
    // Gone meanwhile.
    return undefined;
  }
}
