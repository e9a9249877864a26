import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type CallOptions,
  connectHttp,
  connectStdio,
  type McpSession,
  makeDirectory,
  startServer,
  type ToolAnswer,
} from '../harness.ts';
import { codeOf, messageOf } from './shared-server.ts';

const canary = `canary-${crypto.randomUUID()}`;
const directory = makeDirectory({ 'here.txt': 'sudo is a word\n', 'other.txt': '' });
let session: McpSession;

beforeAll(async () => {
  session = await connectStdio(['--workspace', directory.path], { env: { LEAK: canary } });
  await session.client.listTools();
});
afterAll(async () => {
  await session?.[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

const call = (name: string, args: Record<string, unknown>, options?: CallOptions) => session.call(name, args, options);
const run = (command: string, more: Record<string, unknown> = {}): Promise<ToolAnswer> =>
  call('bash', { command, ...more });
const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { interval: 20 });

describe('how a command ended', () => {
  test('is not said of one that went well', async () => {
    expect(await run('echo fine')).toMatchObject({
      text: 'fine\n',
      isError: false,
      structured: { output: 'fine\n', exitCode: 0, signal: null, timedOut: false, truncated: false, denials: [] },
    });
  });

  test('is its exit code after what it printed, and no error of the call', async () => {
    expect(await run('echo out; exit 3')).toMatchObject({
      text: 'out\nexit: 3\n',
      isError: false,
      structured: { output: 'out\n', exitCode: 3, signal: null, timedOut: false },
    });
  });

  test('stands on a line of its own after output without a newline', async () => {
    expect((await run('printf out; exit 1')).text).toBe('out\nexit: 1\n');
  });

  test('is the signal that ended it', async () => {
    expect(await run('kill -TERM $$')).toMatchObject({
      text: 'killed by SIGTERM\n',
      isError: false,
      structured: { exitCode: null, signal: 'SIGTERM', timedOut: false },
    });
  });

  test('is 127 for a program that is not there', async () => {
    const { text, structured } = await run('no-such-program-here');
    expect(structured).toMatchObject({ exitCode: 127 });
    expect(text).toMatch(/no-such-program-here: command not found\nexit: 127\n$/);
  });
});

describe('what a command printed', () => {
  test('has both its outputs', async () => {
    const { structured } = await run('echo to-out; echo to-err >&2');
    expect(structured.output.split('\n').sort()).toEqual(['', 'to-err', 'to-out']);
  });

  test('has both its outputs in the order in which they were written', async () => {
    const lines = Array.from({ length: 20 }, (_, index) => `${index}\n`).join('');
    const command = 'for i in {0..19}; do if ((i % 2)); then echo $i >&2; else echo $i; fi; done';
    expect((await run(command)).structured.output).toBe(lines);
  });

  test('is all there when it is more than a pipe holds', async () => {
    const { structured } = await run('head -c 100000 /dev/zero | tr "\\0" x');
    expect(structured).toMatchObject({ output: 'x'.repeat(100_000), truncated: false });
  });

  test('keeps its beginning and its end when it is very much, and says how much is gone', async () => {
    const { text, structured } = await run('printf begin; head -c 1000000 /dev/zero | tr "\\0" x; printf end');
    const gone = 1_000_008 - 100 * 1024;
    const half = 50 * 1024;
    const marker = `\n... (output truncated, ${gone} bytes elided)\n`;
    const shown = `begin${'x'.repeat(half - 5)}${marker}${'x'.repeat(half - 3)}end`;
    expect(structured.truncated).toBe(true);
    expect(structured.output === shown).toBe(true);
    expect(text === `${shown}\n`).toBe(true);
  });

  test('has no half of a character where it was cut', async () => {
    const { structured } = await run('printf x; for i in {1..60}; do printf "é%.0s" {1..1000}; done');
    expect(structured.truncated).toBe(true);
    expect(structured.output).not.toContain('\uFFFD');
  });
});

describe('a command that runs out of time', () => {
  test('answers what it printed and 124', async () => {
    expect(await run('echo begun; sleep 300', { timeout: 1 })).toMatchObject({
      text: 'begun\nbash: timed out after 1s\nexit: 124\n',
      isError: false,
      structured: { output: 'begun\n', exitCode: 124, timedOut: true },
    });
  });

  test('is killed with everything it started, also what left its session and its parents', async () => {
    const mark = newMark();
    const answer = run(`${inNewSession(mark)}; ${sleepAs(`${mark}-child`)} & trap "" TERM INT HUP; sleep 300`, {
      timeout: 4,
    });
    await eventually(() => expect(namesOf(mark)).toEqual([mark, `${mark}-child`]));
    expect((await answer).structured).toMatchObject({ exitCode: 124, timedOut: true });
    await eventually(() => expect(processesOf(mark)).toEqual([]));
  });

  test('goes on in the background where that was asked for, and its output with it', async () => {
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

  test('leaves the sandbox as it was for the next', async () => {
    await run('echo kept > /tmp/kept; sleep 300', { timeout: 1 });
    expect((await run('cat /tmp/kept')).text).toBe('kept\n');
  });
});

describe('a command that leaves something running', () => {
  test('answers when it has ended itself', async () => {
    const mark = newMark();
    const answer = await run(`${sleepAs(mark)} & echo ok`, { timeout: 20 });
    expect(answer).toMatchObject({ text: 'ok\n', structured: { exitCode: 0, timedOut: false } });
    await eventually(() => expect(namesOf(mark)).toEqual([mark]));
  });

  test('has started a server that the next call can reach', async () => {
    const script = "require('http').createServer((q, r) => r.end('served')).listen(8642, '127.0.0.1')";
    expect((await run(`node -e "${script}" & echo ok`)).text).toBe('ok\n');
    await eventually(async () => expect((await run('curl -sS http://127.0.0.1:8642/')).text).toBe('served\n'));
  });
});

describe('where a command runs', () => {
  test('is the workspace, which it may write', async () => {
    expect((await run('pwd; ls here.txt; echo made > made.txt')).text).toBe(`${directory.path}\nhere.txt\n`);
    expect(readFileSync(directory.at('made.txt'), 'utf8')).toBe('made\n');
  });

  test.each(['/etc', '/usr', '/usr/bin', '/', '/var', '/proc/sys/kernel'])(
    'has a %s that cannot be written',
    async (path) => {
      const { structured } = await run(`echo x > ${path}/croft-probe`);
      expect(structured.exitCode).toBe(1);
      expect(structured.output).toMatch(/Read-only file system|Permission denied|No such file/);
      expect(existsSync(`${path}/croft-probe`)).toBe(false);
    },
  );

  test('shows nothing of the directory next to the workspace', async () => {
    using other = makeDirectory({ 'private.txt': 'private' });
    expect((await run(`cat ${other.path}/private.txt`)).text).toMatch(/No such file or directory\nexit: 1\n$/);
  });

  test('has no variable of the server, not even in the processes next to it', async () => {
    const { structured } = await run('env; cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"');
    expect(structured.output).toContain('HOME=');
    expect(structured.output).not.toContain('LEAK');
    expect(structured.output).not.toContain(canary);
  });

  test('sees no process of the host', async () => {
    const { structured } = await run('cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"');
    expect(structured.output).not.toContain('src/main.ts');
    expect(structured.output).not.toContain('vitest');
  });

  test.each(['http://1.1.1.1/', 'http://example.com/', 'http://[2606:4700:4700::1111]/'])(
    'has no network to reach %s',
    async (url) => {
      const { structured } = await run(`curl -gsS -m 5 -o /dev/null ${url}`);
      expect([6, 7]).toContain(structured.exitCode);
    },
  );

  test('has no way to a server on the host', async () => {
    await using server = await startServer(['--workspace', directory.path]);
    expect((await fetch(new URL('/', server.url))).status).toBeGreaterThan(0);
    expect((await run(`curl -sS -m 5 ${server.url}`)).structured.exitCode).toBe(7);
  });

  test('is not root', async () => {
    expect((await run('id -u')).text).not.toBe('0\n');
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

describe('a call that is taken back', () => {
  test.each([
    ['bash', (mark: string) => ({ command: `${inNewSession(mark)}; sleep 300` })],
    ['run_command', (mark: string) => ({ cmd: 'bash', args: ['-c', `${inNewSession(mark)}; sleep 300`] })],
  ] as const)('ends everything that %s started', async (tool, toArguments) => {
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
  ] as const)('before the sandbox is open leaves nothing of %s running', async (name, toArguments) => {
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

describe('a command that could never work', () => {
  test('is rejected with its name before it runs', async () => {
    const answer = await run('touch ran.txt; sudo ls');
    expect(codeOf(answer)).toBe('E_COMMAND_REJECTED');
    expect(messageOf(answer)).toBe('command rejected: command uses denylisted token "sudo"');
    expect(answer.text).toMatch(/^command rejected: command uses denylisted token "sudo"\n/);
    expect(existsSync(directory.at('ran.txt'))).toBe(false);
  });

  test.each(['sudo ls', '/usr/bin/sudo ls', 'true && sudo ls', 'echo $(sudo ls)', 'X=1 sudo ls'])(
    '%s',
    async (command) => {
      expect(messageOf(await run(command))).toBe('command rejected: command uses denylisted token "sudo"');
    },
  );

  test.each(['grep sudo here.txt', "cat here.txt | grep 'sudo is'", 'cat here.txt # sudo ls'])(
    'is not %s',
    async (command) => {
      expect((await run(command)).text).toBe('sudo is a word\n');
    },
  );
});

describe('run_command', () => {
  test('expands and splits nothing', async () => {
    const args = ['*', '$HOME', '~', '$(id)', 'a b', '; ls', '`id`', ''];
    const { structured } = await call('run_command', { cmd: 'printf', args: ['%s\\n', ...args] });
    expect(structured.stdout).toBe(args.map((argument) => `${argument}\n`).join(''));
  });

  test('tells its outputs apart', async () => {
    const answer = await call('run_command', { cmd: 'bash', args: ['-c', 'echo out; echo err >&2; exit 5'] });
    expect(answer).toMatchObject({ isError: false, structured: { stdout: 'out\n', stderr: 'err\n', exitCode: 5 } });
    expect(answer.text).toMatch(/exit: 5\n$/);
  });

  test('says of a program that is not there that it could not be started', async () => {
    const answer = await call('run_command', { cmd: 'no-such-program-here' });
    expect(codeOf(answer)).toBe('E_COMMAND_NOT_STARTED');
    expect(messageOf(answer)).toBe('the program could not be started: not found');
  });

  test('says of a file that is no program that it could not be started', async () => {
    expect(codeOf(await call('run_command', { cmd: './here.txt' }))).toBe('E_COMMAND_NOT_STARTED');
  });

  test('ends a program whose time runs out', async () => {
    const { structured } = await call('run_command', { cmd: 'sleep', args: ['300'], timeout_ms: 200 });
    expect(structured).toMatchObject({ exitCode: 124, timedOut: true });
  });

  test('has an empty standard input', async () => {
    expect((await call('run_command', { cmd: 'cat' })).structured).toMatchObject({ stdout: '', exitCode: 0 });
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
