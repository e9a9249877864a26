import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { connectStdio, croft, type Era, eras, makeDirectory, runCroft, structuredOf } from '../support/harness.ts';

vi.setConfig({ testTimeout: 120_000 });

type Tree = Record<string, string>;
const own = () => {
  const directory = makeDirectory();
  onTestFinished(() => directory[Symbol.dispose]());
  return directory;
};

function makeWorkspace(tree: Tree) {
  const workspace = own();
  for (const [name, text] of Object.entries(tree)) {
    mkdirSync(dirname(workspace.at(name)), { recursive: true });
    writeFileSync(workspace.at(name), text);
  }
  return workspace;
}

/** The real program over stdio, with nobody to ask. */
async function open(tree: Tree, flags: readonly string[] = []) {
  const [workspace, data] = [makeWorkspace(tree), own()];
  const session = await connectStdio(['--workspace', workspace.path, ...flags], { env: { CROFT_DATA: data.path } });
  onTestFinished(() => session[Symbol.asyncDispose]());
  const write = (path: string, content = 'evil') => session.call('write', { file_path: path, content });
  return { workspace, session, write };
}

/** The same with a person who answers `decision`. */
async function openWithPerson(era: Era, decision: 'approve' | 'deny', flags: readonly string[] = []) {
  const [workspace, data] = [makeWorkspace({}), own()];
  const asked: string[] = [];
  const client = new Client(
    { name: 'croft-test', version: '1.0.0' },
    {
      capabilities: { elicitation: {} },
      ...(era === '2026' && { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    },
  );
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: { decision } } as never;
  });
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', CROFT_DATA: data.path };
  const args = ['mcp', '--workspace', workspace.path, ...flags];
  await client.connect(new StdioClientTransport({ command: croft, args, stderr: 'ignore', env }));
  onTestFinished(() => client.close());
  const call = async (name: string, input: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: input });
    return {
      isError: result.isError === true,
      error: structuredOf(result)?.error as { code: string } | undefined,
    };
  };
  return { workspace, asked, call };
}

const codeOf = ({ structured }: { structured: { error?: { code?: string } } }) => structured.error?.code;
const obeyed = [
  '.claude/settings.json',
  '.vscode/tasks.json',
  '.mcp.json',
  '.devcontainer/devcontainer.json',
  'a.code-workspace',
];

describe('a control file that does not exist yet', () => {
  test.each(['edit', 'bypass'])('cannot be created by tools in the mode %s if nobody can be asked', async (mode) => {
    const flags = mode === 'bypass' ? [] : ['--permission-mode', mode];
    const { workspace, session, write } = await open({ mine: 'evil', 'dir/tasks.json': 'evil' }, flags);
    if (mode === 'bypass') {
      for (const path of obeyed) {
        const refused = await write(path);
        expect(codeOf(refused), path).toBe('E_CONTROL_FILE');
        expect(refused.text).toContain('--allow-control');
      }
    }
    for (const path of obeyed)
      expect(codeOf(await session.call('move', { from: 'mine', to: path })), path).toBe('E_CONTROL_FILE');
    expect(codeOf(await session.call('move', { from: 'dir', to: '.vscode' }))).toBe('E_CONTROL_FILE');
    expect(obeyed.filter((path) => existsSync(workspace.at(path)))).toEqual([]);
  });

  test('can be created deep below, where no program obeys it', async () => {
    const { workspace, write } = await open({ 'repo/.git/HEAD': 'ref: refs/heads/main\n' });
    expect((await write('pkg/.vscode/tasks.json')).isError).toBe(false);
    expect((await write('.envrc')).isError).toBe(false);
    expect((await write('.gitmodules')).isError).toBe(false);
    expect(codeOf(await write('repo/.vscode/tasks.json'))).toBe('E_CONTROL_FILE');
    expect(existsSync(workspace.at('repo/.vscode'))).toBe(false);
  });

  test('can be allowed by its name, without others', async () => {
    const { workspace, session, write } = await open({}, ['--allow-control', '.vscode']);
    expect((await write('.vscode/tasks.json', 'mine')).isError).toBe(false);
    expect(codeOf(await write('.mcp.json'))).toBe('E_CONTROL_FILE');
    const [checkpoint] = (await session.call('undo_list')).structured.checkpoints;
    expect((await session.call('undo', { checkpoint: checkpoint.checkpoint })).isError).toBe(false);
    expect(existsSync(workspace.at('.vscode/tasks.json'))).toBe(false);
  });

  test('cannot be allowed by an unknown name', async () => {
    const { exitCode, stderr } = await runCroft(['mcp', '--allow-control', '.vsocde']);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('--allow-control takes one of .vscode');
  });
});

describe.each(eras)('with a person at a client of %s', (era) => {
  test.each([[], ['--permission-mode', 'edit'], ['--permission-mode', 'ask']])(
    'the person sees the new content of a control file, and each yes holds once (%s %s)',
    async (...flags) => {
      const { workspace, asked, call } = await openWithPerson(era, 'approve', flags);
      const input = { file_path: '.vscode/tasks.json', content: '{"run":"this"}' };
      expect(await call('write', input)).toMatchObject({ isError: false });
      expect(asked).toHaveLength(1);
      expect(asked[0]).toContain('CONTROL FILE .vscode/tasks.json');
      expect(asked[0]).toContain('{"run":"this"}');
      expect(readFileSync(workspace.at('.vscode/tasks.json'), 'utf8')).toBe('{"run":"this"}');
      expect(await call('write', input)).toMatchObject({ isError: false });
      expect(asked).toHaveLength(2);
      const edit = { file_path: '.vscode/tasks.json', old_string: 'this', new_string: 'that' };
      expect(await call('edit', edit)).toMatchObject({ isError: false });
      expect(asked[2]).toContain('+{"run":"that"}');
      expect(await call('delete', { file_path: '.vscode', recursive: true })).toMatchObject({ isError: false });
      expect(asked).toHaveLength(4);
      expect(existsSync(workspace.at('.vscode'))).toBe(false);
    },
  );

  test('a no counts, and nobody is asked about ordinary files or about files that nobody may allow', async () => {
    const { workspace, asked, call } = await openWithPerson(era, 'deny');
    expect(await call('write', { file_path: 'a', content: '' })).toMatchObject({ isError: false });
    expect((await call('write', { file_path: 'x/.git/config', content: '' })).error?.code).toBe('E_CONTROL_FILE');
    expect(asked).toEqual([]);
    expect((await call('write', { file_path: '.mcp.json', content: '' })).error?.code).toBe('E_APPROVAL_DENIED');
    expect(existsSync(workspace.at('.mcp.json'))).toBe(false);
  });
});

describe('git outside the sandbox', () => {
  const canary = (fixture: ReturnType<typeof own>) => ({
    command: `touch ${fixture.at('ran')}`,
    hasRun: () => existsSync(fixture.at('ran')),
  });
  const git = (directory: string, ...args: string[]) =>
    spawnSync('git', ['-C', directory, ...args], { encoding: 'utf8' });

  test.each(['lib', 'lib/.git', 'bare.git', '.'])('obeys no repository made by writes: %s', async (at) => {
    const { workspace, session, write } = await open({ 'top.txt': 'x' });
    const { command, hasRun } = canary(own());
    git(workspace.path, 'init', '-q');
    const config = `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ${command}\n\tbare = false\n\tworktree = .\n`;
    const pieces: [string, string][] = [
      ['config', config],
      ['hooks/pre-commit', `#!/bin/sh\n${command}\n`],
      ['objects/x', ''],
      ['refs/heads/x', ''],
      ['HEAD', 'ref: refs/heads/main\n'],
      ['commondir', '.\n'],
    ];
    for (const [name, content] of [...pieces, ...pieces.toReversed()]) await write(`${at}/${name}`, content);
    await write('spare', 'ref: refs/heads/main\n');
    await session.call('move', { from: 'spare', to: `${at}/HEAD` });
    for (const directory of ['.', 'lib', at]) {
      for (const args of [['status'], ['diff'], ['add', '-A'], ['commit', '-qm', 'x'], ['log', '-p']]) {
        git(workspace.at(directory), '-c', 'user.name=n', '-c', 'user.email=e', ...args);
        git(workspace.at(directory), '--git-dir=.', ...args);
      }
    }
    expect(hasRun()).toBe(false);
  });

  test('runs no hook and reads no settings that were written where its settings point', async () => {
    const { workspace, write } = await open({ 'shared/settings': '', 'deep/lib/x': '' });
    git(workspace.path, 'init', '-q');
    git(workspace.at('deep/lib'), 'init', '-q');
    git(workspace.path, 'config', 'core.hooksPath', 'tools/hooks');
    git(workspace.path, 'config', 'include.path', '../shared/settings');
    git(workspace.at('deep/lib'), 'config', 'core.hooksPath', '../../elsewhere');
    symlinkSync('shared/mcp.json', workspace.at('.mcp.json'));
    const paths = [
      'tools/hooks/pre-commit',
      'shared/settings',
      'elsewhere/pre-push',
      'shared/mcp.json',
      '.git/hooks/x',
    ];
    for (const path of paths) expect(codeOf(await write(path)), path).toBe('E_CONTROL_FILE');
    expect((await write('tools/other')).isError).toBe(false);
    // A change of the settings counts for the next call.
    git(workspace.path, 'config', 'core.hooksPath', 'now/here');
    expect(codeOf(await write('now/here/pre-commit'))).toBe('E_CONTROL_FILE');
    git(workspace.path, 'config', '--unset', 'core.hooksPath');
    expect((await write('now/here/pre-commit')).isError).toBe(false);
  });

  test('finds no repository restored by undo or a snapshot, and the answer names what was left out', async () => {
    const { workspace, session } = await open({ 'top.txt': 'x' });
    const { command, hasRun } = canary(own());
    // As somebody at this machine may have put it there, before a snapshot.
    for (const [name, text] of Object.entries({
      'bare/HEAD': 'ref: refs/heads/main\n',
      'bare/objects/x': '',
      'bare/refs/x': '',
      'bare/config': `[core]\n\tbare = true\n\tfsmonitor = ${command}\n`,
      '.vscode/tasks.json': 'old',
    })) {
      mkdirSync(dirname(workspace.at(name)), { recursive: true });
      writeFileSync(workspace.at(name), text);
    }
    expect((await session.call('snapshot_create', { name: 'one' })).isError).toBe(false);
    for (const name of ['bare', '.vscode']) spawnSync('rm', ['-rf', workspace.at(name)]);
    const { structured, text } = await session.call('snapshot_restore', { name: 'one' });
    expect(structured.refused).toEqual(expect.arrayContaining(['.vscode/tasks.json', 'bare/HEAD']));
    expect(text).toContain('left as it was bare/HEAD');
    for (const args of [['status'], ['log'], ['-C', 'bare', 'status']]) git(workspace.path, ...args);
    expect(git(workspace.at('bare'), 'rev-parse', '--git-dir').stdout).not.toBe('.\n');
    expect([hasRun(), existsSync(workspace.at('.vscode'))]).toEqual([false, false]);
  });
});
