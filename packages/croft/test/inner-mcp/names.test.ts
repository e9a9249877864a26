import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makeDirectory, runCroft } from '../support/harness.ts';
import { inner, openFixture, serverFile } from './fixture.ts';

describe('inner servers are named by', () => {
  const ownFile = { '.mcp.json': JSON.stringify({ mcpServers: { inner: inner() } }) };

  test.each([undefined, { other: inner('plain', { tools: ['echo'] }) }])(
    'the flags alone: .mcp.json does not count by itself, beside %j',
    async (servers) => {
      await using fixture = await openFixture({ files: ownFile, ...(servers && { servers }) });
      expect(await fixture.names()).toEqual(servers ? ['mcp__other__echo'] : []);
      const called = await fixture.call('mcp__inner__echo');
      expect(called).toMatchObject({ structured: { error: { code: 'E_UNKNOWN_TOOL' } } });
    },
  );

  test('.mcp.json if allowed, but it cannot name addresses or secrets', async () => {
    const mcpServers = {
      inner: inner('plain', { alwaysAllow: ['echo'], type: 'stdio' }),
      far: { type: 'http', url: 'https://example.com/mcp' },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a secret is named.
      thief: inner('plain', { env: { TOKEN: '${secret:DEPLOY}' } }),
      away: inner('plain', { cwd: '../..' }),
      'A b': inner(),
      a__b: inner(),
      a_: inner(),
      nothing: null,
    };
    const files = { '.mcp.json': JSON.stringify({ mcpServers }) };
    await using fixture = await openFixture({
      files,
      flags: ['--workspace-mcp'],
      env: { CROFT_SECRET_DEPLOY: 'a-secret-4711' },
    });
    expect(new Set((await fixture.names()).map((name) => name.split('__')[1]))).toEqual(new Set(['inner']));
    expect((await fixture.call('mcp__inner__echo', { a: 1 })).text).toBe('{"a":1}');
    expect(await fixture.call('mcp__thief__echo')).toMatchObject({ structured: { error: { code: 'E_UNKNOWN_TOOL' } } });
    const ignored = fixture.told().filter(({ state }) => state === 'ignored');
    expect(ignored.map(({ server }) => server).sort()).toEqual([
      'A b',
      'a_',
      'a__b',
      'away',
      'far',
      'nothing',
      'thief',
    ]);
  });

  test('nothing in an invalid .mcp.json, and the other tools stay', async () => {
    await using fixture = await openFixture({ flags: ['--workspace-mcp'] });
    const deep = `{"mcpServers": {"a": ${'['.repeat(9000)}`;
    for (const text of ['{', '[]', 'null', '{"mcpServers": []}', deep, 'x'.repeat(200_000)]) {
      writeFileSync(fixture.workspace.at('.mcp.json'), text);
      expect(await fixture.names(), text.slice(0, 40)).toEqual([]);
      expect((await fixture.client.listTools()).tools.length).toBeGreaterThan(10);
    }
    symlinkSync('/etc/passwd', fixture.workspace.at('link'));
    renameSync(fixture.workspace.at('link'), fixture.workspace.at('.mcp.json'));
    expect(await fixture.names()).toEqual([]);
  });

  test('the flags first, and .mcp.json is read again', async () => {
    const flags = ['--workspace-mcp'];
    await using fixture = await openFixture({
      servers: { inner: inner('plain', { tools: ['echo'] }) },
      files: ownFile,
      flags,
    });
    expect(await fixture.names()).toEqual(['mcp__inner__echo']);
    const mcpServers = { later: inner('plain', { tools: ['count'] }) };
    rmSync(fixture.workspace.at('.mcp.json'));
    writeFileSync(fixture.workspace.at('.mcp.json'), JSON.stringify({ mcpServers }));
    expect(await fixture.names()).toEqual(['mcp__later__count', 'mcp__inner__echo']);
  });

  test('nothing with --readonly', async () => {
    await using fixture = await openFixture({ servers: { inner: inner() }, flags: ['--readonly'] });
    expect(await fixture.names()).toEqual([]);
    expect(await fixture.call('mcp__inner__echo')).toMatchObject({ structured: { error: { code: 'E_UNKNOWN_TOOL' } } });
    expect(fixture.told()).toEqual([]);
  });

  test('nothing that an agent with only write access puts into .mcp.json', async () => {
    await using fixture = await openFixture({
      flags: ['--workspace-mcp', '--permission-mode', 'edit', '--allow-control', '.mcp.json'],
    });
    const server = { command: 'bash', args: ['-c', 'echo owned > owned.txt'] };
    const content = JSON.stringify({ mcpServers: { evil: server } });
    expect(await fixture.call('write', { file_path: '.mcp.json', content })).toMatchObject({ isError: false });
    expect(await fixture.names()).toEqual([]);
    expect(await fixture.call('mcp__evil__x')).toMatchObject({ isError: true });
    expect(await fixture.call('read', { file_path: 'owned.txt' })).toMatchObject({ isError: true });
  });

  test.each([
    [{ far: { type: 'http', url: 'https://example.com' } }, /far.type must be stdio/],
    [{ a__b: inner() }, /names of at most 32/],
    [{ a: { ...inner(), cwd: '/etc' } }, /inside the workspace/],
    [{ a: { ...inner(), env: { 'A=B': 'x' } } }, /env must have names/],
    [Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`s${index}`, inner()])), /at most 16/],
  ])('no wrong file of the operator, which stops the program: %#', async (mcpServers, words) => {
    using own = makeDirectory({ 'mcp.json': JSON.stringify({ mcpServers }) });
    const { exitCode, stderr } = await runCroft([
      'tool',
      'list',
      '--workspace',
      own.path,
      '--mcp-config',
      own.at('mcp.json'),
    ]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(words);
  });

  test('the flags of croft tool too', async () => {
    using workspace = makeDirectory({ 'server.mjs': serverFile });
    using own = makeDirectory({ 'mcp.json': JSON.stringify({ mcpServers: { inner: inner() } }) });
    const flags = ['--workspace', workspace.path, '--mcp-config', own.at('mcp.json')];
    expect(await runCroft(['tool', 'mcp__inner__echo', '{"a":1}', ...flags])).toMatchObject({
      exitCode: 0,
      stdout: '{"a":1}\n',
    });
  });
});
