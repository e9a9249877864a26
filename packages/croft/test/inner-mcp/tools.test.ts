import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectHttp, connectStdio, croft, eras, makeDirectory, startServer } from '../support/harness.ts';
import { inner, innerNames, openFixture, serverFile } from './fixture.ts';

type Fixture = Awaited<ReturnType<typeof openFixture>>;

describe('servers of the operator’s file', () => {
  const canary = 'canary-in-the-environment-of-the-server';
  let fixture: Fixture;

  beforeAll(async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a secret is named.
    const env = { GREETING: 'hello', TOKEN: 'Bearer ${secret:DEPLOY}' };
    fixture = await openFixture({
      servers: {
        inner: inner('plain', { env, cwd: 'sub', args: ['../server.mjs'] }),
        few: inner('greeting', { tools: ['echo', 'not_there'] }),
      },
      files: { 'sub/note': '' },
      env: { CANARY: canary, CROFT_SECRET_DEPLOY: 'a-secret-of-the-operator-4711', CROFT_SECRET_OTHER: `x${canary}` },
    });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  test('their tools are listed in order after the others, and only the allowed ones', async () => {
    const names = await fixture.names();
    expect(names.slice(0, 3)).toEqual(['mcp__inner__echo', 'mcp__inner__count', 'mcp__inner__environment']);
    expect(names.filter((name) => name.startsWith('mcp__few__'))).toEqual(['mcp__few__echo']);
    expect(await fixture.names()).toEqual(names);
    const { tools } = await fixture.client.listTools();
    expect(tools.find(({ name }) => name === 'mcp__inner__echo')).toMatchObject({
      description: expect.stringMatching(/^does echo\n/),
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: false, openWorldHint: true },
    });
  });

  test('a call is answered by the server, with its arguments unchanged, null too', async () => {
    const input = { a: null, b: [1, { c: 'ü' }], path: '../x' };
    expect(JSON.parse((await fixture.call('mcp__inner__echo', input)).text)).toEqual(input);
  });

  test('structured content and images come through', async () => {
    expect(await fixture.call('mcp__inner__count')).toMatchObject({ structured: { calls: expect.any(Number) } });
    const { content } = await fixture.call('mcp__inner__image');
    expect(content).toContainEqual({ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' });
  });

  test('it has the given variables and none of croft', async () => {
    const { text } = await fixture.call('mcp__inner__environment');
    const environment = JSON.parse(text);
    expect(environment.GREETING).toBe('hello');
    expect(text).not.toContain(canary);
    expect(Object.keys(environment).filter((name) => /croft|canary/i.test(name))).toEqual([]);
  });

  test('a secret passed to it is redacted', async () => {
    const { text, structured } = await fixture.call('mcp__inner__secret');
    expect(text).toMatch(/^the secret is Bearer \[REDACTED/);
    expect(JSON.stringify(structured)).not.toContain('4711');
  });

  test('it starts in the given directory', async () => {
    expect((await fixture.call('mcp__inner__where')).text).toBe(`${fixture.workspace.path}/sub`);
  });

  test('calls reach it in order', async () => {
    const numbers = Array.from({ length: 60 }, (_, index) => index);
    await Promise.all(numbers.map((number) => fixture.call('mcp__inner__order', { number })));
    const { text } = await fixture.call('mcp__inner__order', { number: 'end' });
    expect(text).toBe(`${numbers.join(',')},end`);
  });

  test('an error of the server is an error with its text', async () => {
    const failed = await fixture.call('mcp__inner__fail');
    expect(failed).toMatchObject({
      isError: true,
      text: 'it went wrong',
      structured: { error: { code: 'E_MCP_TOOL' } },
    });
    const refused = await fixture.call('mcp__inner__refuse');
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('no such argument') });
  });

  test.each(['mcp__inner__nothing', 'mcp__few__count', 'mcp__other__echo', 'mcp__inner__../echo', 'mcp__', 'mcp____x'])(
    'there is no %s',
    async (name) => {
      expect(await fixture.call(name)).toMatchObject({ structured: { error: { code: 'E_UNKNOWN_TOOL' } } });
    },
  );

  test('its changes are a checkpoint like those of any call', async () => {
    await fixture.call('mcp__inner__log', { path: '../made.txt', words: 'by the server' });
    expect(readFileSync(fixture.workspace.at('made.txt'), 'utf8')).toBe('by the server');
    expect((await fixture.call('undo_list')).text).toContain('mcp__inner__log');
  });

  test('it runs inside the sandbox: no file outside, no network', async () => {
    using outside = makeDirectory({ secret: canary });
    const read = await fixture.call('mcp__inner__read_outside', { path: outside.at('secret') });
    expect(read.text).toBe('refused ENOENT');
    const listener = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as { port: number };
    const dialled = await fixture.call('mcp__inner__dial', { host: '127.0.0.1', port });
    listener.close();
    expect(dialled.text).toMatch(/^refused /);
  });

  test('its requests are refused, and a ping is answered', async () => {
    await fixture.call('mcp__inner__ask_back');
    const answers = JSON.parse((await fixture.call('mcp__inner__asked')).text);
    expect(answers.map(({ error }: { error?: { code: number } }) => error?.code)).toEqual([
      -32601,
      -32601,
      -32601,
      undefined,
    ]);
  });

  test('a crash reports its last output, and the next call starts it again', async () => {
    const before = (await fixture.call('mcp__inner__pid')).text;
    const crashed = await fixture.call('mcp__inner__crash');
    expect(crashed).toMatchObject({ isError: true, structured: { error: { code: 'E_MCP_SERVER' } } });
    expect(crashed.text).toContain('it ended with 3; its last words: the last words of this server');
    expect((await fixture.call('mcp__inner__count')).text).toBe('1');
    expect((await fixture.call('mcp__inner__pid')).text).not.toBe(before);
  });

  test('a server that ends again and again is given up', async () => {
    const answers: string[] = [];
    for (let times = 0; times < 8; times += 1) answers.push((await fixture.call('mcp__few__crash')).text);
    expect(answers.at(-1)).toContain('there is no tool');
    for (let times = 0; times < 8; times += 1) answers.push((await fixture.call('mcp__inner__crash')).text);
    expect(answers.at(-1)).toContain('is not started any more after 5 failures in a row: it ended with 3');
  });
});

describe('sessions', () => {
  test.each(eras)('do not share a server, in %s', async (era) => {
    using workspace = makeDirectory({ 'server.mjs': serverFile });
    using own = makeDirectory({ 'mcp.json': JSON.stringify({ mcpServers: { inner: inner() } }) });
    await using server = await startServer(['--workspace', workspace.path, '--mcp-config', own.at('mcp.json')]);
    await using one = await connectHttp(server, { era, headers: { 'croft-session': 'one' } });
    await using other = await connectHttp(server, { era, headers: { 'croft-session': 'other' } });
    expect(await innerNames(one)).toEqual(await innerNames(other));
    expect((await one.call('mcp__inner__count')).text).toBe('1');
    expect((await one.call('mcp__inner__count')).text).toBe('2');
    expect((await other.call('mcp__inner__count')).text).toBe('1');
  });
});

describe('several workspaces', () => {
  test('the argument workspace picks one, unless the tool has such an argument itself', async () => {
    using one = makeDirectory({ 'server.mjs': serverFile });
    using two = makeDirectory({ 'server.mjs': serverFile });
    using own = makeDirectory({ 'mcp.json': JSON.stringify({ mcpServers: { inner: inner() } }) });
    const flags = ['--workspaces', `one=${one.path},two=${two.path}`, '--mcp-config', own.at('mcp.json')];
    await using session = await connectStdio(flags, { era: '2025' });
    const { tools } = await session.client.listTools();
    const schemaOf = (wanted: string) => tools.find(({ name }) => name === wanted)?.inputSchema.properties;
    expect(schemaOf('mcp__inner__where')).toMatchObject({
      workspace: { description: expect.stringContaining('one, two') },
    });
    expect(schemaOf('mcp__inner__own')).toEqual({ workspace: { type: 'string' } });
    expect((await session.call('mcp__inner__where', { workspace: 'two' })).text).toBe(two.path);
    expect((await session.call('mcp__inner__echo', { workspace: 'one', a: 1 })).text).toBe('{"a":1}');
    expect((await session.call('mcp__inner__own', { workspace: 'mine' })).text).toBe('{"workspace":"mine"}');
    expect(await session.call('mcp__inner__where')).toMatchObject({
      structured: { error: { code: 'E_WORKSPACE_REQUIRED' } },
    });
  });
});

test('over stdio the person at the client is asked before a call, and sees it', async () => {
  using workspace = makeDirectory({ 'server.mjs': serverFile });
  using own = makeDirectory({ 'mcp.json': JSON.stringify({ mcpServers: { inner: inner() } }) });
  const asked: string[] = [];
  const client = new Client({ name: 'croft-test', version: '1.0.0' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: { decision: 'approve', scope: 'once' } };
  });
  const flags = ['--workspace', workspace.path, '--mcp-config', own.at('mcp.json'), '--permission-mode', 'ask'];
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, CROFT_DATA: own.at('data') };
  await client.connect(new StdioClientTransport({ command: croft, args: ['mcp', ...flags], env, stderr: 'ignore' }));
  const { content } = await client.callTool({ name: 'mcp__inner__echo', arguments: { a: 1 } });
  await client.close();
  expect(content).toEqual([{ type: 'text', text: '{"a":1}' }]);
  expect(asked).toEqual([expect.stringMatching(/run mcp__inner__echo in .*\n\n> echo of the MCP server inner:\n/)]);
});
