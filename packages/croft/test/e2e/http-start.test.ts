import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { eras, makeDirectory, runCroft, startServer } from '../support/harness.ts';
import { listTools, mcp, type Server, send, server, workspace } from './http-guards-fixture.ts';

describe('a start', () => {
  test('without CROFT_TOKEN makes a token for its owner alone and takes it again at the next start', async () => {
    using data = makeDirectory();
    const tokens: string[] = [];
    for (const _ of ['first', 'second']) {
      await using started = await startWithTokenFile(data.path);
      const file = data.at('token');
      expect(await started.output.find(/token: (.+)/)).toBe(file);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const token = readFileSync(file, 'utf8').trim();
      expect(await statusOf(started, token)).toBe(200);
      expect(await statusOf(started, `${token.slice(0, -1)}!`)).toBe(401);
      tokens.push(token);
    }
    expect(tokens[0]).toMatch(/^\S{32,}$/);
    expect(tokens[1]).toBe(tokens[0]);
  });

  test('in two places makes two different tokens', async () => {
    using one = makeDirectory();
    using two = makeDirectory();
    await using _one = await startWithTokenFile(one.path);
    await using _two = await startWithTokenFile(two.path);
    expect(readFileSync(one.at('token'), 'utf8')).not.toBe(readFileSync(two.at('token'), 'utf8'));
  });

  test('closes a token file that others may read', async () => {
    using data = makeDirectory({ token: 'a-token-that-was-left-open\n' });
    await using started = await startWithTokenFile(data.path);
    expect(statSync(data.at('token')).mode & 0o777).toBe(0o600);
    expect(await statusOf(started, 'a-token-that-was-left-open')).toBe(200);
  });

  test('with CROFT_TOKEN takes it over the file, makes no file and prints it nowhere', async () => {
    expect(existsSync(`${server.data}/token`)).toBe(false);
    using data = makeDirectory({ token: 'the-token-of-the-file\n' });
    await using started = await startServer(['--workspace', workspace.path, '--data', data.path]);
    const configuration = await readConfiguration(started);
    expect(started.output.stdout() + started.output.stderr()).not.toContain(started.token);
    expect(await statusOf(started, 'the-token-of-the-file')).toBe(401);
    expect(await statusOf(started, started.token)).toBe(200);
    expect(configuration.headers).toEqual({ Authorization: `Bearer \${CROFT_TOKEN}` });
  });

  test.each([
    ['holds no token', { token: '\n' }],
    ['holds two', { token: 'one-token-of-some-length\nanother-token-of-some-length\n' }],
    ['is a directory', { 'token/file': '' }],
  ])('with a token file that %s is refused, in one line', async (_, tree) => {
    using data = makeDirectory(tree);
    const run = await runCroft(['serve', '--port', '0', '--data', data.path, '--workspace', workspace.path]);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(/^.+\n$/);
    expect(run.stderr).toContain(data.at('token'));
  });

  test('with a token file that is a link to nowhere is refused, in one line', async () => {
    using data = makeDirectory();
    symlinkSync('nowhere', data.at('token'));
    const run = await runCroft(['serve', '--port', '0', '--data', data.path, '--workspace', workspace.path]);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(/^.+\n$/);
  });

  test('without its PostgreSQL ends, and says that it has to be started again', async () => {
    using data = makeDirectory();
    const url = 'postgres://croft:secret@127.0.0.1:1/croft';
    const flags = ['--port', '0', '--data', data.path, '--workspace', workspace.path, '--database-url', url];
    const run = await runCroft(['serve', ...flags]);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(
      /^records: PostgreSQL cannot be reached: check that it runs,.* and then start croft again\n$/,
    );
  });

  test('listens on the loopback address and no other', () => {
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect(addressesListening(Number(new URL(server.url).port))).toEqual(['0100007F']);
  });

  test.each(eras)('prints a configuration that a client of %s connects with as it is', async (era) => {
    using data = makeDirectory();
    await using started = await startWithTokenFile(data.path);
    const { type, url, headers } = await readConfiguration(started);
    expect(type).toBe('http');
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } };
    const client = new Client({ name: 'pasted', version: '1.0.0' }, era === '2026' ? pinned : {});
    await client.connect(transport);
    const result = await client.callTool({ name: 'read', arguments: { file_path: 'a.txt' } });
    expect(result.structuredContent).toMatchObject({ content: '1\tone\n' });
    await client.close();
  });
});

function startWithTokenFile(data: string): Promise<Server> {
  // `undefined` takes the variable of the harness away again.
  const env = { CROFT_TOKEN: undefined as unknown as string };
  return startServer(['--workspace', workspace.path, '--data', data], { env });
}

async function statusOf(to: Server, token: string): Promise<number> {
  const headers = { ...mcp, authorization: `Bearer ${token}` };
  return (await send({ method: 'POST', path: '/mcp', headers, body: listTools }, to)).status;
}

async function readConfiguration({ output }: Server) {
  await output.find(/^\}$/m);
  const printed = output.stdout();
  const { mcpServers } = JSON.parse(printed.slice(printed.indexOf('{\n'), printed.lastIndexOf('}') + 1));
  return mcpServers.croft as { type: string; url: string; headers: Record<string, string> };
}

/** Local addresses with a listening socket on this port, as the kernel writes them. */
function addressesListening(port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([, local = '', , state]) =>
      state === '0A' && local.endsWith(suffix) ? [local.split(':')[0] ?? ''] : [],
    );
}
