import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands } from '../../src/cli/commands/index.ts';
import { collect, croft, makeDirectory, runCroft } from '../support/harness.ts';
import { type Account, type Platform, startPlatform } from '../support/servers/platform.ts';

const own = makeDirectory();
const configHome = own.at('config');
let platform: Platform;
let account: Account;
beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount('ann');
  writeFileSync(own.at('key'), `${account.secret}\n`);
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  own[Symbol.dispose]();
});

type Extra = { env?: Record<string, string>; input?: string };

/** Runs a command as a person with a key in the environment and an empty configuration. */
const run = (args: readonly string[], { env = {}, input = '' }: Extra = {}) => {
  const caller = { CROFT_SERVER: platform.url, CROFT_KEY_FILE: own.at('key'), XDG_CONFIG_HOME: own.at('none') };
  return runCroft(args, { env: { ...caller, ...env }, input });
};
/** Runs a command as a person who has nothing but contexts. */
const runWithContexts = (args: readonly string[], { env = {}, input = '' }: Extra = {}) =>
  runCroft(args, { env: { CROFT_DATA: own.at('data'), XDG_CONFIG_HOME: configHome, ...env }, input });

describe('records', () => {
  test('are made, listed, shown and deleted, by name and by id', async () => {
    const made = await run(['workspaces', 'create', 'notes', '--description', 'of ann']);
    expect(made).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringMatching(/^\S+\n$/) });
    const id = made.stdout.trim();
    const listed = await run(['workspaces', 'list']);
    expect(listed.stdout).toMatch(new RegExp(`^${id}\tnotes\tlocal\t\t\\S+\n$`));
    expect((await run(['workspaces'])).stdout).toBe(listed.stdout);
    expect((await run(['workspaces', 'list', '-q'])).stdout).toBe(`${id}\n`);
    const { body } = await account.send('GET', '/v1/workspaces');
    expect(JSON.parse((await run(['workspaces', 'list', '--json'])).stdout)).toEqual(body);
    for (const wanted of ['notes', id])
      expect((await run(['workspaces', 'show', wanted])).stdout).toContain('description\tof ann\n');
    expect(JSON.parse((await run(['workspaces', 'show', 'notes', '--json'])).stdout)).toEqual(body.workspaces[0]);
    expect(await run(['workspaces', 'delete', 'notes', 'gone'])).toMatchObject({ exitCode: 3 });
    expect((await run(['workspaces', 'list', '-q'])).stdout).toBe(`${id}\n`);
    expect(await run(['workspaces', 'delete', 'notes'])).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect((await run(['workspaces'])).stdout).toBe('');
  });

  test('of an agent name its workspaces and sandbox, and have sessions', async () => {
    await run(['workspaces', 'create', 'site']);
    await run(['sandboxes', 'create', 'box', '--config', '{"permissionMode":"bypass"}']);
    expect((await run(['sandboxes'])).stdout).toContain('\tbox\tbubblewrap\tbypass\tdeny-all\t');
    const made = await run(['agents', 'create', 'coder', '--workspace', 'site', '--sandbox', 'box']);
    expect(made.exitCode).toBe(0);
    expect((await run(['agents'])).stdout).toContain('\tcoder\tsite\t');
    const session = (await run(['sessions', 'create', '--read-only'])).stdout.trim();
    expect(session).not.toBe('');
    expect((await run(['sessions', 'list', '--agent', 'coder', '-q'])).stdout.split('\n')).toContain(session);
    expect(await run(['sessions', 'delete', session])).toMatchObject({ exitCode: 0 });
    expect((await run(['sessions', 'list', '-q'])).stdout.split('\n')).not.toContain(session);
  });

  test('with a secret print nothing else on standard output', async () => {
    const made = await run(['keys', 'create', 'reader', '--scope', 'read']);
    expect(made.stdout).toMatch(/^croft_\S+\n$/);
    expect(made.stderr).not.toContain(made.stdout.trim());
    const env = { CROFT_KEY: made.stdout.trim() };
    expect(await run(['workspaces', 'list'], { env })).toMatchObject({ exitCode: 0 });
    expect(await run(['workspaces', 'create', 'more'], { env })).toMatchObject({ exitCode: 4, stdout: '' });
    const rotated = await run(['keys', 'rotate', 'reader']);
    expect(rotated.stdout).toMatch(/^croft_\S+\n$/);
    expect(await run(['workspaces', 'list'], { env })).toMatchObject({ exitCode: 4 });

    expect(await run(['secrets', 'create', 'TOKEN'], { input: 'very-secret-value\n' })).toMatchObject({ exitCode: 0 });
    const secrets = await run(['secrets', 'show', 'TOKEN']);
    expect(secrets).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('name\tTOKEN\n') });
    expect(secrets.stdout).not.toContain('very-secret-value');
    expect(await run(['secrets', 'delete', 'TOKEN'])).toMatchObject({ exitCode: 0 });
  });

  test('of which one is called as the id of another are not mixed up', async () => {
    const idOf = async (name: string) => {
      const { keys } = JSON.parse((await run(['keys', 'list', '--json'])).stdout);
      return keys.find((key: { name: string }) => key.name === name).keyId as string;
    };
    await run(['keys', 'create', 'first', '--scope', 'read']);
    const first = await idOf('first');
    await run(['keys', 'create', first, '--scope', 'read']);
    const second = await idOf(first);
    const unclear = await run(['keys', 'delete', first]);
    expect(unclear).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(`${first} (first), `) });
    expect(unclear.stderr).toContain(`${second} (${first})`);
    expect(await run(['keys', 'delete', 'first', second])).toMatchObject({ exitCode: 0 });
  });

  test('cannot make a terminal obey them', async () => {
    await run(['workspaces', 'create', 'evil', '--description', '\u001b[31mred\u202e\nnext\tcell']);
    expect((await run(['workspaces', 'show', 'evil'])).stdout).toContain('description\tred next cell\n');
  });
});

describe('exit codes', () => {
  test.each([
    [['workspaces', 'show', 'nothing'], 3, 'there is no workspace nothing; there are: '],
    [['workspaces', 'list', '--jsn'], 2, 'the nearest is --json'],
    [['workspaces', 'lst'], 2, 'croft workspaces has no lst, the nearest is list'],
    [['workspace', 'list'], 2, 'there is no command workspace; the nearest is workspaces'],
    [['workspaces', 'create', 'x', '--config', '[]'], 2, '--config takes a JSON object'],
    [['runners', 'create', '../x'], 2, 'name must be 1 to 64 letters'],
    [['keys', 'rotate'], 2, 'usage: croft keys rotate KEY'],
  ])('%j ends with %i', async (args, exitCode, words) => {
    expect(await run(args)).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(words) });
  });

  test('tell a wrong key, a taken name, a server that is down and Ctrl-C apart', async () => {
    const wrong = await run(['workspaces'], { env: { CROFT_KEY: 'croft_wrong' } });
    expect(wrong).toMatchObject({ exitCode: 4, stdout: '' });
    expect(wrong.stderr).not.toContain('croft_wrong');
    for (const exitCode of [0, 5]) expect(await run(['workspaces', 'create', 'taken'])).toMatchObject({ exitCode });
    const closed = await runCroft(['workspaces', '--server', 'http://127.0.0.1:2', '--key-file', own.at('key')]);
    expect(closed).toMatchObject({ exitCode: 7, stderr: expect.stringContaining('cannot be reached') });
  });

  test('are 130 when Ctrl-C ends a command that waits for a server', async () => {
    await using silent = await startSilentServer();
    const args = ['workspaces', '--server', silent.url, '--key-file', own.at('key')];
    const child = spawn(croft, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const output = collect(child);
    await silent.asked;
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([130, null]);
    expect(output.stderr()).toBe('');
  });
});

describe('contexts', () => {
  test('are made by croft login, only with a key that the server takes, and are private', async () => {
    const wrong = await runWithContexts(['login', platform.url], { input: 'croft_wrong\n' });
    expect(wrong).toMatchObject({ exitCode: 4, stdout: '' });
    expect(await runWithContexts(['context', 'list'])).toMatchObject({ exitCode: 0, stdout: '' });
    const signedIn = await runWithContexts(['login', platform.url, '--name', 'work'], { input: `${account.secret}\n` });
    expect(signedIn).toMatchObject({ exitCode: 0, stdout: '', stderr: expect.stringContaining('as ann') });
    expect(signedIn.stderr).not.toContain(account.secret);
    const [file, key] = [join(configHome, 'croft/config.toml'), join(configHome, 'croft/keys/work')];
    expect([file, key].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(readFileSync(file, 'utf8')).not.toContain(account.secret);
    expect(await runWithContexts(['workspaces'])).toMatchObject({ exitCode: 0 });
  });

  test('say which server is meant, and a flag or a variable says otherwise', async () => {
    await using other = await startSilentServer(401);
    const command = `cat ${own.at('key')}`;
    await runWithContexts(['context', 'add', 'far', '--server', other.url, '--key-command', command]);
    expect((await runWithContexts(['context', 'list'])).stdout).toBe(
      `*\twork\t${platform.url}\t${join(configHome, 'croft/keys/work')}\n\tfar\t${other.url}\t${command}\n`,
    );
    expect(await runWithContexts(['workspaces', '--context', 'far'])).toMatchObject({ exitCode: 4 });
    expect(other.keys()).toEqual([`Bearer ${account.secret}`]);
    expect(await runWithContexts(['context', 'use', 'far'])).toMatchObject({ exitCode: 0 });
    expect(await runWithContexts(['workspaces'])).toMatchObject({ exitCode: 4 });
    expect(await runWithContexts(['workspaces'], { env: { CROFT_CONTEXT: 'work' } })).toMatchObject({ exitCode: 0 });
    const env = { CROFT_SERVER: platform.url, CROFT_KEY_FILE: own.at('key') };
    expect(await runWithContexts(['workspaces'], { env })).toMatchObject({ exitCode: 0 });
    expect(await runWithContexts(['workspaces', '--context', 'far'], { env })).toMatchObject({ exitCode: 4 });
    expect(await runWithContexts(['context', 'use', 'gone'])).toMatchObject({ exitCode: 3 });
    expect(await runWithContexts(['context', 'use', 'work'])).toMatchObject({ exitCode: 0 });
  });

  test('give their key to no other server', async () => {
    await using other = await startSilentServer(401);
    const run = await runWithContexts(['workspaces', '--server', other.url]);
    expect(run).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('say who you are') });
    const env = { CROFT_SERVER: platform.url, CROFT_KEY: account.secret };
    expect(await runWithContexts(['workspaces', '--server', other.url], { env })).toMatchObject({ exitCode: 2 });
    expect(other.keys()).toEqual([]);
    const plain = await runWithContexts(['workspaces', '--server', 'http://192.0.2.1', '--key-file', own.at('key')]);
    expect(plain).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('use https') });
  });

  test('never get the token of the admin of this machine', async () => {
    await using other = await startSilentServer(401);
    using data = makeDirectory({ 'admin-token': 'token-of-the-admin-of-this-machine\n' });
    const env = { CROFT_DATA: data.path, CROFT_CONTEXT: 'elsewhere' };
    await runWithContexts(['context', 'add', 'elsewhere', '--server', other.url, '--key-command', 'echo own-key']);
    for (const args of [['accounts'], ['workspaces', '--account', 'acct_1']]) await runWithContexts(args, { env });
    expect(other.keys()).toEqual([]);
    await runWithContexts(['accounts', '--server', other.url], { env });
    expect(other.keys()).toEqual(['Bearer token-of-the-admin-of-this-machine']);
  });

  test('are refused when others could have written them', async () => {
    const file = join(configHome, 'croft/config.toml');
    chmodSync(file, 0o622);
    expect(await runWithContexts(['workspaces'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('chmod'),
    });
    chmodSync(file, 0o600);
    expect(await runWithContexts(['workspaces'])).toMatchObject({ exitCode: 0 });
  });
});

test('a terminal shows a table with titles', () => {
  const env = {
    ...process.env,
    CROFT_SERVER: platform.url,
    CROFT_KEY_FILE: own.at('key'),
    XDG_CONFIG_HOME: own.at('x'),
  };
  const { stdout } = spawnSync('script', ['-qec', `${croft} agents`, '/dev/null'], { env, encoding: 'utf8' });
  const [titles = '', row = ''] = stdout.split('\r\n');
  expect(titles).toMatch(/^ID +NAME +WORKSPACES +CREATED$/);
  expect(row.indexOf('coder')).toBe(titles.indexOf('NAME'));
});

test('the examples of docs/cli.md work as they are written', async () => {
  const { secret } = await platform.newAccount('reader');
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/cli.md'), 'utf8');
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const script = blocks.join('').replaceAll('https://croft.example.com', platform.url);
  writeFileSync(own.at('croft.key'), secret);
  const env = { PATH: `${dirname(croft)}:${process.env.PATH}`, HOME: own.path, CROFT_DATA: own.at('data') };
  const ended = spawnSync('sh', ['-euc', script], { env, cwd: own.path, encoding: 'utf8' });
  expect(ended).toMatchObject({ status: 0, stdout: expect.stringContaining('\twriter\tnotes\t') });
  expect(ended.stdout).toContain('2 plan.md\n');
  expect(readFileSync(own.at('laptop.key'), 'utf8')).toMatch(/^croft_\S+\n$/);
});

test('every command is in docs/cli.md, and every example of the help names flags that exist', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/cli.md'), 'utf8');
  for (const [name, { load }] of Object.entries(commands)) {
    expect(page, name).toContain(`croft ${name}`);
    const { examples, options } = await load();
    expect(examples.length, name).toBeGreaterThan(0);
    for (const example of examples) {
      const flags = [...(example.split(' -- ')[0] ?? '').matchAll(/ --([a-z-]+)/g)].map(([, flag = '']) => flag);
      expect(Object.keys(options), example).toEqual(expect.arrayContaining(flags));
    }
  }
});

/** A server that never answers, or refuses everybody, and keeps the keys that it was sent. */
async function startSilentServer(status?: number) {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers.authorization);
    resolve();
    if (status !== undefined) response.writeHead(status).end(JSON.stringify(refusal));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    keys: () => keys,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const refusal = {
  error: { code: 'E_UNAUTHORIZED', kind: 'unauthorized', message: 'no', hint: 'no', details: {} },
};
