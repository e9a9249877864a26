import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectHttp, type McpSession, makeDirectory, startServer, type ToolAnswer } from '../support/harness.ts';
import { codeOf, messageOf } from './shared-server.ts';
import { call, eventually, output, put, start } from './shells-fixture.ts';

const absent = 'no-such-shell';

async function ended(shell_id: string): Promise<ToolAnswer> {
  return eventually(async () => {
    const answer = await output(shell_id);
    expect(answer.structured.status).toBe('completed');
    return answer;
  });
}

/** From page to page, until nothing is left. */
async function readAll(shell_id: string) {
  const all = { output: '', missed: 0, cursor: 0, longest: 0 };
  for (let remaining = 1; remaining > 0; ) {
    const { text, structured } = await output(shell_id, { cursor: all.cursor });
    expect(structured.cursor).toBeGreaterThan(all.cursor);
    all.output += structured.output;
    all.missed += structured.missed;
    all.longest = Math.max(all.longest, Buffer.byteLength(text), Buffer.byteLength(JSON.stringify(structured)));
    [all.cursor, remaining] = [structured.cursor, structured.remaining];
  }
  return all;
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

  test('returns new output by cursor, each byte once', async () => {
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

  test('keeps the beginning and the end of very long output', async () => {
    const shell_id = await start('printf begin; head -c 3000000 /dev/zero | tr "\\0" x; printf end');
    await ended(shell_id);
    const { output: all, missed, cursor } = await readAll(shell_id);
    expect({ missed, cursor }).toEqual({ cursor: 3_000_008, missed: 3_000_008 - 1024 * 1024 });
    expect(all.startsWith('beginxxx')).toBe(true);
    expect(all.endsWith('xxxend')).toBe(true);
    expect(all).toContain(`(output truncated, ${missed} bytes elided)`);
  });

  test.each([
    ['lines', 'seq 1 100000', Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join('')],
    ['empty lines', 'head -c 100000 /dev/zero | tr "\\0" "\\n"', '\n'.repeat(100_000)],
    ['one line', 'head -c 100000 /dev/zero | tr "\\0" x', 'x'.repeat(100_000)],
    ['bytes that are no text', 'head -c 50000 /dev/zero | tr "\\0" "\\377"', '\ufffd'.repeat(50_000)],
  ])('returns long output of %s in parts that no client cuts, without a loss', async (_, command, expected) => {
    const shell_id = await start(command);
    await ended(shell_id);
    const { output: all, longest } = await readAll(shell_id);
    expect(all === expected, `${all.length} characters of ${expected.length}`).toBe(true);
    expect(longest).toBeLessThan(40_000);
  });

  test('reports where long output goes on and where it ends', async () => {
    const shell_id = await start('seq 1 100000');
    const { text, structured } = await ended(shell_id);
    const [, cursor = '', end = ''] =
      /\((?:\d+) bytes more; read on with cursor: (\d+), or see the end with cursor: (\d+)\)\n$/.exec(text) ?? [];
    expect(structured).toMatchObject({ cursor: Number(cursor), remaining: 588_895 - Number(cursor) });
    const last = await output(shell_id, { cursor: Number(end) });
    expect(last.structured).toMatchObject({ remaining: 0, cursor: 588_895 });
    expect(last.structured.output).toMatch(/^\d{5}\n[\d\n]*\n100000\n$/);
    expect(last.text).not.toContain('read on');
  });

  test('removes terminal sequences from its text', async () => {
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
  ])('of %j keeps the lines that match', async (filter, expected) => {
    const shell_id = await start('echo alpha; echo beta; echo end');
    await ended(shell_id);
    expect((await output(shell_id, { filter })).structured).toMatchObject({ output: expected, cursor: 15 });
  });

  test('matches a line far into long output', async () => {
    const shell_id = await start('seq 1 100000');
    await ended(shell_id);
    const found = (await output(shell_id, { filter: '^99(99|98)8$' })).structured;
    expect(found).toMatchObject({ output: '99988\n99998\n', remaining: 0 });
  });

  test('that is not a regular expression is refused', async () => {
    const shell_id = await start('true');
    const answer = await output(shell_id, { filter: '(' });
    expect(codeOf(answer)).toBe('E_BAD_PATTERN');
    expect(messageOf(answer)).toMatch(/^filter "\(": /);
  });
});

describe('input', () => {
  test('reaches the program unchanged, until it is closed', async () => {
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

  test('of a megabyte arrives complete', async () => {
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

  test('is refused after it was closed', async () => {
    const shell_id = await start('cat; sleep 300');
    await call('bash_input', { shell_id, close: true });
    const answer = await call('bash_input', { shell_id, text: 'more' });
    expect(codeOf(answer)).toBe('E_NOT_RUNNING');
    expect(messageOf(answer)).toBe(`${shell_id} has ended or its input is closed, and it takes no more input`);
    await call('kill_shell', { shell_id });
  });

  test('is refused for a program that has ended', async () => {
    const shell_id = await start('true');
    await ended(shell_id);
    expect(codeOf(await call('bash_input', { shell_id, text: 'more' }))).toBe('E_NOT_RUNNING');
  });

  test('is refused for a command that moved to the background at its timeout, which has none', async () => {
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

  test('answers after everything that the command started has ended', async () => {
    const shell_id = await start('(setsid sleep 54321 &); echo up; sleep 300');
    const sleeping = { command: "grep -lz '^54321$' /proc/[0-9]*/cmdline 2>/dev/null | wc -l" };
    await eventually(async () => expect((await call('bash', sleeping)).text.trim()).toBe('1'));
    await call('kill_shell', { shell_id });
    expect((await call('bash', sleeping)).text.trim()).toBe('0');
  });

  test('ends a command that was only just started', async () => {
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
    'that was never given out is unknown to %s',
    async (tool) => {
      const answer = await call(tool, { shell_id: absent });
      expect(codeOf(answer)).toBe('E_NOT_FOUND');
      expect(messageOf(answer)).toBe(`unknown shell_id: ${absent}`);
      expect(answer.text).toMatch(/^unknown shell_id: no-such-shell\n/);
    },
  );

  test('that is unknown is not looked up among the routes of the server', async () => {
    expect((await output(absent)).text).not.toContain('openapi');
  });

  describe('of another session', () => {
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

    const tools = ['bash_output', 'bash_input', 'kill_shell', 'watch_process_events'];

    test.each(tools)('is unknown to %s', async (tool) => {
      for (const more of [{ workspace: 'one' }, {}]) {
        const fromElsewhere = await stranger.call(tool, { shell_id, ...more });
        expect(messageOf(fromElsewhere)).toBe(`unknown shell_id: ${shell_id}`);
      }
      const inTheOther = await owner.call(tool, { shell_id, workspace: 'two' });
      expect(messageOf(inTheOther)).toContain(`shell ${shell_id} belongs to the workspace one, not to two`);
      const own = await owner.call('bash_output', { shell_id, workspace: 'one' });
      expect(own.structured).toMatchObject({ status: 'running' });
    });

    test('is found by its id alone, whatever its workspace', async () => {
      const ids: string[] = [];
      for (const workspace of ['one', 'two']) {
        const args = { command: 'cat >got; echo 1 >&2', error_patterns: ['1'], workspace };
        const { structured } = await owner.call('watch_process', args);
        ids.push(structured.shell_id);
      }
      const listed = await owner.call('shells');
      expect(listed.structured.shells).toMatchObject([
        { shell_id, workspace: 'one', command: 'echo private; sleep 300', status: 'running', exitCode: null },
        { shell_id: ids[0], workspace: 'one', status: 'running' },
        { shell_id: ids[1], workspace: 'two', status: 'running' },
      ]);
      for (const row of listed.structured.shells) {
        expect(Date.now() - Date.parse(row.startedAt)).toBeLessThan(600_000);
        expect(listed.text).toMatch(new RegExp(`^${row.shell_id}\\t${row.workspace}\\trunning\\t\\d+s\\t`, 'm'));
      }
      for (const id of ids)
        expect((await owner.call('bash_input', { shell_id: id, text: 'x', close: true })).isError).toBe(false);
      await eventually(async () => {
        const { structured } = await owner.call('shells');
        expect(structured.shells[2]).toMatchObject({ shell_id: ids[1], status: 'completed', exitCode: 0 });
      });
      expect(readFileSync(two.at('got'), 'utf8')).toBe('x');
      const events = await owner.call('watch_process_events', { shell_id: ids[1] });
      expect(events.structured.events).toMatchObject([{ type: 'started' }, { type: 'error' }, { type: 'exited' }]);
      expect((await owner.call('bash_output', { bash_id: ids[1] })).structured).toMatchObject({ status: 'completed' });
      for (const id of ids) expect((await owner.call('kill_shell', { shell_id: id })).isError).toBe(false);
      expect((await owner.call('shells')).structured.shells).toHaveLength(1);
    });

    test('is not listed in another session', async () => {
      expect((await stranger.call('shells')).structured).toEqual({ shells: [] });
      expect((await stranger.call('shells')).text).toBe('no background commands in this session\n');
      // The error must be about the id, not about the workspace.
      expect(messageOf(await owner.call('bash_output'))).toContain('shell_id is required');
    });
  });
});
