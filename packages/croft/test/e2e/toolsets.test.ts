import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toolsets } from '../../src/core/toolsets/toolsets.ts';
import * as everyTool from '../../src/tools/index.ts';
import {
  connectHttp,
  connectStdio,
  type McpSession,
  makeDirectory,
  runCroft,
  startServer,
} from '../support/harness.ts';
import { codeOf } from './shared-server.ts';

const maxTools = 30;
const maxListBytes = 30_000;

const registry = Object.values(everyTool).filter(({ isHarness }) => !isHarness);
const unlisted = registry.filter(({ isEveryday }) => !isEveryday);
const directory = makeDirectory({ 'a/a.txt': 'one\n', 'b/b.txt': '' });
const spec = `a=${directory.at('a')},b=${directory.at('b')}`;
afterAll(() => directory[Symbol.dispose]());

const namesOf = async ({ client }: McpSession) => (await client.listTools()).tools.map(({ name }) => name);

describe.each([
  ['stdio', '2025'],
  ['HTTP', '2026'],
] as const)('without flags, a client over %s of %s', (way, era) => {
  let session: McpSession;
  let server: Awaited<ReturnType<typeof startServer>> | undefined;
  const events = directory.at(`events-${era}`);
  beforeAll(async () => {
    const flags = ['--workspaces', spec, '--events', events];
    server = way === 'HTTP' ? await startServer(flags) : undefined;
    session = await (server ? connectHttp(server, { era }) : connectStdio(flags, { era }));
  });
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  test('lists the everyday tools and `tools`, at most 30 of them, in less than 30 kB', async () => {
    const everyday = registry.filter(({ isEveryday }) => isEveryday).map(({ name }) => name);
    const { tools } = await session.client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual([...everyday, 'tools'].toSorted());
    // An agent with a memory has one more.
    expect(tools.length).toBeLessThan(maxTools);
    expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThan(maxListBytes);
  });

  test('has the tools that an agent needs every day', async () => {
    const needed = [
      'read',
      'write',
      'edit',
      'glob',
      'grep',
      'list',
      'bash',
      'bash_output',
      'run_tests',
      'undo',
      'workspaces',
    ];
    expect(await namesOf(session)).toEqual(expect.arrayContaining(needed));
  });

  test('finds exactly the other tools through `tools`, with their arguments', async () => {
    const { structured, text } = await session.call('tools');
    expect(structured.tools.map(({ name }: { name: string }) => name).toSorted()).toEqual(
      unlisted.map(({ name }) => name).toSorted(),
    );
    for (const { name, title } of unlisted) expect(text).toMatch(new RegExp(`^  ${name}\\(.*\\)  ${title}$`, 'm'));
    for (const { name } of unlisted) {
      const one = await session.call('tools', { name });
      expect(one.structured.tool, name).toMatchObject({
        name,
        inputSchema: { type: 'object', additionalProperties: false },
      });
      for (const argument of Object.keys(one.structured.tool.inputSchema.properties))
        expect(one.text).toContain(argument);
    }
    expect((await session.call('tools', { name: 'snapshot_create' })).text).toMatch(/^ {2}name: string, required\./m);
  });

  test('calls a tool by its name or through `tools`, which is the same call', async () => {
    const args = { workspace: 'a', cmd: 'sh', args: ['-c', 'echo $((6 * 7)); exit 3'] };
    const same = { exitCode: 3, stdout: '42\n' };
    expect((await session.call('run_command', args)).structured).toMatchObject(same);
    const through = [args, JSON.stringify(args)].map((given) => ({ name: 'run_command', arguments: given }));
    for (const call of through) expect((await session.call('tools', call)).structured).toMatchObject(same);
    const called = readFileSync(events, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const named = called.filter(({ event }) => event === 'lifecycle.tool.call').slice(-3);
    expect(named.map(({ fields }) => [fields.tool, fields.workspace])).toEqual(Array(3).fill(['run_command', 'a']));
  });

  test('gets the same refusal from `tools` as from the named tool', async () => {
    const wrong = { name: 'run_command', arguments: { workspace: 'c', cmd: 'true' } };
    expect(codeOf(await session.call('tools', wrong))).toBe('E_UNKNOWN_WORKSPACE');
    const odd = await session.call('tools', { name: 'snapshot_create', arguments: { workspace: 'a', nmae: 'x' } });
    expect(odd.text).toContain('snapshot_create has no argument "nmae"');
  });

  test.each([
    ['a listed tool', { name: 'bash', arguments: { workspace: 'a', command: 'touch escaped' } }, 'E_INVALID_INPUT'],
    [
      'a listed tool by its other name',
      { name: 'Bash', arguments: { workspace: 'a', command: 'touch escaped' } },
      'E_INVALID_INPUT',
    ],
    ['itself', { name: 'tools', arguments: { name: 'run_command', arguments: {} } }, 'E_UNKNOWN_TOOL'],
    ['a tool of the harness', { name: 'memory_save', arguments: { workspace: 'a', content: 'x' } }, 'E_UNKNOWN_TOOL'],
    ['no tool', { name: 'run_comand', arguments: {} }, 'E_UNKNOWN_TOOL'],
    ['a name of JavaScript', { name: '__proto__', arguments: {} }, 'E_UNKNOWN_TOOL'],
    ['nothing', { arguments: { workspace: 'a', cmd: 'touch', args: ['escaped'] } }, 'E_INVALID_INPUT'],
    [
      'with more than it takes',
      { name: 'run_command', workspace: 'a', arguments: { cmd: 'touch', args: ['escaped'] } },
      'E_INVALID_INPUT',
    ],
    ['with a list', { name: 'run_command', arguments: ['touch', 'escaped'] }, 'E_INVALID_INPUT'],
    ['with text', { name: 'run_command', arguments: 'touch escaped' }, 'E_INVALID_INPUT'],
  ])('does not call %s through `tools`', async (_, args, code) => {
    expect(codeOf(await session.call('tools', args))).toBe(code);
    expect(existsSync(directory.at('a/escaped'))).toBe(false);
  });

  test('sees hints on `tools` that cover every tool behind it', async () => {
    const { tools } = await session.client.listTools();
    expect(tools.find(({ name }) => name === 'tools')?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      openWorldHint: true,
    });
  });
});

test('with --readonly, `tools` has only tools that read, and no name calls another', async () => {
  await using session = await connectStdio(['--workspace', directory.at('a'), '--readonly']);
  const readers = unlisted.filter(({ access }) => access === 'read').map(({ name }) => name);
  const { tools } = await session.client.listTools();
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
  const found = (await session.call('tools')).structured.tools.map(({ name }: { name: string }) => name);
  expect(found.toSorted()).toEqual(readers.toSorted());
  const before = readdirSync(directory.at('a'));
  for (const { name, aliases = [] } of registry.filter(({ access }) => access !== 'read'))
    for (const each of [name, ...aliases])
      for (const given of [{}, { arguments: { name: 'x', cmd: 'touch', args: ['escaped'] } }])
        expect(codeOf(await session.call('tools', { name: each, ...given })), each).toBe('E_UNKNOWN_TOOL');
  expect(readdirSync(directory.at('a'))).toEqual(before);
});

describe('--tools', () => {
  const open = (list: string, ...more: string[]) =>
    connectStdio(['--workspace', directory.at('a'), '--tools', list, ...more]);
  const always = ['cd', 'next_page', 'workspaces'];

  test('names the tools that exist: no other is listed or can be called, by any name', async () => {
    await using session = await open('search, run_tests');
    expect((await namesOf(session)).toSorted()).toEqual([...always, 'glob', 'grep', 'run_tests'].toSorted());
    const gone = registry.filter(
      ({ name, toolset }) => !['search', 'session'].includes(toolset) && name !== 'run_tests',
    );
    for (const name of [...gone.flatMap(({ name, aliases = [] }) => [name, ...aliases]), 'tools'])
      expect(codeOf(await session.call(name, { name: 'bash', arguments: { command: 'touch escaped' } })), name).toBe(
        'E_UNKNOWN_TOOL',
      );
    expect(existsSync(directory.at('a/escaped'))).toBe(false);
    expect((await session.call('glob', { pattern: '*.txt' })).structured.paths).toEqual(['a.txt']);
  });

  test('with default lists more beside the everyday tools, and with all every tool', async () => {
    await using some = await open('default,forks');
    const names = await namesOf(some);
    expect(names).toEqual(expect.arrayContaining(['read', 'workspace_fork', 'workspace_merge', 'tools']));
    expect(names).not.toContain('snapshot_create');
    expect((await some.call('tools', { name: 'snapshot_list', arguments: {} })).isError).toBe(false);
    await using all = await open('all');
    expect((await namesOf(all)).toSorted()).toEqual(registry.map(({ name }) => name).toSorted());
  });

  test('never adds a tool that --readonly removes', async () => {
    await using session = await open('files,commands', '--readonly');
    expect((await namesOf(session)).toSorted()).toEqual(
      [...always, 'list', 'read', 'secret', 'secrets_available'].toSorted(),
    );
    expect(codeOf(await session.call('bash', { command: 'true' }))).toBe('E_UNKNOWN_TOOL');
  });

  test('starts no MCP server unless it names mcp', async () => {
    using own = makeDirectory({
      'mcp.json': JSON.stringify({ mcpServers: { one: { command: 'touch', args: ['started'] } } }),
    });
    await using without = await open('files', '--mcp-config', own.at('mcp.json'));
    expect((await namesOf(without)).filter((name) => name.startsWith('mcp__'))).toEqual([]);
    expect(codeOf(await without.call('mcp__one__any'))).toBe('E_UNKNOWN_TOOL');
    expect(existsSync(directory.at('a/started'))).toBe(false);
    await using session = await open('files,mcp', '--mcp-config', own.at('mcp.json'));
    await namesOf(session);
    expect(existsSync(directory.at('a/started'))).toBe(true);
  });

  test.each([
    ['reed', 'there is no tool or toolset "reed"; the nearest is read.'],
    ['', '--tools takes names, such as files,search, not ""'],
  ])('%j stops the program, with the reason', async (list, reason) => {
    const { exitCode, stderr } = await runCroft(['tool', '--workspace', directory.at('a'), '--tools', list]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(reason);
  });
});

test('every tool is in a toolset, and `croft tool` lists and calls all of them', async () => {
  for (const { name, toolset } of Object.values(everyTool)) expect(Object.keys(toolsets), name).toContain(toolset);
  const { stdout } = await runCroft(['tool', '--workspace', directory.at('a'), '--json']);
  const { tools } = JSON.parse(stdout);
  expect(tools.map(({ name }: { name: string }) => name).toSorted()).toEqual(
    [...registry.map(({ name }) => name), 'tools'].toSorted(),
  );
  const run = await runCroft(['tool', 'snapshot_list', '--workspace', directory.at('a')]);
  expect(run.exitCode, run.stderr).toBe(0);
});
