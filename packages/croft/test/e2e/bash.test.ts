import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makeDirectory, readWhole, startServer } from '../support/harness.ts';
import { call, canary, directory, run } from './bash-fixture.ts';
import { codeOf, messageOf } from './shared-server.ts';

describe('the end of a command', () => {
  test('is not mentioned for a command that succeeded', async () => {
    expect(await run('echo fine')).toMatchObject({
      text: 'fine\n',
      isError: false,
      structured: { output: 'fine\n', exitCode: 0, signal: null, timedOut: false, truncated: false, denials: [] },
    });
  });

  test('is its exit code after its output, and not an error of the call', async () => {
    expect(await run('echo out; exit 3')).toMatchObject({
      text: 'out\nexit: 3\n',
      isError: false,
      structured: { output: 'out\n', exitCode: 3, signal: null, timedOut: false },
    });
  });

  test('is on its own line after output without a newline', async () => {
    expect((await run('printf out; exit 1')).text).toBe('out\nexit: 1\n');
  });

  test('is the name of the signal that ended it', async () => {
    expect(await run('kill -TERM $$')).toMatchObject({
      text: 'killed by SIGTERM\n',
      isError: false,
      structured: { exitCode: null, signal: 'SIGTERM', timedOut: false },
    });
  });

  test('is 127 for a missing program', async () => {
    const { text, structured } = await run('no-such-program-here');
    expect(structured).toMatchObject({ exitCode: 127 });
    expect(text).toMatch(/no-such-program-here: command not found\nexit: 127\n$/);
  });
});

describe('the output of a command', () => {
  test('has both streams', async () => {
    const { structured } = await run('echo to-out; echo to-err >&2');
    expect(structured.output.split('\n').sort()).toEqual(['', 'to-err', 'to-out']);
  });

  test('has both streams in the order of writing', async () => {
    const lines = Array.from({ length: 20 }, (_, index) => `${index}\n`).join('');
    const command = 'for i in {0..19}; do if ((i % 2)); then echo $i >&2; else echo $i; fi; done';
    expect((await run(command)).structured.output).toBe(lines);
  });

  test('is complete when it is larger than a pipe', async () => {
    const answer = await run('head -c 100000 /dev/zero | tr "\\0" x');
    expect((await readWhole(call, answer)) === `${'x'.repeat(100_000)}\n`).toBe(true);
  });

  test('keeps its beginning and its end when it is very long, and says how much is missing', async () => {
    const answer = await run('printf begin; head -c 1000000 /dev/zero | tr "\\0" x; printf end');
    const gone = 1_000_008 - 100 * 1024;
    const half = 50 * 1024;
    const marker = `\n... (output truncated, ${gone} bytes elided)\n`;
    const shown = `begin${'x'.repeat(half - 5)}${marker}${'x'.repeat(half - 3)}end`;
    expect(answer.structured.truncated).toBe(true);
    expect(answer.structured.output).toMatch(/^beginx.*xend$/s);
    expect((await readWhole(call, answer)) === `${shown}\n`).toBe(true);
  });

  test('is never cut inside a character', async () => {
    const { structured } = await run('printf x; for i in {1..60}; do printf "é%.0s" {1..1000}; done');
    expect(structured.truncated).toBe(true);
    expect(structured.output).not.toContain('\uFFFD');
  });
});

describe('the directory and the machine of a command', () => {
  test('are the workspace, which is writable', async () => {
    expect((await run('pwd; ls here.txt; echo made > made.txt')).text).toBe(`${directory.path}\nhere.txt\n`);
    expect(readFileSync(directory.at('made.txt'), 'utf8')).toBe('made\n');
  });

  test.each(['/etc', '/usr', '/usr/bin', '/', '/var', '/proc/sys/kernel'])(
    'have a %s that is read-only',
    async (path) => {
      const { structured } = await run(`echo x > ${path}/croft-probe`);
      expect(structured.exitCode).toBe(1);
      expect(structured.output).toMatch(/Read-only file system|Permission denied|No such file/);
      expect(existsSync(`${path}/croft-probe`)).toBe(false);
    },
  );

  test('hide the directory next to the workspace', async () => {
    using other = makeDirectory({ 'private.txt': 'private' });
    expect((await run(`cat ${other.path}/private.txt`)).text).toMatch(/No such file or directory\nexit: 1\n$/);
  });

  test('have no variable of the server, not even in the processes next to it', async () => {
    const { structured } = await run('env; cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"');
    expect(structured.output).toContain('HOME=');
    expect(structured.output).not.toContain('LEAK');
    expect(structured.output).not.toContain(canary);
  });

  test('hide the processes of the host', async () => {
    const { structured } = await run('cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"');
    expect(structured.output).not.toContain('src/main.ts');
    expect(structured.output).not.toContain('vitest');
  });

  test.each(['http://1.1.1.1/', 'http://example.com/', 'http://[2606:4700:4700::1111]/'])(
    'have no network to reach %s',
    async (url) => {
      const { structured } = await run(`curl -gsS -m 5 -o /dev/null ${url}`);
      expect([6, 7]).toContain(structured.exitCode);
    },
  );

  test('cannot reach a server on the host', async () => {
    await using server = await startServer(['--workspace', directory.path]);
    expect((await fetch(new URL('/', server.url))).status).toBeGreaterThan(0);
    expect((await run(`curl -sS -m 5 ${server.url}`)).structured.exitCode).toBe(7);
  });

  test('have no root user', async () => {
    expect((await run('id -u')).text).not.toBe('0\n');
  });
});

describe('a command that can never work', () => {
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
    'is not recognised in %s',
    async (command) => {
      expect((await run(command)).text).toBe('sudo is a word\n');
    },
  );
});

describe('run_command', () => {
  test('does not expand or split its arguments', async () => {
    const args = ['*', '$HOME', '~', '$(id)', 'a b', '; ls', '`id`', ''];
    const { structured } = await call('run_command', { cmd: 'printf', args: ['%s\\n', ...args] });
    expect(structured.stdout).toBe(args.map((argument) => `${argument}\n`).join(''));
  });

  test('returns stdout and stderr apart', async () => {
    const answer = await call('run_command', { cmd: 'bash', args: ['-c', 'echo out; echo err >&2; exit 5'] });
    expect(answer).toMatchObject({ isError: false, structured: { stdout: 'out\n', stderr: 'err\n', exitCode: 5 } });
    expect(answer.text).toMatch(/exit: 5\n$/);
  });

  test('reports a missing program as one that could not be started', async () => {
    const answer = await call('run_command', { cmd: 'no-such-program-here' });
    expect(codeOf(answer)).toBe('E_COMMAND_NOT_STARTED');
    expect(messageOf(answer)).toBe('the program could not be started: not found');
  });

  test('reports a file that is not a program as one that could not be started', async () => {
    expect(codeOf(await call('run_command', { cmd: './here.txt' }))).toBe('E_COMMAND_NOT_STARTED');
  });

  test('ends a program at its timeout', async () => {
    const { structured } = await call('run_command', { cmd: 'sleep', args: ['300'], timeout_ms: 200 });
    expect(structured).toMatchObject({ exitCode: 124, timedOut: true });
  });

  test('has an empty standard input', async () => {
    expect((await call('run_command', { cmd: 'cat' })).structured).toMatchObject({ stdout: '', exitCode: 0 });
  });
});
