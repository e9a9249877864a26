import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as everyTool from '../../src/tools/index.ts';
import { connectStdio, type McpSession, makeDirectory, runCroft } from '../support/harness.ts';
import { mustBe, startPlatform } from '../support/servers/platform.ts';

const directory = makeDirectory();
let session: McpSession;
const call = (name: string, args: Record<string, unknown>) => session.call(name, args);
const at = (path: string) => directory.at(path);

beforeAll(async () => {
  session = await connectStdio(['--workspace', directory.path, '--tools', 'all']);
});
beforeEach(() => {
  for (const name of readdirSync(directory.path)) rmSync(at(name), { recursive: true });
  mkdirSync(at('sub'), { recursive: true });
  writeFileSync(at('lines.txt'), 'one\ntwo\nthree\nfour\nfive\n');
  writeFileSync(at('sub/Upper.ts'), 'const ALPHA = 1;\n');
  writeFileSync(at('sub/other.md'), 'alpha\n');
});
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

describe('an unknown argument', () => {
  test('is refused by every tool, and every schema says so', async () => {
    const { tools } = await session.client.listTools();
    for (const { name, inputSchema } of tools) {
      expect(inputSchema.additionalProperties, name).toBe(false);
      const { isError, text } = await call(name, { no_such_argument: 1 });
      expect({ name, isError, text }).toMatchObject({
        isError: true,
        text: expect.stringContaining('no_such_argument'),
      });
    }
  });

  test.each([
    ['bash', { command: 'touch ran', comand_line: 'x' }, '"comand_line"; the nearest is command'],
    ['write', { file_path: 'ran', content: '', contents: 'x' }, '"contents"; the nearest is content'],
    ['run_command', { cmd: 'touch', args: ['ran'], arguments: [] }, '"arguments"; the nearest is args'],
    ['bash', { command: 'touch ran', __proto__x: 1 }, '"__proto__x"'],
    ['bash', { command: 'touch ran', constructor: 1 }, '"constructor"'],
    ['bash', { command: 'touch ran', no_such: null }, '"no_such"'],
  ])('stops %s %j before anything happens, and the error names the nearest', async (name, args, said) => {
    const { isError, text } = await call(name, args);
    expect({ isError, text }).toMatchObject({ isError: true, text: expect.stringContaining(said) });
    expect(existsSync(at('ran'))).toBe(false);
  });

  test.each([
    ['bash', { command: 'echo ran' }, 'ran\n'],
    ['list', { path: 'sub' }, 'other.md'],
    ['next_page', { cursor: '00000000.0-1' }, 'no answer is kept'],
  ])('of %s is ignored if Gemini CLI adds it', async (name, args, said) => {
    expect((await call(name, { ...args, wait_for_previous: true })).text).toContain(said);
  });

  test('in a list of edits is refused, and no edit is made', async () => {
    await call('read', { file_path: 'lines.txt' });
    const edits = [
      { old_string: 'one', new_string: '1' },
      { old_string: 'two', new_string: '2', all: true },
    ];
    expect(await call('edit', { file_path: 'lines.txt', edits })).toMatchObject({
      isError: true,
      text: expect.stringContaining('"all"; the nearest is replace_all'),
    });
    expect(readFileSync(at('lines.txt'), 'utf8')).toMatch(/^one\ntwo\n/);
  });

  test('is listed with a few others, however many and long they are', async () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`${'x'.repeat(200)}${index}`, 1]));
    const { isError, text } = await call('list', many);
    expect(isError).toBe(true);
    expect(text.length).toBeLessThan(1000);
  });

  test('is refused by the CLI', async () => {
    const input = '{"command":"touch ran","workdirectory":"sub"}';
    const run = await runCroft(['tool', 'bash', input, '--workspace', directory.path]);
    expect(run).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/^E_INVALID_INPUT: .*the nearest is cwd/) });
    expect(existsSync(at('ran'))).toBe(false);
  });

  test('is refused over REST, and the listed schemas say so', async () => {
    await using platform = await startPlatform();
    const account = await platform.newAccount();
    const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
    const workspaces = [{ name: 'w', workspaceId: await account.newWorkspace() }];
    const agent = await account.newAgent({ sandbox, workspaces });
    const tools = await account.tools(agent);
    expect(tools.filter(({ inputSchema }) => inputSchema.additionalProperties !== false)).toEqual([]);
    const refused = await account.call(agent, 'write', { file_path: 'a', content: 'x', mode: '0644' });
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'E_INVALID_INPUT' } } });
    expect(refused.body.error.message).toContain('write has no argument "mode"');
    expect(mustBe(200, await account.call(agent, 'glob', { pattern: '*' })).paths).toEqual([]);
    mustBe(200, await account.call(agent, 'write', { filePath: 'a', content: 'x', workspace: 'w' }));
  });
});

describe('an argument as other systems spell it', () => {
  test.each([
    ['bash', { command: 'pwd', cwd: 'sub' }, /\/sub\n$/],
    ['bash', { command: 'pwd', workdir: './sub/' }, /\/sub\n$/],
    ['bash', { cmd: 'pwd', working_directory: '/tmp' }, /^\/tmp\n$/],
    ['bash', { command: 'sleep 30', background: true }, /shell_id: /],
    ['bash', { command: 'sleep 30', runInBackground: 'true' }, /shell_id: /],
    ['bash', { command: 'sleep 30', timeout_ms: 900 }, /timed out after 1s/],
    ['run_command', { cmd: 'pwd', workdir: 'sub' }, /\/sub\n$/],
    ['grep', { pattern: 'alpha', '-i': true }, /Upper\.ts:1:const ALPHA[\s\S]*other\.md:1:alpha/],
    ['grep', { pattern: 'alpha', '-i': 'true', include: '*.ts' }, /^sub\/Upper\.ts:1:const ALPHA = 1;\n$/],
    ['grep', { pattern: 'three', '-A': 1, '-n': true }, /^lines\.txt:3:three\nlines\.txt-4-four\n$/],
    ['grep', { pattern: 'three', '-B': '1' }, /^lines\.txt-2-two\nlines\.txt:3:three\n$/],
    ['grep', { pattern: 'three', '-C': 1 }, /2-two\n.*3:three\n.*4-four\n$/],
    ['grep', { pattern: 'o', maxResults: 1, path: 'lines.txt' }, /^lines\.txt:1:one\n/],
    ['read', { filePath: 'lines.txt', aroundLine: 3, contextLines: 1 }, /^2\ttwo\n3\tthree\n4\tfour\n/],
    ['read', { path: 'lines.txt', aroundLine: 1 }, /^1\tone\n[\s\S]*5\tfive\n$/],
    ['read', { path: 'lines.txt', start_line: 2, end_line: 3 }, /^2\ttwo\n3\tthree\n\(/],
    ['read', { path: 'lines.txt', startLine: '4' }, /^4\tfour\n5\tfive\n$/],
    ['read', { path: 'lines.txt', view_range: [4, -1] }, /^4\tfour\n5\tfive\n$/],
    ['read', { file_path: 'lines.txt', offset: '2', limit: '1' }, /^2\ttwo\n\(/],
  ])('is accepted: %s %j', async (name, args, shown) => {
    const { isError, text } = await call(name, args);
    expect(text).toMatch(shown);
    expect(isError).toBe(false);
  });

  test.each([
    ['bash', { command: 'touch ran', cwd: 'sub', workdir: '.' }, '"cwd" and "workdir" mean the same argument'],
    ['bash', { command: 'touch ran', cwd: 'absent' }, 'absent'],
    ['bash', { command: 'touch ran', cwd: '../..' }, 'outside'],
    ['read', { file_path: 'lines.txt', path: 'sub/other.md' }, '"file_path" and "path" mean the same'],
    ['read', { file_path: 'lines.txt', offset: 1, start_line: 2 }, '"offset" and "start_line" mean the same'],
    ['read', { file_path: 'lines.txt', contextLines: 2 }, 'around_line is required'],
    ['read', { file_path: 'lines.txt', start_line: 3, end_line: 2 }, 'line 2 is before line 3'],
    ['grep', { pattern: 'one', '-n': false }, 'lines always come with their numbers'],
    ['grep', { pattern: 'one', head_limit: 'many' }, 'head_limit is not valid'],
    ['grep', { pattern: 'one', case_insensitive: 'maybe' }, 'case_insensitive is not valid'],
    ['edit', { file_path: 'lines.txt', old_string: 'o.e', new_string: 'x', regex: true }, 'find it with grep'],
    ['edit', { path: 'lines.txt', new_string: 'x', edits: [{ find: 'one', replace: '1' }] }, 'pass either'],
  ])('is refused if it is ambiguous: %s %j', async (name, args, said) => {
    await call('read', { file_path: 'lines.txt' });
    const { isError, text } = await call(name, args);
    expect({ isError, text }).toMatchObject({ isError: true, text: expect.stringContaining(said) });
    expect(existsSync(at('ran'))).toBe(false);
    expect(readFileSync(at('lines.txt'), 'utf8')).toBe('one\ntwo\nthree\nfour\nfive\n');
  });

  test('for one file means only that file: run_tests {file}', async () => {
    writeFileSync(at('package.json'), '{"scripts":{"test":"node --test"}}');
    const toTest = (ran: string) =>
      `import { test } from 'node:test'; import fs from 'node:fs'; test('${ran}', () => fs.writeFileSync('${ran}', ''));`;
    writeFileSync(at('a.test.mjs'), toTest('ran-a'));
    writeFileSync(at('b.test.mjs'), toTest('ran-b'));
    const { isError, text } = await call('run_tests', { file: 'a.test.mjs' });
    expect({ isError, text }).toMatchObject({ isError: false });
    expect([existsSync(at('ran-a')), existsSync(at('ran-b'))]).toEqual([true, false]);
  });

  test('for a directory applies to one command, and not to the session', async () => {
    await call('cd', { path: 'sub' });
    expect((await call('bash', { command: 'pwd', cwd: '..' })).text).toBe(`${directory.path}\n`);
    expect((await call('bash', { command: 'pwd' })).text).toBe(`${at('sub')}\n`);
    await call('cd', {});
  });

  test('never replaces a tool’s own argument', () => {
    for (const { name, input, spellings } of Object.values(everyTool)) {
      const names = [...Object.keys(spellings?.aliases ?? {}), ...Object.keys(spellings?.refusals ?? {})];
      expect([name, names.filter((alias) => alias in input.shape)]).toEqual([name, []]);
      const meant = Object.values(spellings?.aliases ?? {});
      expect([name, meant.filter((one) => !(one in input.shape))]).toEqual([name, []]);
    }
  });
});

describe('an edit by line numbers', () => {
  const text = () => readFileSync(at('lines.txt'), 'utf8');
  const edit = (args: Record<string, unknown>) => call('edit', { file_path: 'lines.txt', ...args });
  const refused = (said: string) => ({ isError: true, text: expect.stringContaining(said) });

  test('replaces the lines that were read, whatever their number', async () => {
    await call('read', { file_path: 'lines.txt', offset: 2, limit: 3 });
    expect(await edit({ startLine: 2, endLine: 3, new_string: 'zwei' })).toMatchObject({ isError: false });
    expect(text()).toBe('one\nzwei\nfour\nfive\n');
  });

  test('takes several edits at once, with the numbers from before the call', async () => {
    await call('read', { file_path: 'lines.txt' });
    const edits = [
      { startLine: 1, endLine: 1, replace: '' },
      { startLine: 4, endLine: 5, replace: 'vier\nfünf\n' },
    ];
    expect(await edit({ edits })).toMatchObject({ isError: false });
    expect(text()).toBe('two\nthree\nvier\nfünf\n');
  });

  test('finds old_string only in those lines', async () => {
    writeFileSync(at('lines.txt'), 'x\r\nx\r\nx\r\n');
    await call('read', { file_path: 'lines.txt', limit: 1 });
    expect(await edit({ start_line: 2, old_string: 'x', new_string: 'y' })).toMatchObject({ isError: false });
    expect(text()).toBe('x\r\ny\r\nx\r\n');
    expect(await edit({ start_line: 2, old_string: 'x', new_string: 'y' })).toMatchObject(refused('lines 2-2'));
  });

  test('keeps the line endings of the file', async () => {
    writeFileSync(at('lines.txt'), 'a\r\nb\r\nc');
    await call('read', { file_path: 'lines.txt' });
    expect(await edit({ start_line: 2, new_string: 'B\nB2' })).toMatchObject({ isError: false });
    expect(text()).toBe('a\r\nB\r\nB2\r\nc');
  });

  test('is refused if the numbers may mean other lines than the caller saw', async () => {
    const before = text();
    expect(await edit({ file_path: 'sub/other.md', start_line: 1, new_string: 'x' })).toMatchObject(refused('Read it'));
    await call('read', { file_path: 'lines.txt', limit: 2 });
    expect(await edit({ start_line: 2, end_line: 3, new_string: 'x' })).toMatchObject(refused('lines 2-3'));
    expect(text()).toBe(before);
    // Its own edit moved the lines: the numbers of the read are old.
    await call('edit', { file_path: 'lines.txt', old_string: 'one\n', new_string: 'one\none and a half\n' });
    const moved = text();
    expect(await edit({ start_line: 2, new_string: 'x' })).toMatchObject(refused('since the file last changed'));
    writeFileSync(at('lines.txt'), `zero\n${moved}`);
    expect(await edit({ start_line: 2, new_string: 'x' })).toMatchObject(refused('changed since it was last read'));
    expect(text()).toBe(`zero\n${moved}`);
  });

  test.each([
    [{ start_line: 5, end_line: 6, new_string: 'x' }, 'past the end'],
    [{ start_line: 3, end_line: 2, new_string: 'x' }, 'before start_line'],
    [{ end_line: 2, new_string: 'x' }, 'is required'],
    [{ start_line: 0, new_string: 'x' }, 'start_line is not valid'],
    [
      {
        edits: [
          { start_line: 1, end_line: 3, new_string: '' },
          { start_line: 3, new_string: '' },
        ],
      },
      'overlap',
    ],
    [
      {
        edits: [
          { start_line: 1, new_string: '' },
          { old_string: 'two', new_string: '' },
        ],
      },
      'cannot be mixed',
    ],
  ])('with invalid numbers changes nothing: %j', async (args, said) => {
    await call('read', { file_path: 'lines.txt' });
    expect(await edit(args)).toMatchObject(refused(said));
    expect(text()).toBe('one\ntwo\nthree\nfour\nfive\n');
  });
});
