import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectStdio, type McpSession, makeDirectory } from '../support/harness.ts';
import { codeOf, messageOf } from './shared-server.ts';
import { call, eventually, output, start } from './shells-fixture.ts';

describe('a watched command', () => {
  const watch = (command: string, more: Record<string, unknown> = {}) => call('watch_process', { command, ...more });
  const events = (shell_id: string, since_event_id = 0) => call('watch_process_events', { shell_id, since_event_id });
  const over = (shell_id: string) =>
    eventually(async () => {
      const answer = await events(shell_id);
      expect(answer.structured.status).toBe('completed');
      expect(answer.structured.events.at(-1).type).toBe('exited');
      return answer;
    });

  test('has an event for its start, each error and its end', async () => {
    const started = await watch(
      'echo "Error: on out"; echo fine >&2; echo "Error: boom" >&2; echo oops uncaught >&2; exit 2',
    );
    const { shell_id } = started.structured;
    expect(started.text.split('\n').slice(0, 4)).toEqual([
      `shell_id: ${shell_id}`,
      expect.stringMatching(/^started in background: echo "Error: on out"; /),
      expect.stringMatching(/^error_patterns: \^Error: \| /),
      'idle_timeout: (disabled)',
    ]);
    const { text, structured } = await over(shell_id);
    expect(structured).toMatchObject({ shell_id, status: 'completed', dropped: 0 });
    expect(structured.events).toEqual([
      { id: 1, type: 'started', text: '', at: expect.any(String) },
      { id: 2, type: 'error', text: '(matched "^Error:")  Error: boom', at: expect.any(String) },
      { id: 3, type: 'error', text: '(matched "\\\\buncaught\\\\b")  oops uncaught', at: expect.any(String) },
      { id: 4, type: 'exited', text: 'exit=2', at: expect.any(String) },
    ]);
    expect(text).toMatch(/--- events \(4\) ---\n\[1\] \S+ {2}started\n\[2\] \S+ {2}error {2}\(matched/);
    expect((await events(shell_id, 2)).structured.events.map(({ id }: { id: number }) => id)).toEqual([3, 4]);
    expect((await events(shell_id, 4)).structured.events).toEqual([]);
  });

  test('is searched with the given patterns only', async () => {
    const patterns = { error_patterns: ['^WARN \\d+'] };
    const { structured } = await watch('echo "Error: x" >&2; echo WARN 12 >&2; printf "WARN 3" >&2', patterns);
    const { structured: seen } = await over(structured.shell_id);
    expect(seen.events.map(({ text }: { text: string }) => text)).toEqual([
      '',
      '(matched "^WARN \\\\d+")  WARN 12',
      '(matched "^WARN \\\\d+")  WARN 3',
      'exit=0',
    ]);
  });

  test('is searched as it is shown: without colours, and line by line where CR ends a line', async () => {
    const { structured } = await watch(
      "printf '\\033[1;31mError:\\033[0m red\\n10%%\\r20%%\\rFa\\033[1mtal: late\\r\\n' >&2; printf '\\033[31mpanic: last' >&2",
    );
    const { structured: seen } = await over(structured.shell_id);
    expect(seen.events.slice(1, -1).map(({ text }: { text: string }) => text)).toEqual([
      '(matched "^Error:")  Error: red',
      '(matched "^Fatal:")  Fatal: late',
      '(matched "^panic:")  panic: last',
    ]);
  });

  test('is not searched without patterns', async () => {
    const { text, structured } = await watch('echo "Error: x" >&2', { error_patterns: [] });
    expect(text).toContain('error_patterns: (none — pattern matching disabled)\n');
    const { structured: seen } = await over(structured.shell_id);
    expect(seen.events.map(({ type }: { type: string }) => type)).toEqual(['started', 'exited']);
  });

  test('that is silent for too long is ended', async () => {
    const { structured } = await watch('echo up; sleep 300', { idle_timeout_seconds: 2.5 });
    const { structured: seen } = await over(structured.shell_id);
    expect(seen.events.slice(1)).toMatchObject([
      { id: 2, type: 'idle_timeout', text: 'no output for 2.5s (configured idle_timeout=2.5s)' },
      { id: 3, type: 'exited', text: 'signal=SIGKILL' },
    ]);
  });

  test('prints to bash_output, accepts input and can be killed', async () => {
    const { shell_id } = (await watch('cat')).structured;
    await call('bash_input', { shell_id, text: 'hello\n' });
    await eventually(async () => expect((await output(shell_id)).structured.output).toBe('hello\n'));
    expect((await call('kill_shell', { shell_id })).structured).toEqual({ shell_id, wasRunning: true });
    expect(messageOf(await events(shell_id))).toBe(`unknown shell_id: ${shell_id}`);
  });

  test('does not include commands of bash', async () => {
    const shell_id = await start('true');
    expect(messageOf(await events(shell_id))).toBe(
      `shell_id ${shell_id} was not started by watch_process; use bash_output instead`,
    );
  });

  test('drops its oldest events above a limit', async () => {
    const { structured } = await watch('for i in {1..1500}; do echo "Error: $i"; done >&2');
    const { shell_id } = structured;
    const answer = await eventually(async () => {
      const first = await events(shell_id);
      expect(first.text).toMatch(/^\[1502\] .*exited/m);
      return first;
    });
    const { dropped } = answer.structured;
    expect(dropped).toBeGreaterThan(0);
    expect(answer.text).toContain(`NOTE: ${dropped} earlier events dropped`);
    // Events that do not fit into an answer come in the next.
    const all: { id: number; type: string }[] = [];
    for (
      let { structured: next } = answer;
      next.events.length > 0;
      next = (await events(shell_id, all.at(-1)?.id)).structured
    )
      all.push(...next.events);
    expect(all.length + dropped).toBe(1502);
    expect(all.at(-1)).toMatchObject({ id: 1502, type: 'exited' });
  });

  test.each([
    [['fine', '('], 'E_BAD_PATTERN', /^error_patterns\[1\] "\(" failed to compile: /],
    [['a(?=b)'], 'E_BAD_PATTERN', /^error_patterns\[0\] "a\(\?=b\)" failed to compile: /],
    [['fine', ''], 'E_INVALID_INPUT', /^error_patterns\[1\] is empty$/],
    [Array(33).fill('x'), 'E_INVALID_INPUT', /^too many error_patterns \(33 > 32\)$/],
  ])('is not started with the patterns %j', async (error_patterns, code, message) => {
    const answer = await watch('touch started-anyway', { error_patterns });
    expect(codeOf(answer)).toBe(code);
    expect(messageOf(answer)).toMatch(message);
    expect((await call('bash', { command: 'ls started-anyway' })).structured.exitCode).toBe(2);
  });

  test('may have 32 patterns', async () => {
    expect((await watch('true', { error_patterns: Array(32).fill('x') })).isError).toBe(false);
  });

  test('is rejected if it can never work', async () => {
    expect(messageOf(await watch('sudo ls'))).toBe('command rejected: command uses denylisted token "sudo"');
  });
});

describe('after a sandbox was killed', () => {
  const directory = makeDirectory();
  let session: McpSession;
  let shell_id: string;
  let watched: string;

  beforeAll(async () => {
    session = await connectStdio(['--workspace', directory.path]);
    const mark = `croft-mark-${crypto.randomUUID()}`;
    const command = `echo up; exec -a ${mark} sleep 300`;
    shell_id = (await session.call('bash', { command, run_in_background: true })).structured.shell_id;
    watched = (await session.call('watch_process', { command: 'sleep 300' })).structured.shell_id;
    const init = await eventually(() => findInit(mark));
    process.kill(init, 'SIGKILL');
  });
  afterAll(async () => {
    await session?.[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  test('its commands have failed, with their output so far', async () => {
    await eventually(async () => {
      const answer = await session.call('bash_output', { shell_id });
      expect(answer.structured).toMatchObject({ status: 'failed', exitCode: null, output: 'up\n' });
      expect(answer.text).toContain('status: failed (the sandbox has ended)\n');
    });
  });

  test('its watched commands have an event for their end', async () => {
    await eventually(async () => {
      const { structured } = await session.call('watch_process_events', { shell_id: watched });
      expect(structured.status).toBe('failed');
      expect(structured.events).toMatchObject([{ type: 'started' }, { type: 'exited' }]);
    });
  });

  test('its commands accept no input and can be forgotten', async () => {
    expect(codeOf(await session.call('bash_input', { shell_id, text: 'x' }))).toBe('E_NOT_RUNNING');
    expect((await session.call('kill_shell', { shell_id })).structured).toEqual({ shell_id, wasRunning: false });
  });

  test('the next command gets a new sandbox', async () => {
    expect((await session.call('bash', { command: 'echo again' })).text).toBe('again\n');
  });
});

/** The first process of the sandbox in which one with this name runs. Throws while there is none. */
function findInit(name: string): number {
  const found = readdirSync('/proc').find((pid) => /^\d+$/.test(pid) && nameOf(pid) === name);
  if (!found) throw new Error(`${name} is not running`);
  let pid = found;
  for (;;) {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    if (/^NSpid:.*\t1$/m.test(status)) return Number(pid);
    [, pid = ''] = /^PPid:\t(\d+)$/m.exec(status) ?? [];
  }
}

function nameOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0];
  } catch {
    // Gone meanwhile.
    return undefined;
  }
}
