import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { connectHttp, connectStdio, startServer } from '../support/harness.ts';
import { call, directory, run } from './bash-fixture.ts';

const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { interval: 20 });

describe('a command that times out', () => {
  test('answers its output and 124', async () => {
    expect(await run('echo begun; sleep 300', { timeout: 1 })).toMatchObject({
      text: 'begun\nbash: timed out after 1s\nexit: 124\n',
      isError: false,
      structured: { output: 'begun\n', exitCode: 124, timedOut: true },
    });
  });

  test('is killed with everything it started, also processes that left its session and its parents', async () => {
    const mark = newMark();
    const answer = run(`${inNewSession(mark)}; ${sleepAs(`${mark}-child`)} & trap "" TERM INT HUP; sleep 300`, {
      timeout: 4,
    });
    await eventually(() => expect(namesOf(mark)).toEqual([mark, `${mark}-child`]));
    expect((await answer).structured).toMatchObject({ exitCode: 124, timedOut: true });
    await eventually(() => expect(processesOf(mark)).toEqual([]));
  });

  test('goes on in the background with its output, if asked for', async () => {
    const answer = await run('echo one; until [ -e go-on ]; do sleep 0.02; done; echo two; exit 4', {
      timeout: 1,
      on_timeout: 'background',
    });
    const { shell_id } = answer.structured;
    expect(answer).toMatchObject({
      isError: false,
      text: expect.stringMatching(`^one\nshell_id: ${shell_id}\nstarted in background: echo one; `),
      structured: { output: 'one\n', exitCode: null, timedOut: false },
    });
    expect((await call('bash_output', { shell_id })).structured).toMatchObject({ output: 'one\n', status: 'running' });
    await run('touch go-on');
    await eventually(async () =>
      expect((await call('bash_output', { shell_id, cursor: 4 })).structured).toMatchObject({
        output: 'two\n',
        status: 'completed',
        exitCode: 4,
      }),
    );
  });

  test('leaves the sandbox usable for the next command', async () => {
    await run('echo kept > /tmp/kept; sleep 300', { timeout: 1 });
    expect((await run('cat /tmp/kept')).text).toBe('kept\n');
  });
});

describe('a command that leaves a process running', () => {
  test('answers when the command itself has ended', async () => {
    const mark = newMark();
    const answer = await run(`${sleepAs(mark)} & echo ok`, { timeout: 20 });
    expect(answer).toMatchObject({ text: 'ok\n', structured: { exitCode: 0, timedOut: false } });
    await eventually(() => expect(namesOf(mark)).toEqual([mark]));
  });

  test('can leave a server that the next call reaches', async () => {
    const script = "require('http').createServer((q, r) => r.end('served')).listen(8642, '127.0.0.1')";
    expect((await run(`node -e "${script}" & echo ok`)).text).toBe('ok\n');
    await eventually(async () => expect((await run('curl -sS http://127.0.0.1:8642/')).text).toBe('served\n'));
  });
});

describe('a session', () => {
  test('keeps /tmp from one call to the next', async () => {
    await run('echo mine > /tmp/note');
    expect((await run('cat /tmp/note')).text).toBe('mine\n');
    expect((await call('run_command', { cmd: 'cat', args: ['/tmp/note'] })).text).toBe('mine\n');
  });

  test('shares /tmp and processes with no other session of the same server', async () => {
    await using server = await startServer(['--workspace', directory.path]);
    await using one = await connectHttp(server, { era: '2025' });
    await using other = await connectHttp(server, { era: '2025' });
    const mark = newMark();
    await one.call('bash', { command: `echo mine > /tmp/note; ${sleepAs(mark)} & echo ok` });
    await eventually(() => expect(namesOf(mark)).toEqual([mark]));
    expect((await other.call('bash', { command: 'cat /tmp/note' })).structured).toMatchObject({ exitCode: 1 });
    const { text } = await other.call('bash', { command: 'cat /proc/[0-9]*/cmdline | tr "\\0" "\\n"' });
    expect(text).not.toContain(mark);
    expect((await one.call('bash', { command: 'cat /tmp/note' })).text).toBe('mine\n');
  });

  test('leaves no process behind when its connection closes', async () => {
    const mark = newMark();
    const closing = await connectStdio(['--workspace', directory.path]);
    await closing.call('bash', { command: sleepAs(`${mark}-shell`), run_in_background: true });
    await closing.call('bash', { command: `${inNewSession(mark)}; echo ok` });
    await eventually(() => expect(namesOf(mark)).toEqual([mark, `${mark}-shell`]));
    await closing[Symbol.asyncDispose]();
    await eventually(() => expect(processesOf(mark)).toEqual([]));
  });

  test('leaves no process behind when its server is killed', async () => {
    const mark = newMark();
    await using server = await startServer(['--workspace', directory.path]);
    await using killed = await connectHttp(server);
    await killed.call('bash', { command: `${inNewSession(mark)}; echo ok` });
    await eventually(() => expect(namesOf(mark)).toEqual([mark]));
    server.child.kill('SIGKILL');
    await eventually(() => expect(processesOf(mark)).toEqual([]));
  });
});

describe('a cancelled call', () => {
  test.each([
    ['bash', (mark: string) => ({ command: `${inNewSession(mark)}; sleep 300` })],
    ['run_command', (mark: string) => ({ cmd: 'bash', args: ['-c', `${inNewSession(mark)}; sleep 300`] })],
  ] as const)('ends every process that %s started', async (tool, toArguments) => {
    const mark = newMark();
    const abort = new AbortController();
    const answer = isRejected(call(tool, toArguments(mark), { signal: abort.signal }));
    await eventually(() => expect(namesOf(mark)).toEqual([mark]));
    abort.abort();
    expect(await answer).toBe(true);
    await eventually(() => expect(processesOf(mark)).toEqual([]));
  });

  test.each([
    ['bash', (mark: string) => ({ command: `exec ${sleepAs(mark)}` })],
    ['run_command', (mark: string) => ({ cmd: 'bash', args: ['-c', `exec ${sleepAs(mark)}`] })],
  ] as const)('whose sandbox is still opening leaves no process of %s', async (name, toArguments) => {
    const mark = newMark();
    await using early = await connectStdio(['--workspace', directory.path], { era: '2025' });
    const params = { name, arguments: toArguments(mark) };
    // Side by side, as a client does that changes its mind at once: a sandbox takes longer to open.
    await Promise.all([
      early.transport.send({ jsonrpc: '2.0', id: 'early', method: 'tools/call', params }),
      early.transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'early' } }),
    ]);
    expect((await early.call('bash', { command: 'echo open' })).text).toBe('open\n');
    await eventually(() => expect(processesOf(mark)).toEqual([]));
  });
});

function newMark(): string {
  return `croft-mark-${crypto.randomUUID()}`;
}

/** A process that the host can tell by its name. */
function sleepAs(name: string): string {
  return `bash -c 'exec -a ${name} sleep 300'`;
}

/** Forked twice, with a session of its own, so that nothing but its sandbox ties it to the command. */
function inNewSession(name: string): string {
  return `(setsid bash -c 'exec -a ${name} sleep 300' </dev/null >/dev/null 2>&1 &)`;
}

/** Command lines on this machine with the mark in them. Those of zombies are empty. */
function processesOf(mark: string): string[][] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return line.includes(mark) ? [line.split('\0')] : [];
      } catch {
        // Gone meanwhile.
        return [];
      }
    });
}

function namesOf(mark: string): string[] {
  const names = processesOf(mark).map(([name = '']) => name);
  return names.filter((name) => name.startsWith(mark)).sort();
}

function isRejected(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => false,
    () => true,
  );
}
