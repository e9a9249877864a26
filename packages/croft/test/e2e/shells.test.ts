import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectHttp, type McpSession, makeDirectory, startServer, type ToolAnswer } from '../harness.ts';
import { codeOf, messageOf } from './shared-server.ts';
import { call, eventually, output, put, start } from './shells-ground.ts';

const absent = 'no-such-shell';

async function ended(shell_id: string): Promise<ToolAnswer> {
  return eventually(async () => {
    const answer = await output(shell_id);
    expect(answer.structured.status).toBe('completed');
    return answer;
  });
}

describe('a command in the background', () => {
  test('is answered at once with its id', async () => {
    const answer = await call('bash', { command: 'sleep 300', run_in_background: true });
    const { shell_id } = answer.structured;
    expect(shell_id).toMatch(/^\S{8,}$/);
    expect(answer).toMatchObject({
      isError: false,
      text: `shell_id: ${shell_id}\nstarted in background: sleep 300\n`,
      structured: { output: '', exitCode: null, signal: null },
    });
    expect((await output(shell_id)).structured).toMatchObject({
      command: 'sleep 300',
      status: 'running',
      exitCode: null,
      output: '',
      cursor: 0,
      missed: 0,
    });
    await call('kill_shell', { shell_id });
  });

  test('hands out what is new by cursor, each byte once', async () => {
    const shell_id = await start(
      'echo one; until [ -e step-1 ]; do sleep 0.02; done; echo two >&2; until [ -e step-2 ]; do sleep 0.02; done; echo é',
    );
    let cursor = 0;
    const next = async (expected: string) =>
      eventually(async () => {
        const { structured } = await output(shell_id, { cursor });
        expect(structured.output).toBe(expected);
        cursor = structured.cursor;
      });
    await next('one\n');
    expect((await output(shell_id, { cursor })).structured).toMatchObject({ output: '', cursor: 4, status: 'running' });
    put('step-1', '');
    await next('two\n');
    put('step-2', '');
    await next('é\n');
    expect(cursor).toBe(11);
    expect((await ended(shell_id)).structured).toMatchObject({ output: 'one\ntwo\né\n', cursor: 11, exitCode: 0 });
    expect((await output(shell_id, { cursor: 99 })).structured).toMatchObject({ output: '', cursor: 11 });
  });

  test.each([
    ['exit 0', 'completed (exit 0)', { exitCode: 0, signal: null }],
    ['exit 7', 'completed (exit 7)', { exitCode: 7, signal: null }],
    ['kill -KILL $$', 'completed (SIGKILL)', { exitCode: null, signal: 'SIGKILL' }],
  ])('that ends by %s is %s', async (command, status, structured) => {
    const answer = await ended(await start(command));
    expect(answer.text).toContain(`\nstatus: ${status}\n`);
    expect(answer).toMatchObject({ isError: false, structured: { status: 'completed', ...structured } });
  });

  test('is described before its output', async () => {
    const { text } = await ended(await start('echo hello'));
    expect(text).toMatch(
      /^command: echo hello\nstatus: completed \(exit 0\)\nstarted: \d{4}-\d\d-\d\dT[\d:.]+Z\ncursor: 6\n\n--- output ---\nhello\n$/,
    );
  });

  test('keeps the beginning and the end of very much output', async () => {
    const shell_id = await start('printf begin; head -c 3000000 /dev/zero | tr "\\0" x; printf end');
    const { structured } = await ended(shell_id);
    expect(structured).toMatchObject({ cursor: 3_000_008, missed: 3_000_008 - 1024 * 1024 });
    expect(structured.output.startsWith('beginxxx')).toBe(true);
    expect(structured.output.endsWith('xxxend')).toBe(true);
    expect(structured.output).toContain(`(output truncated, ${structured.missed} bytes elided)`);
  });

  test('leaves terminal sequences out of its text', async () => {
    const { structured } = await ended(await start("printf '\\033[31mred\\033[0m\\a\\n'"));
    expect(structured.output).toBe('red\n');
  });
});

describe('a filter', () => {
  test.each([
    ['^b', 'beta\n'],
    ['(?i)^B', 'beta\n'],
    ['a$', 'alpha\nbeta\n'],
    ['none', ''],
    ['.*', 'alpha\nbeta\nend\n'],
    ['', 'alpha\nbeta\nend\n'],
  ])('of %j leaves the lines that match', async (filter, expected) => {
    const shell_id = await start('echo alpha; echo beta; echo end');
    await ended(shell_id);
    expect((await output(shell_id, { filter })).structured).toMatchObject({ output: expected, cursor: 15 });
  });

  test('that is no regular expression is refused', async () => {
    const shell_id = await start('true');
    const answer = await output(shell_id, { filter: '(' });
    expect(codeOf(answer)).toBe('E_BAD_PATTERN');
    expect(messageOf(answer)).toMatch(/^filter "\(": /);
  });
});

describe('input', () => {
  test('reaches the program as it is, until it is closed', async () => {
    const shell_id = await start('cat');
    expect(await call('bash_input', { shell_id, text: 'hé\n' })).toMatchObject({
      text: 'wrote 4 bytes',
      structured: { written: 4 },
    });
    await eventually(async () =>
      expect((await output(shell_id)).structured).toMatchObject({ output: 'hé\n', status: 'running' }),
    );
    await call('bash_input', { shell_id, text: 'no newline', close: true });
    expect((await ended(shell_id)).structured).toMatchObject({ output: 'hé\nno newline', exitCode: 0 });
  });

  test('may be closed without text', async () => {
    const shell_id = await start('cat; echo closed');
    expect((await call('bash_input', { shell_id, close: true })).structured).toEqual({ written: 0 });
    expect((await ended(shell_id)).structured.output).toBe('closed\n');
  });

  test('of a megabyte arrives whole', async () => {
    const shell_id = await start('wc -c');
    await call('bash_input', { shell_id, text: 'x'.repeat(1_000_000), close: true });
    expect((await ended(shell_id)).structured.output.trim()).toBe('1000000');
  });

  test('of a megabyte is answered although the program has closed its end', async () => {
    const shell_id = await start('exec <&-; echo up; sleep 300');
    await eventually(async () => expect((await output(shell_id)).structured.output).toBe('up\n'));
    const answer = await call('bash_input', { shell_id, text: 'x'.repeat(1_000_000) });
    expect(codeOf(answer)).not.toBe('E_TIMEOUT');
    await call('kill_shell', { shell_id });
  });

  test('after it was closed is refused', async () => {
    const shell_id = await start('cat; sleep 300');
    await call('bash_input', { shell_id, close: true });
    const answer = await call('bash_input', { shell_id, text: 'more' });
    expect(codeOf(answer)).toBe('E_NOT_RUNNING');
    expect(messageOf(answer)).toBe(`${shell_id} takes no more input`);
    await call('kill_shell', { shell_id });
  });

  test('to a program that has ended is refused', async () => {
    const shell_id = await start('true');
    await ended(shell_id);
    expect(codeOf(await call('bash_input', { shell_id, text: 'more' }))).toBe('E_NOT_RUNNING');
  });

  test('to a command that went to the background when its time was over is refused, as it has none', async () => {
    const late = { command: 'sleep 300', timeout: 1, on_timeout: 'background' };
    const { shell_id } = (await call('bash', late)).structured;
    expect(codeOf(await call('bash_input', { shell_id, text: 'more' }))).toBe('E_NOT_RUNNING');
    await call('kill_shell', { shell_id });
  });
});

describe('kill_shell', () => {
  test('ends a command and forgets it', async () => {
    const shell_id = await start('trap "" TERM; echo up; sleep 300');
    await eventually(async () => expect((await output(shell_id)).structured.output).toBe('up\n'));
    expect(await call('kill_shell', { shell_id })).toMatchObject({
      text: `killed: ${shell_id}\n`,
      structured: { shell_id, wasRunning: true },
    });
    expect(messageOf(await output(shell_id))).toBe(`unknown shell_id: ${shell_id}`);
    expect(messageOf(await call('kill_shell', { shell_id }))).toBe(`unknown shell_id: ${shell_id}`);
  });

  test('has ended everything the command started when it answers', async () => {
    const shell_id = await start('(setsid sleep 54321 &); echo up; sleep 300');
    const sleeping = { command: "grep -lz '^54321$' /proc/[0-9]*/cmdline 2>/dev/null | wc -l" };
    await eventually(async () => expect((await call('bash', sleeping)).text.trim()).toBe('1'));
    await call('kill_shell', { shell_id });
    expect((await call('bash', sleeping)).text.trim()).toBe('0');
  });

  test('ends a command that has only just been started', async () => {
    for (let count = 0; count < 80; count++) {
      const shell_id = await start('sleep 300');
      const answer = await call('kill_shell', { shell_id });
      expect(answer.structured).toEqual({ shell_id, wasRunning: true });
    }
  });

  test('forgets a command that has ended', async () => {
    const shell_id = await start('true');
    await ended(shell_id);
    expect((await call('kill_shell', { shell_id })).structured).toEqual({ shell_id, wasRunning: false });
    expect(codeOf(await output(shell_id))).toBe('E_NOT_FOUND');
  });
});

describe('a shell_id', () => {
  test.each(['bash_output', 'bash_input', 'kill_shell', 'watch_process_events'])(
    'that nobody was given is unknown to %s',
    async (tool) => {
      const answer = await call(tool, { shell_id: absent });
      expect(codeOf(answer)).toBe('E_NOT_FOUND');
      expect(messageOf(answer)).toBe(`unknown shell_id: ${absent}`);
      expect(answer.text).toMatch(/^unknown shell_id: no-such-shell\n/);
    },
  );

  test('that is unknown is not looked for among the routes of the server', async () => {
    expect((await output(absent)).text).not.toContain('openapi');
  });

  describe('of somebody else', () => {
    const [one, two] = [makeDirectory(), makeDirectory()];
    const scope = new AsyncDisposableStack();
    let owner: McpSession;
    let stranger: McpSession;
    let shell_id: string;

    beforeAll(async () => {
      scope.use(one);
      scope.use(two);
      const server = scope.use(await startServer(['--workspaces', `one=${one.path},two=${two.path}`]));
      owner = scope.use(await connectHttp(server, { era: '2025' }));
      stranger = scope.use(await connectHttp(server, { era: '2025' }));
      const command = { command: 'echo private; sleep 300', run_in_background: true, workspace: 'one' };
      shell_id = (await owner.call('bash', command)).structured.shell_id;
    });
    afterAll(() => scope.disposeAsync());

    test.each(['bash_output', 'bash_input', 'kill_shell', 'watch_process_events'])('is unknown to %s', async (tool) => {
      const fromElsewhere = await stranger.call(tool, { shell_id, workspace: 'one' });
      expect(messageOf(fromElsewhere)).toBe(`unknown shell_id: ${shell_id}`);
      const inTheOther = await owner.call(tool, { shell_id, workspace: 'two' });
      expect(messageOf(inTheOther)).toBe(`unknown shell_id: ${shell_id}`);
      const own = await owner.call('bash_output', { shell_id, workspace: 'one' });
      expect(own.structured).toMatchObject({ status: 'running' });
    });
  });
});
