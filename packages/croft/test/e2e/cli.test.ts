import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { LifecycleEvent } from '@croft/protocol';
import { describe, expect, test } from 'vitest';
import { connectHttp, connectStdio, eras, makeDirectory, runCroft, startServer } from '../support/harness.ts';

const repository = join(import.meta.dirname, '../../../..');
const readingTools = [
  ...[
    'cd',
    'glob',
    'grep',
    'last_test_failures',
    'list',
    'next_page',
    'outline',
    'read',
    'read_symbol',
    'secret',
    'secrets_available',
    'tests_covering',
  ],
  ...['ast_search', 'calls', 'diagnostics', 'find_definition', 'find_implementations', 'find_references', 'hover'],
  ...[
    'repo_map',
    'search_code',
    'snapshot_diff',
    'snapshot_list',
    'undo_list',
    'workspaces',
    'agents',
    'skill',
    'skills',
  ],
].sort();

describe.concurrent('the workspaces of a command', () => {
  test('are the current directory for croft tool without a flag', async () => {
    using directory = makeDirectory();
    const run = await runCroft(['tool', 'workspaces', '--json'], { cwd: directory.path });
    const name = basename(directory.path);
    expect(JSON.parse(run.stdout).workspaces).toMatchObject([{ name, root: directory.path }]);
  });

  test('are the current directory for croft mcp without a flag', async () => {
    using directory = makeDirectory({ 'here.txt': '' });
    await using session = await connectStdio([], { cwd: directory.path, era: '2025' });
    expect((await session.call('list')).text).toBe('here.txt\t0\n');
  });

  test('are the current directory for croft serve without a flag', async () => {
    using directory = makeDirectory({ 'here.txt': '' });
    await using server = await startServer([], { cwd: directory.path });
    await using session = await connectHttp(server);
    expect((await session.call('list')).text).toBe('here.txt\t0\n');
  });

  test.each(['tool', 'mcp', 'serve'])('must be there for croft %s', async (command) => {
    using directory = makeDirectory({ 'a.txt': '' });
    const rest = command === 'tool' ? ['list'] : [];
    const data = { CROFT_DATA: directory.at('data') };
    const missing = await runCroft([command, ...rest, '--workspace', directory.at('gone/deep')], { env: data });
    expect(missing).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `workspace: resolve workspace root: lstat ${directory.at('gone')}: no such file or directory\n`,
    });
    const file = await runCroft([command, ...rest, '--workspace', directory.at('a.txt')], { env: data });
    expect(file).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `workspace: workspace root is not a directory: "${directory.at('a.txt')}"\n`,
    });
  });

  test.each(['mcp', 'serve', 'runner'])('are not opened for croft %s with an extra argument', async (command) => {
    using directory = makeDirectory({ 'a/one.txt': '' });
    const run = await runCroft([command, directory.at('a')], { cwd: directory.path });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toBe(`Unexpected argument '${directory.at('a')}'; see: croft ${command} --help\n`);
  });

  test('may be given by the flags of older systems', async () => {
    using directory = makeDirectory({ 'a/one.txt': '', 'b/two.txt': '' });
    const single = await runCroft(['tool', 'list', '-workspace', 'a'], { cwd: directory.path });
    expect(single).toMatchObject({ exitCode: 0, stdout: 'one.txt\t0\n' });
    const written = await runCroft(['tool', 'list', '-workspace=b'], { cwd: directory.path });
    expect(written).toMatchObject({ exitCode: 0, stdout: 'two.txt\t0\n' });
    const several = ['tool', 'list', '{"workspace":"y"}', '-workspaces=x=a,y=b', '-readonly'];
    expect(await runCroft(several, { cwd: directory.path })).toMatchObject({ exitCode: 0, stdout: 'two.txt\t0\n' });
  });

  test.each([
    ['--workspace', 'a', 'b'],
    ['-workspaces', 'x=a', 'y=b'],
  ])('may not be given twice by %s', async (flag, first, second) => {
    using directory = makeDirectory({ 'a/one.txt': '', 'b/two.txt': '' });
    const run = await runCroft(['tool', 'list', flag, first, `${flag}=${second}`], { cwd: directory.path });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toBe(`--${flag.replace(/^-+/, '')} is given more than once; see: croft tool --help\n`);
  });

  test('are announced on standard error by croft mcp -workspaces=… -readonly', async () => {
    using directory = makeDirectory({ 'a/one.txt': '', 'b/two.txt': '' });
    const run = await runCroft(['mcp', '-workspaces=primary=a,extension=b', '-readonly'], { cwd: directory.path });
    expect(run).toMatchObject({ exitCode: 0, stdout: '' });
    expect(run.stderr).toContain('croft multi-workspace mode: 2 workspaces configured (extension, primary)\n');
    expect(run.stderr).toContain('read-only');
  });

  test('are served at a free port with -addr=:0', async () => {
    using directory = makeDirectory({ 'a.txt': '' });
    await using server = await startServer(['-addr=:0', '-workspace', directory.path]);
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await using session = await connectHttp(server);
    expect((await session.call('list')).text).toBe('a.txt\t0\n');
  });

  test.each([
    ['--port', '99999'],
    ['--port', 'http'],
    ['--port', ''],
    ['--port', '0x50'],
    ['--host', ''],
    ['--addr', 'localhost'],
    ['--allow-host', ''],
    ['--allow-host', '*'],
    ['--allow-host', 'https://croft.example'],
    ['--allow-host', 'croft.example/mcp'],
  ])('are not served at the address %s %s', async (...flags) => {
    using directory = makeDirectory();
    const run = await runCroft(['serve', '--data', directory.path, ...flags], { cwd: directory.path });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(new RegExp(`^${flags[0]} takes .*\n$`));
  });
});

describe.concurrent('croft serve', () => {
  // A token that no Authorization header can carry would lock everybody out.
  const noTokens = [
    '',
    'short',
    'with a newline at its end\n',
    'of more than one word',
    ' '.repeat(20),
    'ключ-от-этой-двери',
  ];
  test.each(noTokens)('refuses to start with CROFT_TOKEN=%j, in one line', async (token) => {
    const run = await runCroft(['serve', '--port', '0'], { env: { CROFT_TOKEN: token } });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(/^.*CROFT_TOKEN.*\n$/);
  });

  test.each(['file', 'file/below'])('refuses to start with data in a %s, in one line', async (name) => {
    using directory = makeDirectory({ file: '' });
    const run = await runCroft(['serve', '--port', '0', '--data', directory.at(name)], { cwd: directory.path });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(/^the data directory cannot be used: .* --data DIR or CROFT_DATA\n$/);
  });

  const hasIpv6 = networkInterfaces().lo?.some(({ address }) => address === '::1') ?? false;
  test.skipIf(!hasIpv6).each(['--host=::1', '--addr=[::1]:0'])(
    'answers at the address it prints with %s',
    async (flag) => {
      using directory = makeDirectory();
      await using server = await startServer(['--workspace', directory.path, flag]);
      expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    },
  );

  test.each(['', 'kept', 'link', 'link/new'])(
    'refuses to start with data in a workspace (%j), and writes nothing there',
    async (name) => {
      using directory = makeDirectory({ 'kept/own': '' });
      symlinkSync('kept', directory.at('link'));
      const flags = ['--workspace', directory.path, '--data', directory.at(name), '--port', '0'];
      const run = await runCroft(['serve', ...flags]);
      expect(run).toMatchObject({ exitCode: 2, stdout: '' });
      expect(run.stderr).toMatch(
        /^the data directory .* is inside a workspace, .* keys included: choose another .*\n$/,
      );
      expect(
        readdirSync(directory.path, { recursive: true }).filter((path) => /token|keys|croft/.test(String(path))),
      ).toEqual([]);
    },
  );

  test('says why it cannot listen on a port that is taken', async () => {
    using directory = makeDirectory();
    using data = makeDirectory();
    await using server = await startServer(['--workspace', directory.path]);
    const flags = ['--workspace', directory.path, '--data', data.path, '--port', new URL(server.url).port];
    const run = await runCroft(['serve', ...flags], { env: { CROFT_TOKEN: server.token } });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(/^cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE.* --port\n$/);
  });
});

test('a data directory in the workspace of one call is reported, and refused if approvals would be stored in it', async () => {
  using directory = makeDirectory({ 'a.txt': 'hello' });
  const read = (...flags: string[]) =>
    runCroft(['tool', 'read', '{"file_path":"a.txt"}', '--workspace', directory.path, ...flags], {
      env: { CROFT_DATA: directory.at('data') },
    });
  const reports = await read();
  expect(reports).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('hello') });
  expect(reports.stderr).toMatch(
    /^croft: the data directory .* is inside a workspace, .*; choose another with CROFT_DATA\n$/,
  );
  const refused = await read('--permission-mode', 'ask');
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
  expect(refused.stderr).toMatch(/^the data directory .* is inside a workspace/);
});

describe.concurrent('help', () => {
  test('croft, croft help, croft -h and croft --help name every command', async () => {
    for (const run of await Promise.all([[], ['help'], ['-h'], ['--help']].map((args) => runCroft(args)))) {
      expect(run).toMatchObject({ exitCode: 0, stderr: '' });
      for (const command of ['mcp', 'serve', 'tool']) expect(run.stdout).toContain(`croft ${command}`);
    }
  });

  test.each(['mcp', 'serve', 'tool'])('croft %s --help names its flags and opens nothing', async (command) => {
    const run = await runCroft([command, '--workspace', '/nowhere', '--help']);
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    for (const flag of ['--workspace DIR', '--workspaces SPEC', '--readonly', '--events FILE'])
      expect(run.stdout).toContain(flag);
  });

  test('croft version, croft -v and croft --version print the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(repository, 'packages/croft/package.json'), 'utf8'));
    for (const run of await Promise.all(['version', '-v', '--version'].map((flag) => runCroft([flag]))))
      expect(run).toEqual({ exitCode: 0, stdout: `croft ${version}\n`, stderr: '' });
  });

  test('an unknown command exits 2 and names the nearest one, or shows all', async () => {
    const run = await runCroft(['fly']);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(/^there is no command fly; the nearest is \w+\n.*croft serve/s);
  });

  test('npx croft works from the root of the repository', async () => {
    using directory = makeDirectory({ 'a.txt': '' });
    const args = ['--no-install', 'croft', 'tool', 'list', '--workspace', directory.path];
    const { stdout } = await promisify(execFile)('npx', args, { cwd: repository });
    expect(stdout).toBe('a.txt\t0\n');
  });
});

describe.concurrent('--events', () => {
  test('records the start, its workspaces, each call, an attempt to escape and the stop', async () => {
    using directory = makeDirectory({ 'a/one.txt': 'x\n', 'b/two.txt': 'x\n', 'secret.txt': 'x\n' });
    const flags = ['--workspaces', `first=${directory.at('a')},second=${directory.at('b')}`];
    {
      // In 2026 the client starts a second process to ask for the version, and its events come first.
      await using session = await connectStdio([...flags, '--events', directory.at('events')], { era: '2025' });
      await session.call('read', { workspace: 'first', file_path: 'one.txt' });
      await session.call('read', { workspace: 'second', file_path: '../secret.txt' });
      await session.call('write', { workspace: 'second', file_path: 'new.txt', content: 'y'.repeat(10_000) });
    }
    const text = readFileSync(directory.at('events'), 'utf8');
    const events = text
      .trimEnd()
      .split('\n')
      .map((line) => LifecycleEvent.parse(JSON.parse(line)));
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    const about = { workspace: 'second', session: expect.any(String) };
    const ofCalls = events.filter(({ event }) => event !== 'lifecycle.server.stall');
    expect(ofCalls.map(({ event, fields }) => [event.replace('lifecycle.', ''), fields])).toMatchObject([
      ['start', { workspaces: ['first', 'second'], read_only: false }],
      ['workspace.sandbox', { workspace: 'first', sandbox_root: directory.at('a') }],
      ['workspace.sandbox', { workspace: 'second', sandbox_root: directory.at('b') }],
      ['tool.call', { tool: 'read', workspace: 'first', arguments: { file_path: 'one.txt' } }],
      ['tool.result', { tool: 'read', workspace: 'first', is_error: false, duration_ms: expect.any(Number) }],
      ['tool.call', { ...about, tool: 'read' }],
      [
        'sandbox.violation',
        { ...about, tool: 'read', code: 'E_SANDBOX_VIOLATION', kind: 'sandbox_violation', path: '../secret.txt' },
      ],
      ['tool.result', { ...about, tool: 'read', is_error: true, code: 'E_SANDBOX_VIOLATION' }],
      ['tool.call', { ...about, tool: 'write' }],
      ['tool.result', { ...about, tool: 'write', is_error: false }],
      ['stop', {}],
    ]);
    expect(text).not.toContain('y'.repeat(200));
  });

  test('refuses a pipe without a reader at the start, without blocking', async () => {
    using directory = makeDirectory();
    execFileSync('mkfifo', [directory.at('pipe')]);
    const run = await runCroft(['tool', 'list', '--workspace', directory.path, '--events', directory.at('pipe')]);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toBe(`events cannot be written to ${directory.at('pipe')}: ENXIO\n`);
  });

  test('appends the events of a second start to those of the first', async () => {
    using directory = makeDirectory();
    for (const _ of [1, 2])
      await runCroft(['tool', 'list', '--workspace', directory.path, '--events', directory.at('events')]);
    const lines = readFileSync(directory.at('events'), 'utf8').trimEnd().split('\n');
    const names = lines.map((line) => LifecycleEvent.parse(JSON.parse(line)).event);
    expect(names.filter((name) => name === 'lifecycle.start')).toHaveLength(2);
    expect(names.at(-1)).toBe('lifecycle.stop');
  });
});

describe.concurrent('--readonly', () => {
  const mutations = [
    ['write', { file_path: 'new.txt', content: 'x' }],
    ['write', { file_path: 'a.txt', content: 'x' }],
    ['edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }],
    ['delete', { file_path: 'a.txt' }],
    ['move', { from: 'a.txt', to: 'b.txt' }],
    ['Write', { file_path: 'new.txt', content: 'x' }],
    ['file-edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }],
    ['write_file', { path: 'new.txt', content: 'x' }],
  ] as const;

  test.each(eras)('leaves only tools that read, both in the list and for calls by a client of %s', async (era) => {
    using directory = makeDirectory({ 'w/a.txt': 'one\n' });
    const flags = ['--readonly', '--workspace', directory.at('w'), '--tools', 'all'];
    await using server = await startServer(flags);
    await using http = await connectHttp(server, { era });
    await using stdio = await connectStdio(flags, { era });
    for (const session of [http, stdio]) {
      const { tools } = await session.client.listTools();
      expect(tools.map(({ name }) => name).sort()).toEqual(readingTools);
      expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
      expect((await session.call('read', { file_path: 'a.txt' })).isError).toBe(false);
      for (const [name, args] of mutations) {
        const answer = await session.call(name, args);
        expect(answer).toMatchObject({ isError: true, structured: { error: { code: 'E_UNKNOWN_TOOL' } } });
      }
    }
    expect(readdirSync(directory.at('w'))).toEqual(['a.txt']);
    expect(readFileSync(directory.at('w/a.txt'), 'utf8')).toBe('one\n');
  });

  test('holds for croft tool, and -readonly=false removes it', async () => {
    using directory = makeDirectory();
    const write = ['tool', 'write', '{"file_path":"a.txt","content":"x"}', '--workspace', directory.path];
    const refused = await runCroft([...write, '-readonly']);
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/^E_UNKNOWN_TOOL: /) });
    expect(readdirSync(directory.path)).toEqual([]);
    expect(await runCroft([...write, '-readonly=false'])).toMatchObject({ exitCode: 0 });
  });

  test.each([
    [['--readonly=false', '--readonly'], 1],
    [['--readonly', '-readonly=False'], 0],
    [['-readonly=0'], 0],
    [['-readonly=T'], 1],
  ])('has the last value of %j, in any spelling of older systems', async (flags, exitCode) => {
    using directory = makeDirectory();
    const write = ['tool', 'write', '{"file_path":"a.txt","content":"x"}', '--workspace', directory.path];
    expect(await runCroft([...write, ...flags])).toMatchObject({ exitCode });
  });

  test.each(['--readonly=no', '--readonly=', '--workspace-mcp=off', '-format-on-edit=never'])(
    'and other switches take true or false, not %s',
    async (flag) => {
      const [name, value] = flag.replace(/^-+/, '').split('=');
      const run = await runCroft(['tool', 'workspaces', flag]);
      const stderr = `--${name} takes true or false, not ${value || 'nothing'}; see: croft tool --help\n`;
      expect(run).toEqual({ exitCode: 2, stdout: '', stderr });
    },
  );
});

test('croft serve --demo makes its workspace once and keeps later changes', async () => {
  using data = makeDirectory();
  for (const start of ['first', 'second']) {
    await using server = await startServer(['--demo', '--data', data.path]);
    await using session = await connectHttp(server);
    expect((await session.call('workspaces')).structured.workspaces).toMatchObject([{ name: 'demo' }]);
    const { text } = await session.call('read', { file_path: 'hello.js' });
    if (start === 'second') {
      expect(text).toBe('1\tmine\n');
      expect((await session.call('list')).text).not.toContain('README.md');
      break;
    }
    expect(text).toContain('hello');
    await session.call('write', { file_path: 'hello.js', content: 'mine\n' });
    await session.call('delete', { file_path: 'README.md' });
  }
});
