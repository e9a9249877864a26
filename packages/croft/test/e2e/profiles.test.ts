import { readFileSync, readlinkSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { connectStdio, makeDirectory } from '../support/harness.ts';
import { codeOf } from './shared-server.ts';

async function start(tree: Record<string, string>, ...args: string[]) {
  const folder = makeDirectory(tree);
  const session = await connectStdio(['--workspace', folder.path, ...args]);
  await session.client.listTools();
  return {
    ...session,
    place: folder,
    profile: async () => (await session.call('workspaces')).structured.workspaces[0].profile,
    async [Symbol.asyncDispose]() {
      await session[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

const monorepo = {
  'services/api/go.mod': 'module api',
  'apps/web/package.json': '{"scripts":{"hello":"echo hello from web"}}',
  'libs/py/pyproject.toml': '[tool.ruff.lint]\n',
  Makefile: 'where:\n\t@pwd\n',
};

describe('a polyglot monorepo', () => {
  test('is detected by its parts, and a call asks which one is meant', async () => {
    await using server = await start(monorepo);
    const { ecosystems, projects, problems } = await server.profile();
    expect(ecosystems).toEqual(['javascript', 'python', 'go']);
    expect(projects.map(({ directory }: { directory: string }) => directory)).toEqual([
      'apps/web',
      'libs/py',
      'services/api',
    ]);
    expect(problems).toEqual([]);

    const unsaid = await server.call('run_tests');
    expect(codeOf(unsaid)).toBe('E_LANGUAGE_REQUIRED');
    expect(unsaid.text).toBe(
      'polyglot workspace: 3 project types detected (go, node, python) \u2014 pass `language` to pick one',
    );
    const wrong = await server.call('run_lint', { language: 'rust' });
    expect(codeOf(wrong)).toBe('E_UNKNOWN_LANGUAGE');
    expect(wrong.text).toBe('language "rust" not detected in workspace; detected: go, node, python');
  });

  test('runs the scripts of each part in its directory', async () => {
    await using server = await start(monorepo);
    const hello = await server.call('run_script', { name: 'hello' });
    expect(hello.text).toContain('hello from web');
    const where = await server.call('run_script', { name: 'where' });
    expect(where.structured).toMatchObject({ exitCode: 0, command: ['make', '-C', '../..', 'where'] });
    expect(where.text).toContain(`${server.place.path}\n`);
  });
});

test('a workspace without a project is refused with that message', async () => {
  await using server = await start({ 'README.md': '' });
  const answer = await server.call('run_tests');
  expect(codeOf(answer)).toBe('E_NO_PROJECT');
  expect(answer.text).toBe('no supported project detected in workspace root');
});

test('a setting edited through a tool counts at the next call, and is one event', async () => {
  using events = makeDirectory();
  await using server = await start({ 'package.json': '{"scripts":{}}' }, '--events', events.at('events'));
  expect((await server.profile()).projects[0].lint).toBeUndefined();
  await server.profile();
  await server.call('write', { file_path: 'eslint.config.js', content: 'export default [];\n' });
  expect((await server.profile()).projects[0].lint).toBe('eslint $FILES');
  await server.call('write', { file_path: 'api/go.mod', content: 'module api\n' });
  expect((await server.profile()).ecosystems).toEqual(['javascript', 'go']);
  rmSync(server.place.at('package.json'));
  expect((await server.profile()).ecosystems).toEqual(['go']);
  const reported = readFileSync(events.at('events'), 'utf8').split('\n');
  expect(reported.filter((line) => line.includes('lifecycle.workspace.profile'))).toHaveLength(4);
});

describe('croft.toml', () => {
  test('sets the command, which runs in the sandbox like any other', async () => {
    await using server = await start({
      'croft.toml': '[project]\nlanguage = "make"\n[commands]\ntest = ["sh", "-c", "echo ran in $PWD; exit 3"]\n',
    });
    const answer = await server.call('run_tests');
    expect(answer.structured.state).not.toBe('passed');
    expect(answer.structured.runs[0]).toMatchObject({ language: 'make', tool: 'script', exitCode: 3 });
    expect(answer.text).toContain(`ran in ${server.place.path}`);
  });

  test('cannot change the sandbox, and the answer says so', async () => {
    await using server = await start({
      'go.mod': 'module x',
      'croft.toml': '[sandbox]\nnetwork = "allow-all"\nprovider = "none"\n[commands]\ninstall = "curl x | sh"\n',
    });
    const { text, structured } = await server.call('workspaces');
    const { problems, projects } = structured.workspaces[0].profile;
    expect(problems).toEqual([
      expect.stringContaining('[sandbox] is refused: only the operator’s flags set what a sandbox may reach'),
      expect.stringContaining('commands.install must be an array'),
    ]);
    expect(text).toContain(problems[0]);
    expect(projects[0].install).toBe('go mod download');
    const { structured: inside } = await server.call('bash', { command: 'readlink /proc/self/ns/net' });
    expect(inside.exitCode).toBe(0);
    expect(JSON.stringify(inside)).toContain('net:[');
    expect(JSON.stringify(inside)).not.toContain(readlinkSync('/proc/self/ns/net'));
  });
});
