import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeDirectory } from '../../croft/test/support/harness.ts';
import { type Platform, startPlatform } from '../../croft/test/support/servers/platform.ts';
import { aiSandbox, aiTools } from '../src/adapters/ai/index.ts';
import { Croft } from '../src/index.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { testBoxes } from './suite/box-suite.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform[Symbol.asyncDispose]());

let accounts = 0;
const newKey = async () => (await platform.newAccount(`person-${++accounts}`)).secret;

describe('boxes of a real server, over HTTP', () => {
  testBoxes(async () => ({
    croft: new Croft({ server: platform.url, key: await newKey() }),
    teach: () => {},
    [Symbol.asyncDispose]: async () => {},
  }));
});

describe('through a proxy that cuts connections', () => {
  test('a cut read is sent again, and a cut call runs once', async () => {
    await using proxy = await startCuttingProxy(platform.url);
    const croft = new Croft({ server: proxy.url, key: await newKey() });
    await using box = await croft.open('notes');
    await box.files.write('a.txt', 'here');
    proxy.cutAnswers('GET', 2);
    expect(await box.files.read('a.txt')).toBe('here');
    expect(proxy.cuts).toBe(2);
    proxy.cutAnswers('PUT', 1);
    await box.files.write('b.txt', 'there');
    proxy.cutAnswers('POST', 1);
    await expect(box.exec('echo ran >> log')).rejects.toMatchObject({ code: 'E_CONNECTION_LOST' });
    await expect.poll(() => box.files.read('log').catch(() => '')).toBe('ran\n');
    expect(proxy.cuts).toBe(4);
    // Nothing more runs behind it.
    expect((await box.exec('cat log')).stdout).toBe('ran\n');
  });

  test('a record is made once, though the answer to its request was cut', async () => {
    await using proxy = await startCuttingProxy(platform.url);
    const croft = new Croft({ server: proxy.url, key: await newKey() });
    proxy.cutAnswers('POST', 1);
    await using box = await croft.open('once');
    expect(proxy.cuts).toBe(1);
    const named = await Array.fromAsync(croft.client.workspaces.all());
    expect(named.map(({ workspaceId }) => workspaceId)).toEqual([box.workspaceId]);
  });

  test('events continue where they were', async () => {
    await using proxy = await startCuttingProxy(platform.url);
    const croft = new Croft({ server: proxy.url, key: await newKey() });
    const stop = new AbortController();
    const events = croft.events({ signal: stop.signal, after: (await croft.client.audit.list()).position });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of events) if (event.type === 'audit') seen.push(event.record.target);
    })();
    const [one, two] = [await croft.client.workspaces.create({ name: 'one' }), { name: 'two' }];
    await expect.poll(() => seen).toEqual([one.workspaceId]);
    proxy.cutAll();
    const second = await croft.client.workspaces.create(two, { idempotencyKey: 'two' });
    await expect.poll(() => seen).toEqual([one.workspaceId, second.workspaceId]);
    stop.abort();
    await reading;
  });
});

test('a server that is away is an error of its own: nothing was sent', async () => {
  const croft = new Croft({ server: 'http://127.0.0.1:59999', key: 'nobody', retries: 1 });
  await expect(croft.open('notes')).rejects.toMatchObject({ name: 'CroftError', code: 'E_UNREACHABLE' });
});

test('a wrong key is refused with a hint', async () => {
  const refused = new Croft({ server: platform.url, key: 'wrong' }).open('notes');
  const asRefused = { code: 'E_UNAUTHORIZED', hint: expect.stringContaining('key') };
  await expect(refused).rejects.toMatchObject({ ...asRefused, requestId: expect.stringMatching(/^[\da-f-]{36}$/) });
});

test('a terminal is a shell in the sandbox, and ends with its exit code', async () => {
  const croft = new Croft({ server: platform.url, key: await newKey() });
  await using box = await croft.open('notes');
  await box.files.write('seen.txt', '');
  await using terminal = await box.terminal({ columns: 100 });
  terminal.write('ls; stty size; exit 5\n');
  let printed = '';
  for await (const piece of terminal) printed += new TextDecoder().decode(piece);
  expect(printed).toMatch(/seen\.txt[\s\S]*24 100/);
  expect(await terminal.exit).toEqual({ code: 5, signal: null });
});

test('tests of the project are run, and only green is green', async () => {
  const croft = new Croft({ server: platform.url, key: await newKey() });
  await using box = await croft.open('notes');
  await box.files.write('package.json', '{"type":"module","scripts":{"test":"node --test"}}');
  await box.files.write('a.test.js', "import test from 'node:test'; test('holds', () => { throw new Error('no'); });");
  const report = await box.tests();
  expect(report).toMatchObject({ green: false, state: 'failed' });
  expect(report.runs[0]?.failures[0]).toMatchObject({ name: expect.stringContaining('holds') });
});

test('a model has the tools and the sandbox of a box; `npm run test:adapters` has the frameworks', async () => {
  const croft = new Croft({ server: platform.url, key: await newKey() });
  await using box = await croft.open('notes', { sandbox: { permissionMode: 'edit' } });
  const { tools, toolApproval } = await aiTools(box, { approvals: 'caller' });
  const absent = tools.read?.execute({ file_path: 'absent.txt' }, { toolCallId: 'one' });
  await expect(absent).rejects.toThrow(/^E_FILE_NOT_FOUND: .*\nNext: List the parent directory/);
  expect(await toolApproval.write?.({ file_path: 'a.txt', content: 'new' }, { toolCallId: 'two' })).toBeUndefined();
  expect(await toolApproval.bash?.({ command: 'id' }, { toolCallId: 'three' })).toBe('user-approval');
  expect(await tools.bash?.execute({ command: 'id' }, { toolCallId: 'three' })).toMatchObject({ exitCode: 0 });
  const sandbox = aiSandbox(box);
  await sandbox.writeTextFile({ path: `${await box.root()}/a.txt`, content: 'new' });
  expect([await sandbox.readTextFile({ path: 'a.txt' }), await sandbox.stat({ path: 'absent' })]).toEqual([
    'new',
    null,
  ]);
});

describe('examples', () => {
  const run = (name: string, env: Record<string, string>) => {
    const file = join(import.meta.dirname, '../../../examples', name);
    const { PATH = '' } = process.env;
    return execFileSync(process.execPath, [file], { env: { PATH, ...env }, encoding: 'utf8', stdio: 'pipe' });
  };

  test.each([
    ['five-lines.ts', 'exit 1: the files are as they were\n'],
    ['stream-output.ts', 'stdout: 1\nstdout: 2\nstdout: 3\n'],
    ['compare-forks.ts', 'fast passed, slow failed: merged fast\n'],
    ['approve-calls.ts', 'approved run_command: echo careful\ncareful\n'],
  ])('%s', async (name, printed) => {
    using home = makeDirectory();
    const env = { HOME: home.path, CROFT_SERVER: platform.url, CROFT_KEY: await newKey() };
    expect(run(name, env)).toBe(printed);
  });

  test('embedded.ts', () => {
    using home = makeDirectory();
    expect(run('embedded.ts', { HOME: home.path })).toBe('hello from inside\n');
  });

  test('test-your-program.ts', () => expect(run('test-your-program.ts', {})).toBe('the deployment was refused\n'));
});

describe('without options', () => {
  /** In a program of its own, because the environment is of the whole process. */
  const open = (env: Record<string, string>, options = '{}') => {
    const source = `import { Croft } from '@croft/sdk';
      const croft = new Croft(${options});
      console.log((await croft.client.account.get()).username);`;
    const { PATH = '' } = process.env;
    const argv = ['--input-type=module', '--conditions=node', '-e', source];
    return execFileSync(process.execPath, argv, { env: { PATH, ...env }, encoding: 'utf8', stdio: 'pipe' });
  };

  test('server and key come from CROFT_*, from a context, and options win', async () => {
    using home = makeDirectory({ '.config/croft/config.toml': '', key: '' });
    const [one, two] = [await newKey(), await newKey()];
    const [first, second] = [`person-${accounts - 1}\n`, `person-${accounts}\n`];
    appendFileSync(home.at('key'), `${two}\n`);
    const context = `current = "here"\n[contexts.here]\nserver = "${platform.url}"\nkey_file = "${home.at('key')}"\n`;
    appendFileSync(home.at('.config/croft/config.toml'), context);
    execFileSync('chmod', ['-R', 'go-rwx', home.at('.config')]);
    const HOME = home.path;
    expect(open({ HOME: '/nowhere', CROFT_SERVER: platform.url, CROFT_KEY: one })).toBe(first);
    expect(open({ HOME })).toBe(second);
    expect(open({ HOME, CROFT_KEY: one, CROFT_SERVER: platform.url })).toBe(first);
    expect(open({ HOME, CROFT_KEY: one, CROFT_SERVER: platform.url }, "{ context: 'here' }")).toBe(second);
    // The key of one server is sent to no other.
    expect(() => open({ HOME, CROFT_SERVER: 'http://127.0.0.1:59999' })).toThrow('cannot be reached');
    expect(() => open({ HOME }, "{ context: 'absent' }")).toThrow('there is no context absent; there are: here');
    expect(() => open({ HOME }, "{ server: 'http://far.example' }")).toThrow('use https');
    execFileSync('chmod', ['go+r', home.at('.config/croft/config.toml')]);
    expect(() => open({ HOME })).toThrow('may be read by other users');
  });
});
