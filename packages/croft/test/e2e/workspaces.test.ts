import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LifecycleEvent } from '@croft/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectStdio, type McpSession, makeDirectory, runCroft } from '../support/harness.ts';
import { codeOf } from './shared-server.ts';

const outer = makeDirectory({
  'p/go.mod': 'module p\n',
  'p/pyproject.toml': '',
  'p/foo.go': 'package primary\n',
  'p/only.txt': 'in primary\n',
  'e/package.json': '{}',
  'e/foo.go': 'package extension\n',
});
const spec = `primary=${outer.at('p')},extension=${outer.at('e')}`;
let session: McpSession;
beforeAll(async () => {
  session = await connectStdio(['--workspaces', spec, '--tools', 'all']);
  await session.client.listTools();
});
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  outer[Symbol.dispose]();
});

const required =
  'multi-workspace sandbox: 2 workspaces configured (extension, primary) \u2014 pass `workspace` to pick one';

const propertiesOf = ({ inputSchema }: { inputSchema: { properties?: object | undefined } }) =>
  Object.keys(inputSchema.properties ?? {});

/** Tools that are about no workspace in particular. A new one without `workspace` has to be put here on purpose. */
const aboutNone = ['next_page', 'shells', 'workspaces'];
/** These tools take an id instead of a workspace: shells.test.ts. */
const byId = ['bash_input', 'bash_output', 'kill_shell', 'watch_process_events'];

describe('the workspace of a call', () => {
  test.each([
    [{}],
    [{ workspace: '' }],
    [{ workspace: ' \t\n' }],
    [{ workspace: 3 }],
    [{ workspace: null }],
    [{ workspace: ['primary'] }],
    [{ workspace: { name: 'primary' } }],
    [{ workspace: true }],
  ])('is required (%j)', async (args) => {
    expect(await session.call('read', { file_path: 'foo.go', ...args })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: required }],
      structured: { error: { code: 'E_WORKSPACE_REQUIRED', message: required } },
    });
  });

  test.each([
    ['frontend', '"frontend"'],
    [' frontend\n', '"frontend"'],
    ['Primary', '"Primary"'],
    ['PRIMARY', '"PRIMARY"'],
    ['primary extension', '"primary extension"'],
    ['a"b', '"a\\"b"'],
    ['tab\there', '"tab\\there"'],
    ['back\\slash', '"back\\\\slash"'],
    ['line\nbreak\r\x07\x00', '"line\\nbreak\\r\\a\\x00"'],
    ['naïve 日本 😀', '"naïve 日本 😀"'],
    ['no\u00a0break\u200b', '"no\\u00a0break\\u200b"'],
    ['half\ud800', '"half\\ufffd"'],
    ['__proto__', '"__proto__"'],
  ])('%j is unknown', async (workspace, quoted) => {
    const text = `unknown workspace ${quoted}; configured: extension, primary`;
    expect(await session.call('read', { file_path: 'foo.go', workspace })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text }],
      structured: { error: { code: 'E_UNKNOWN_WORKSPACE', message: text } },
    });
  });

  test.each(['primary', ' primary', 'primary\n', '\tprimary '])('%j is the first', async (workspace) => {
    expect((await session.call('read', { file_path: 'foo.go', workspace })).text).toBe('1\tpackage primary\n');
  });

  test('is checked before anything else, for every tool', async () => {
    const { tools } = await session.client.listTools();
    for (const { name } of tools.filter((tool) => propertiesOf(tool).includes('workspace'))) {
      if (!byId.includes(name)) expect((await session.call(name, {})).text, name).toBe(required);
      expect((await session.call(name, { file_path: 5, pattern: '[', workspace: 'x' })).text, name).toBe(
        'unknown workspace "x"; configured: extension, primary',
      );
    }
  });

  test('is the boundary: no path leads from one to the other', async () => {
    const paths = ['../e/foo.go', '../extension/foo.go', outer.at('e/foo.go'), './../e/foo.go', 'x/../../e/foo.go'];
    for (const file_path of paths) {
      const answer = await session.call('read', { workspace: 'primary', file_path });
      expect(codeOf(answer)).toBe('E_SANDBOX_VIOLATION');
      expect(answer.text).toContain('path is outside workspace root');
    }
    const move = await session.call('move', { workspace: 'primary', from: 'foo.go', to: outer.at('e/stolen.go') });
    expect(codeOf(move)).toBe('E_SANDBOX_VIOLATION');
    expect(existsSync(outer.at('e/stolen.go'))).toBe(false);
  });

  test('has a read tracker of its own', async () => {
    const change = { file_path: 'foo.go', old_string: 'package', new_string: 'pkg' };
    for (const name of ['p', 'e']) writeFileSync(outer.at(`${name}/foo.go`), 'package same\n');
    await session.call('read', { workspace: 'primary', file_path: 'foo.go' });
    expect((await session.call('edit', { workspace: 'extension', ...change })).text).toBe(
      'refusing to edit foo.go: Read it first',
    );
    const overwrite = { workspace: 'extension', file_path: 'foo.go', content: 'mine' };
    expect((await session.call('write', overwrite)).text).toBe('refusing to overwrite foo.go: Read it first');
    expect((await session.call('edit', { workspace: 'primary', ...change })).isError).toBe(false);
    expect(readFileSync(outer.at('e/foo.go'), 'utf8')).toBe('package same\n');
    expect(readFileSync(outer.at('p/foo.go'), 'utf8')).toBe('pkg same\n');
    for (const name of ['p', 'e']) writeFileSync(outer.at(`${name}/foo.go`), `package ${name}\n`);
  });
});

describe('every tool', () => {
  /** Expected answer of each tool in the second workspace, whose files differ. */
  const effects: Record<string, { args: Record<string, unknown>; shows: string; changes?: true; needsRead?: true }> = {
    read: { args: { file_path: 'tool/mark.txt' }, shows: '1\tsecond\n' },
    list: { args: { path: 'tool' }, shows: 'only-second' },
    glob: { args: { pattern: 'only-second' }, shows: 'tool/only-second' },
    grep: { args: { pattern: 'second' }, shows: 'tool/mark.txt:1:second' },
    write: { args: { file_path: 'tool/new.txt', content: 'x' }, shows: 'wrote 1 bytes to tool/new.txt', changes: true },
    edit: {
      args: { file_path: 'tool/mark.txt', old_string: 'second', new_string: '2nd' },
      shows: 'replaced 1 occurrence(s) in tool/mark.txt',
      changes: true,
      needsRead: true,
    },
    move: {
      args: { from: 'tool/mark.txt', to: 'tool/b.txt' },
      shows: 'moved tool/mark.txt to tool/b.txt',
      changes: true,
    },
    delete: { args: { file_path: 'tool/mark.txt' }, shows: 'deleted tool/mark.txt', changes: true },
    bash: { args: { command: 'cat tool/mark.txt; touch tool/made' }, shows: 'second\n', changes: true },
    run_command: { args: { cmd: 'cat', args: ['tool/mark.txt'] }, shows: 'second\n' },
    watch_process: { args: { command: 'cat tool/mark.txt' }, shows: 'started in background: cat tool/mark.txt' },
    outline: { args: { path: 'tool' }, shows: 'code.go: T.second' },
    read_symbol: { args: { symbol: 'T.second' }, shows: 'func (t T) second() {}' },
    edit_function_body: {
      args: { file_path: 'tool/code.go', function_name: 'second', new_body: 'x()' },
      shows: 'edit_function_body: ',
      changes: true,
      needsRead: true,
    },
    change_function_signature: {
      args: { file_path: 'tool/code.go', function_name: 'second', new_signature: 'func (t *T) second()' },
      shows: 'change_function_signature: ',
      changes: true,
      needsRead: true,
    },
    insert_after_method: {
      args: { file_path: 'tool/code.go', receiver_type: 'T', method_name: 'second', new_method: 'func x() {}' },
      shows: 'insert_after_method: ',
      changes: true,
      needsRead: true,
    },
    replace_symbol: {
      args: { file_path: 'tool/code.go', symbol: 'second', new_text: 'func (t T) second() { x() }' },
      shows: 'replace_symbol: ',
      changes: true,
      needsRead: true,
    },
    insert_before_symbol: {
      args: { file_path: 'tool/code.go', symbol: 'second', text: 'func x() {}' },
      shows: 'insert_before_symbol: ',
      changes: true,
      needsRead: true,
    },
    insert_after_symbol: {
      args: { file_path: 'tool/code.go', symbol: 'second', text: 'func x() {}' },
      shows: 'insert_after_symbol: ',
      changes: true,
      needsRead: true,
    },
    delete_symbol: {
      args: { file_path: 'tool/code.go', symbol: 'second' },
      shows: 'delete_symbol: ',
      changes: true,
      needsRead: true,
    },
    ast_search: {
      args: {
        rule: { kind: 'method_declaration', has: { kind: 'field_identifier', regex: '^second$' } },
        language: 'go',
      },
      shows: 'tool/code.go:3:1 func (t T) second() {}',
    },
    ast_replace: {
      args: { pattern: 'package a', rewrite: 'package b', language: 'go', path: 'tool', apply: true },
      shows: 'The rewrite changed 1 file(s)',
      changes: true,
    },
    repo_map: { args: { tokens: 1000 }, shows: 'tool/code.go' },
    search_code: { args: { query: 'second', path: 'tool' }, shows: 'tool/code.go:3 method T.second' },
    find_definition: { args: { symbol: 'second' }, shows: 'tool/code.go:3' },
    find_references: { args: { symbol: 'second' }, shows: 'tool/code.go' },
    cd: { args: { path: '.' }, shows: 'now in' },
    secrets_available: { args: {}, shows: '' },
    last_test_failures: { args: {}, shows: 'no run_tests call yet' },
    tests_covering: { args: { file: 'tool/mark.txt' }, shows: 'no coverage data yet' },
    snapshot_create: { args: { name: 's' }, shows: 'snapshot s created: ' },
    snapshot_list: { args: {}, shows: 's\t' },
    snapshot_diff: { args: { name: 's' }, shows: 'no differences' },
    snapshot_restore: { args: { name: 's' }, shows: 'restored snapshot s (no files changed)' },
    snapshot_delete: { args: { name: 's' }, shows: 'deleted snapshot s' },
    undo_list: { args: {}, shows: 'cp_' },
    render_dot: {
      args: { source: 'digraph { a }', output_path: 'tool/g.svg' },
      shows: 'bytes to tool/g.svg (svg)',
      changes: true,
    },
    render_mermaid: {
      args: { source: 'graph TD\nA --> B', output_path: 'tool/m.svg' },
      shows: 'bytes to tool/m.svg (svg)',
      changes: true,
    },
    skills: { args: {}, shows: 'no skills' },
    agents: { args: {}, shows: 'no agents' },
  };
  /** About a command, a secret or a project that must be there first; each is shown in a file of its own. */
  const aboutOthers = [
    ...[...byId, 'secret', 'skill', 'undo'],
    ...['calls', 'code_actions', 'diagnostics', 'find_implementations', 'hover', 'rename_symbol'],
    ...['run_tests', 'run_failing_tests', 'run_lint', 'run_typecheck', 'run_format', 'run_script'],
    ...['transaction_commit', 'transaction_discard', 'workspace_fork', 'workspace_merge', 'workspace_remove'],
  ];

  function resetTool(): void {
    for (const name of ['p', 'e']) rmSync(outer.at(`${name}/tool`), { recursive: true, force: true });
    for (const [name, word] of [
      ['p', 'first'],
      ['e', 'second'],
    ] as const) {
      mkdirSync(outer.at(`${name}/tool`));
      writeFileSync(outer.at(`${name}/tool/mark.txt`), `${word}\n`);
      writeFileSync(outer.at(`${name}/tool/code.go`), `package a\n\nfunc (t T) ${word}() {}\n`);
      writeFileSync(outer.at(`${name}/tool/only-${word}`), '');
    }
  }

  /** All that is in a workspace, as the disk has it. */
  function contentOf(name: string): string[] {
    const files = readdirSync(outer.at(name), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    return files.map(
      (file) => `${file.parentPath}/${file.name}: ${readFileSync(join(file.parentPath, file.name), 'utf8')}`,
    );
  }

  test('takes workspace, except those about no workspace', async () => {
    const { tools } = await session.client.listTools();
    const without = tools.filter((tool) => !propertiesOf(tool).includes('workspace')).map(({ name }) => name);
    expect(without).toEqual(aboutNone);
    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      [...Object.keys(effects), ...aboutOthers, ...aboutNone].toSorted(),
    );
  });

  test.each(Object.entries(effects))(
    '%s works in the given workspace, and leaves the other unchanged',
    async (name, { args, shows, changes = false, needsRead }) => {
      resetTool();
      const [first, second] = [contentOf('p'), contentOf('e')];
      if (needsRead) await session.call('read', { workspace: 'extension', file_path: args.file_path });
      const answer = await session.call(name, { workspace: 'extension', ...args });
      expect(answer).toMatchObject({ text: expect.stringContaining(shows), isError: false });
      expect(contentOf('p')).toEqual(first);
      if (changes) expect(contentOf('e')).not.toEqual(second);
      else expect(contentOf('e')).toEqual(second);
    },
  );
});

describe('workspace: "all"', () => {
  test.each([
    ['list', { path: '' }, ['go.mod'], ['package.json']],
    ['glob', { pattern: '*.go' }, ['foo.go'], ['foo.go']],
    ['grep', { pattern: 'package p|package e' }, ['foo.go:1:package p'], ['foo.go:1:package e']],
  ])('%s answers for each, labelled', async (name, args, primary, extension) => {
    for (const workspace of ['all', ' all\n']) {
      const { text, structured, isError } = await session.call(name, { workspace, ...args });
      expect(isError).toBe(false);
      const [, first = '', second = ''] = text.split(/^=== (?:primary|extension) ===$/m);
      expect(text.match(/^=== .* ===$/gm)).toEqual(['=== primary ===', '=== extension ===']);
      for (const part of primary) expect(first).toContain(part);
      for (const part of extension) expect(second).toContain(part);
      expect(structured.results.map((result: { workspace: string }) => result.workspace)).toEqual([
        'primary',
        'extension',
      ]);
    }
  });

  test.each([
    ['list', { path: 'only' }],
    ['glob', { pattern: '*', path: 'only' }],
    ['grep', { pattern: 'x', path: 'only' }],
  ])('%s that fails in one still answers for the others', async (name, args) => {
    mkdirSync(outer.at('p/only'), { recursive: true });
    writeFileSync(outer.at('p/only/x.txt'), 'x\n');
    const { text, structured, isError } = await session.call(name, { workspace: 'all', ...args });
    expect(isError).toBe(false);
    expect(text).toMatch(/=== primary ===\n(?:.*\n)*?.*x\.txt/);
    expect(text).toMatch(/=== extension ===\nerror: .*only/);
    expect(structured.results[0]).toMatchObject({ workspace: 'primary' });
    expect(structured.results[0].error).toBeUndefined();
    expect(structured.results[1]).toMatchObject({
      workspace: 'extension',
      error: { code: 'E_FILE_NOT_FOUND', kind: 'file_not_found' },
    });
  });

  test('fails when it fails in every workspace', async () => {
    expect(codeOf(await session.call('list', { workspace: 'all', path: 'nowhere' }))).toBe('E_FILE_NOT_FOUND');
    expect(codeOf(await session.call('glob', { workspace: 'all' }))).toBe('E_INVALID_INPUT');
  });

  test.each(['read', 'write', 'edit', 'move', 'delete'])('is unknown to %s', async (name) => {
    const args = { file_path: 'only.txt', content: 'x', old_string: 'in', new_string: 'x', from: 'only.txt', to: 'y' };
    const answer = await session.call(name, { workspace: 'all', ...args });
    expect(answer.text).toBe('unknown workspace "all"; configured: extension, primary');
    expect(readFileSync(outer.at('p/only.txt'), 'utf8')).toBe('in primary\n');
    expect(existsSync(outer.at('e/only.txt'))).toBe(false);
  });

  test.each(['there', 'gone'])(
    'an escape from one of them is reported with its name, and with the path in the other %s',
    async (other) => {
      using directory = makeDirectory({ 'a/there/x': '', 'b/x': '' });
      for (const name of ['there', 'gone']) symlinkSync('/etc', directory.at(`b/${name}`));
      const flags = ['--workspaces', `first=${directory.at('a')},second=${directory.at('b')}`];
      const input = JSON.stringify({ workspace: 'all', path: other });
      await runCroft(['tool', 'list', input, ...flags, '--events', directory.at('events')]);
      const lines = readFileSync(directory.at('events'), 'utf8').trimEnd().split('\n');
      const events = lines.map((line) => LifecycleEvent.parse(JSON.parse(line)));
      const violations = events.filter(({ event }) => event === 'lifecycle.sandbox.violation');
      const violation = { tool: 'list', workspace: 'second', code: 'E_SANDBOX_VIOLATION', path: other };
      expect(violations).toMatchObject([{ fields: violation }]);
    },
  );
});

test('the workspaces tool lists names, roots, access and ecosystems, as they are now', async () => {
  const entry = (name: string, directory: string, ecosystems: string[]) => ({
    name,
    root: outer.at(directory),
    access: 'read-write',
    profile: { ecosystems },
  });
  const before = await session.call('workspaces');
  expect(before.structured).toMatchObject({
    workspaces: [entry('primary', 'p', ['go', 'python']), entry('extension', 'e', ['javascript'])],
  });
  for (const part of ['primary', outer.at('p'), 'go', 'python', 'extension', outer.at('e'), 'javascript'])
    expect(before.text).toContain(part);
  writeFileSync(outer.at('e/Cargo.toml'), '');
  const after = await session.call('workspaces');
  expect(after.structured.workspaces[1]).toMatchObject(entry('extension', 'e', ['javascript', 'rust']));
});

test('a root listed by the workspaces tool may be used in paths', async () => {
  const { structured } = await session.call('workspaces');
  const { root } = structured.workspaces[1];
  expect((await session.call('read', { workspace: 'extension', file_path: `${root}/package.json` })).text).toBe(
    '1\t{}\n',
  );
});
