import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { ErrorEnvelope } from '@croft/protocol';
import { describe, expect, test } from 'vitest';
import { croft, makeDirectory, runCroft } from '../support/harness.ts';

describe.concurrent('croft tool', () => {
  test('prints the result of a call on standard output and exits 0', async () => {
    using directory = makeDirectory({ 'a.txt': 'one\ntwo\n' });
    const run = await runCroft(['tool', 'read', '{"file_path":"a.txt"}', '--workspace', directory.path]);
    expect(run).toEqual({ exitCode: 0, stdout: '1\tone\n2\ttwo\n', stderr: '' });
  });

  test('reads missing input as an empty object', async () => {
    using directory = makeDirectory({ 'a.txt': 'one\n' });
    const run = await runCroft(['tool', 'list', '--workspace', directory.path]);
    expect(run).toEqual({ exitCode: 0, stdout: 'a.txt\t4\n', stderr: '' });
  });

  test('prints an error with its code on standard error and exits 1', async () => {
    using directory = makeDirectory();
    const run = await runCroft(['tool', 'read', '{"file_path":"gone.txt"}', '--workspace', directory.path]);
    expect(run).toMatchObject({ exitCode: 1, stdout: '' });
    expect(run.stderr).toMatch(/^E_FILE_NOT_FOUND: .*gone\.txt.*\nNext: .+\n$/);
  });

  test('prints structured results and errors with --json', async () => {
    using directory = makeDirectory({ 'a.txt': 'one\n' });
    const flags = ['--json', '--workspace', directory.path];
    const found = await runCroft(['tool', 'read', '{"file_path":"a.txt"}', ...flags]);
    expect(found).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(found.stdout)).toMatchObject({ path: 'a.txt', content: 'one\n', totalLines: 1 });

    const failed = await runCroft(['tool', 'read', '{"file_path":"../a"}', ...flags]);
    expect(failed).toMatchObject({ exitCode: 1, stdout: '' });
    expect(ErrorEnvelope.parse(JSON.parse(failed.stderr)).error).toMatchObject({ code: 'E_SANDBOX_VIOLATION' });
  });

  test('prints a result larger than a pipe completely', async () => {
    using directory = makeDirectory({ 'a.txt': `${'x'.repeat(99)}\n`.repeat(8000) });
    const input = '{"pattern":"x","head_limit":8000}';
    const run = await runCroft(['tool', 'grep', input, '--json', '--workspace', directory.path]);
    expect(run.stdout.length).toBeGreaterThan(1_000_000);
    expect(JSON.parse(run.stdout).matches).toHaveLength(8000);
  });

  test('prints no error when its reader closes the pipe, as head does', async () => {
    using directory = makeDirectory({ 'a.txt': `${'x'.repeat(99)}\n`.repeat(9000) });
    const args = ['tool', 'grep', '{"pattern":"x","head_limit":9000}', '--workspace', directory.path];
    const child = spawn(croft, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    expect(await text(child.stderr)).toBe('');
  });

  test('lets a person edit a file that no earlier call has read', async () => {
    using directory = makeDirectory({ 'a.txt': 'one\n' });
    const input = JSON.stringify({ file_path: 'a.txt', old_string: 'one', new_string: 'two' });
    expect(await runCroft(['tool', 'edit', input, '--workspace', directory.path])).toMatchObject({ exitCode: 0 });
    expect(readFileSync(directory.at('a.txt'), 'utf8')).toBe('two\n');
  });

  test('lists without a name the tools that can be called', async () => {
    using directory = makeDirectory();
    const all = await runCroft(['tool', '--workspace', directory.path]);
    expect(all).toMatchObject({ exitCode: 0, stderr: '' });
    expect(all.stdout).toMatch(/^read +Read file$/m);
    expect(all.stdout).toMatch(/^bash +Run a command$/m);
    const reading = await runCroft(['tool', '--workspace', directory.path, '--readonly', '--json']);
    const names = JSON.parse(reading.stdout).tools.map(({ name }: { name: string }) => name);
    expect(names).toContain('read');
    expect(names).not.toContain('bash');
  });

  test.each([
    ['that is missing', 'gone', 'it does not exist'],
    ['that is a file', 'file', 'it is not a directory'],
    ['in which nothing can be made', '/proc', 'nothing can be made in it'],
  ])(
    'reports a temporary directory %s with its own problem, and not with that of bubblewrap',
    async (_, name, reason) => {
      using directory = makeDirectory({ file: '' });
      const TMPDIR = resolve(directory.path, name);
      const args = ['tool', 'bash', '{"command":"true"}', '--workspace', directory.path];
      const { exitCode, stderr } = await runCroft(args, { env: { TMPDIR } });
      expect(exitCode).toBe(1);
      expect(stderr).toContain(
        `E_SANDBOX_UNAVAILABLE: the temporary directory ${TMPDIR} cannot be used: ${reason}; set TMPDIR to one that this user can write to\n`,
      );
    },
  );

  test.each([
    ['input that is no JSON', ['read', '{file_path:'], /^the input is not JSON: \{file_path:\n$/],
    ['input that is no object', ['read', '[]'], /^E_INVALID_INPUT: .+/],
    ['input without what it needs', ['read', '{}'], /^E_INVALID_INPUT: file_path is required\n/],
    ['a tool there is none of', ['fly'], /^E_UNKNOWN_TOOL: .*fly.*\nNext: .*: croft tool\n$/],
    ['a name from the prototype', ['constructor'], /^E_UNKNOWN_TOOL: .*\n/],
    ['too many words', ['read', '{}', '{}'], /^usage: croft tool \[NAME .+\n$/],
    ['an unknown flag', ['list', '--workspaze', '/'], /^.*--workspaze.*; see: croft tool --help\n$/],
    ['a flag without its value', ['list', '--workspace'], /^.*--workspace.*; see: croft tool --help\n$/],
    [
      'events that cannot be written',
      ['list', '--events', '/nowhere/events'],
      /^(?!workspace:).*\/nowhere\/events.*\n$/,
    ],
  ])('refuses %s in one message without a stack', async (_, args, message) => {
    using directory = makeDirectory();
    const run = await runCroft(['tool', ...args], { cwd: directory.path });
    expect(run).toMatchObject({ exitCode: run.stderr.startsWith('E_') ? 1 : 2, stdout: '' });
    expect(run.stderr).toMatch(message);
    expect(run.stderr).not.toMatch(/^ +at /m);
  });

  test('answers although its events cannot be written', async () => {
    using directory = makeDirectory({ 'a.txt': 'one\n' });
    const run = await runCroft(['tool', 'list', '--workspace', directory.path, '--events', '/dev/full']);
    expect(run).toMatchObject({ exitCode: 0, stdout: 'a.txt\t4\n' });
  });
});
