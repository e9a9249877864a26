import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { ErrorEnvelope, errorCatalog } from '@croft/protocol';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as everyTool from '../../src/tools/index.ts';
import { connectStdio, type Era, eras, type McpSession, makeDirectory } from '../harness.ts';

type Arguments = Record<string, unknown>;
type Listed = Awaited<ReturnType<McpSession['client']['listTools']>>['tools'][number];

const directory = makeDirectory({ 'a/seed.txt': '', 'b/seed.txt': '' });
const sessions = new Map<Era, McpSession>();
const listed = new Map<string, Listed>();
beforeAll(async () => {
  for (const era of eras) {
    const session = await connectStdio(['--workspaces', `a=${directory.at('a')},b=${directory.at('b')}`], { era });
    const { tools } = await session.client.listTools();
    sessions.set(era, session);
    for (const tool of tools) listed.set(tool.name, tool);
  }
});
afterAll(async () => {
  for (const session of sessions.values()) await session[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

const readers = [
  ...['cd', 'read', 'list', 'glob', 'grep', 'workspaces', 'secret', 'secrets_available'],
  ...['last_test_failures', 'tests_covering', 'snapshot_diff', 'snapshot_list', 'undo_list'],
  ...['agents', 'skill', 'skills'],
];

/** Those of the harness are for agents of accounts alone: test/agents. */
const registry = Object.fromEntries(Object.entries(everyTool).filter(([, { isHarness }]) => !isHarness));

/** For each tool, calls that succeed and calls that fail, each in a fresh tree. A new tool needs a row here. */
const samples: Record<string, { readonly succeeds: readonly Arguments[]; readonly fails: readonly Arguments[] }> = {
  workspaces: { succeeds: [{}], fails: [] },
  read: {
    succeeds: [
      { file_path: 'text.txt' },
      { file_path: 'empty' },
      { file_path: 'blob' },
      { file_path: 'pixel.gif' },
      { file_path: 'text.txt', limit: 1 },
    ],
    fails: [
      {},
      { file_path: 'absent' },
      { file_path: '..' },
      { file_path: 'text.txt', offset: 99 },
      { file_path: 'dir' },
    ],
  },
  write: {
    succeeds: [{ file_path: 'new/file.txt', content: 'x' }],
    fails: [{}, { file_path: 'unread.txt', content: 'x' }, { file_path: '../x', content: 'x' }],
  },
  edit: {
    succeeds: [
      { file_path: 'text.txt', old_string: 'one', new_string: '1' },
      { file_path: 'text.txt', edits: [{ old_string: 'one', new_string: '1' }] },
    ],
    fails: [
      {},
      { file_path: 'text.txt', old_string: 'absent', new_string: '' },
      { file_path: 'text.txt', old_string: 'o', new_string: '' },
      { file_path: 'unread.txt', old_string: 'x', new_string: 'y' },
    ],
  },
  move: {
    succeeds: [{ from: 'text.txt', to: 'moved.txt' }],
    fails: [{}, { from: 'absent', to: 'x' }, { from: 'text.txt', to: 'dir' }],
  },
  delete: {
    succeeds: [{ file_path: 'text.txt' }, { file_path: 'dir', recursive: true }],
    fails: [{}, { file_path: 'dir' }, { file_path: '.' }],
  },
  list: {
    succeeds: [{}, { path: 'dir', limit: 1 }, { workspace: 'all' }, { workspace: 'all', path: 'dir' }],
    fails: [{ path: 'absent' }, { path: 'text.txt' }, { path: '/' }, { workspace: 'c' }],
  },
  glob: {
    succeeds: [
      { pattern: '*' },
      { pattern: '*', limit: 1 },
      { pattern: 'none' },
      { pattern: '*', path: 'dir', workspace: 'all' },
    ],
    fails: [{}, { pattern: '[' }, { pattern: '*', path: 'absent' }, { pattern: '*', path: '..' }],
  },
  bash: {
    succeeds: [{ command: 'echo hi' }, { command: 'exit 3' }, { command: 'true', run_in_background: true }],
    fails: [{}, { command: 'sudo ls' }, { command: 'true', secrets: ['absent'] }, { command: 'true', on_timeout: 'x' }],
  },
  cd: {
    succeeds: [{}, { path: '.' }, { path: '/tmp' }, { path: '~' }, { path: '/' }],
    fails: [{ path: 'absent' }, { path: '..' }, { path: '/absent' }, { path: 7 }],
  },
  run_command: {
    succeeds: [{ cmd: 'true' }, { cmd: 'cat', args: ['absent'] }],
    fails: [{}, { cmd: 'no-such-program' }, { cmd: 'true', args: 'x' }],
  },
  watch_process: {
    succeeds: [{ command: 'true' }, { command: 'true', error_patterns: [] }],
    fails: [{}, { command: 'true', error_patterns: ['('] }, { command: 'mount' }],
  },
  // What these do to a command that is there: shells.test.ts.
  bash_output: { succeeds: [], fails: [{}, { shell_id: 'nope' }] },
  bash_input: { succeeds: [], fails: [{}, { shell_id: 'nope' }] },
  kill_shell: { succeeds: [], fails: [{}, { shell_id: 'nope' }] },
  watch_process_events: { succeeds: [], fails: [{}, { shell_id: 'nope' }] },
  secret: { succeeds: [], fails: [{}, { name: 'absent' }, { name: '../x' }] },
  secrets_available: { succeeds: [{}], fails: [] },
  // What these do in a project: run-tests.test.ts, run-lint.test.ts and test/projects.
  run_tests: { succeeds: [], fails: [{}, { files: 'x' }, { language: 'go' }] },
  run_failing_tests: { succeeds: [], fails: [{}, { language: 'go' }] },
  run_lint: { succeeds: [], fails: [{}, { files: 'x' }, { language: 'go' }] },
  run_typecheck: { succeeds: [], fails: [{}, { files: 'x' }, { language: 'go' }] },
  run_format: { succeeds: [], fails: [{}, { check: 'x' }, { language: 'go' }] },
  run_script: { succeeds: [], fails: [{}, { name: 'absent' }, { name: ' ' }] },
  last_test_failures: { succeeds: [{}, { limit: 1 }], fails: [{ limit: 'x' }] },
  tests_covering: { succeeds: [{ file: 'text.txt' }, { file: 'text.txt', line: 1 }], fails: [{}, { file: '' }] },
  snapshot_create: {
    succeeds: [{ name: 's' }, { name: 's', description: 'x', include_ignored: true }],
    fails: [{}, { name: 'x/y' }, { name: '.' }, { name: 's', include_ignored: 'x' }],
  },
  snapshot_list: { succeeds: [{}], fails: [] },
  snapshot_diff: {
    succeeds: [{ name: 's' }, { name: 's', to: 's' }],
    fails: [{}, { name: 'absent' }, { name: '../s' }],
  },
  snapshot_restore: {
    succeeds: [{ name: 's' }],
    fails: [{}, { name: 'absent' }, { green: true }, { name: 's', green: true }],
  },
  snapshot_delete: { succeeds: [{ name: 's' }], fails: [{}, { name: 'absent' }] },
  // What it does to calls: test/history.
  undo: { succeeds: [], fails: [{ calls: 0 }, { checkpoint: 'absent' }, { calls: 1, checkpoint: 'cp_000001' }] },
  undo_list: { succeeds: [{}, { limit: 1 }], fails: [{ limit: 'x' }] },
  // What these find: test/skills.
  skills: { succeeds: [{}, { workspace: 'all' }], fails: [{ workspace: 'c' }] },
  skill: { succeeds: [], fails: [{}, { name: 'absent' }, { name: '../x' }, { name: ' ' }] },
  agents: { succeeds: [{}, { workspace: 'all' }], fails: [{ name: 'absent' }, { name: 7 }] },
  // What these do to what is there: test/history.
  transaction_commit: { succeeds: [], fails: [{}, { transaction: 'absent' }] },
  transaction_discard: { succeeds: [], fails: [{}, { transaction: 'absent' }] },
  workspace_fork: { succeeds: [], fails: [{}, { name: '../x' }, { name: 'all' }, { name: 'f', snapshot: 'absent' }] },
  workspace_merge: { succeeds: [], fails: [{}, { fork: 'absent' }, { fork: 'x', on_conflict: 'x' }] },
  workspace_remove: { succeeds: [], fails: [{}, { fork: 'absent' }] },
  grep: {
    succeeds: [
      { pattern: 'one' },
      { pattern: 'one', context: 1 },
      { pattern: 'one', output_mode: 'count' },
      { pattern: 'one', output_mode: 'files_with_matches' },
      { pattern: 'one', workspace: 'all' },
    ],
    fails: [
      {},
      { pattern: '(' },
      { pattern: 'x', output_mode: 'x' },
      { pattern: 'x', type: 'x' },
      { pattern: 'x', path: '..' },
    ],
  },
};

const rows = (kind: 'succeeds' | 'fails') =>
  eras.flatMap((era) =>
    Object.entries(samples).flatMap(([name, sample]) => sample[kind].map((args) => [era, name, args] as const)),
  );

async function callInFreshTree(era: Era, name: string, args: Arguments) {
  for (const root of ['a', 'b']) rmSync(directory.at(`${root}/dir`), { recursive: true, force: true });
  rmSync(directory.at('a/moved.txt'), { force: true });
  rmSync(directory.at('a/new'), { recursive: true, force: true });
  mkdirSync(directory.at('a/dir'));
  const tree = {
    'text.txt': 'one\ntwo\nthree\n',
    empty: '',
    blob: 'a\0b',
    'pixel.gif': 'GIF89a\0\0',
    'dir/x': '',
    'dir/y': '',
  };
  for (const [file, content] of Object.entries(tree)) writeFileSync(directory.at(`a/${file}`), content);
  writeFileSync(directory.at('a/unread.txt'), 'x y');
  const session = sessions.get(era);
  if (!session) throw new Error(`no session of ${era}`);
  await session.call('read', { workspace: 'a', file_path: 'text.txt' });
  return session.call(name, name === 'workspaces' ? args : { workspace: 'a', ...args });
}

test('every tool of the registry is listed, once, and has samples here', () => {
  const names = Object.values(registry).map(({ name }) => name);
  expect([...listed.keys()].toSorted()).toEqual(names.toSorted());
  expect(Object.keys(samples).toSorted()).toEqual(names.toSorted());
});

test('no two tools answer to the same name', () => {
  const spellings = Object.values(registry).flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(spellings.filter((spelling, index) => spellings.indexOf(spelling) !== index)).toEqual([]);
});

describe.each(Object.values(registry).map(({ name }) => name))('%s', (name) => {
  const tool = () => listed.get(name) as Listed;

  test('says what it is for and what it takes', () => {
    const { title, description, inputSchema } = tool();
    expect(title).toMatch(/^[A-Z]/);
    expect(description).toMatch(/^[A-Z].{20,}\.$/s);
    expect(inputSchema.type).toBe('object');
    const properties = Object.entries(inputSchema.properties ?? {}) as [
      string,
      { type?: string; description?: string; enum?: unknown },
    ][];
    const unexplained = properties.filter(
      ([, schema]) => !schema.description && !schema.enum && schema.type !== 'boolean',
    );
    expect(unexplained.map(([property]) => property)).toEqual([]);
    for (const required of inputSchema.required ?? [])
      expect(properties.map(([property]) => property)).toContain(required);
  });

  test('says what it gives, in a schema that compiles and refuses something', () => {
    const { outputSchema } = tool();
    expect(outputSchema?.type).toBe('object');
    const isValid = new AjvJsonSchemaValidator().getValidator(outputSchema as never);
    expect(isValid({}).valid).toBe(false);
    expect(isValid({ error: {} }).valid).toBe(false);
  });

  test('has hints that agree with what it does', () => {
    const reads = readers.includes(name);
    const executes = Object.values(registry).some((known) => known.name === name && known.access === 'execute');
    expect(tool().annotations).toMatchObject({
      title: tool().title,
      readOnlyHint: reads,
      destructiveHint: !reads,
      openWorldHint: executes,
    });
    if (reads) expect(tool().annotations?.idempotentHint).toBe(true);
  });

  test('is described the same in both eras', async () => {
    const both = await Promise.all([...sessions.values()].map(({ client }) => client.listTools()));
    const [before, now] = both.map(({ tools }) => tools.find((one) => one.name === name));
    expect(now).toEqual(before);
  });
});

test.each(rows('succeeds'))('in %s, %s with %j answers text and what its schema says', async (era, name, args) => {
  const { isError, structured, content, text } = await callInFreshTree(era, name, args);
  expect(isError, text).toBe(false);
  expect(content[0]).toEqual({ type: 'text', text: expect.any(String) });
  const validate = new AjvJsonSchemaValidator().getValidator(listed.get(name)?.outputSchema as never);
  expect(validate(structured)).toMatchObject({ valid: true });
  const { output } = Object.values(registry).find((tool) => tool.name === name) ?? {};
  if (args.workspace !== 'all') expect(output?.strict().safeParse(structured)).toMatchObject({ success: true });
});

test.each(rows('fails'))('in %s, %s with %j fails readably, with a code of the catalogue', async (era, name, args) => {
  const { isError, structured, content } = await callInFreshTree(era, name, args);
  expect(isError).toBe(true);
  const { error } = ErrorEnvelope.strict().parse(structured);
  expect(Object.keys(structured.error).toSorted()).toEqual(['code', 'details', 'hint', 'kind', 'message']);
  const { kind, hint } = errorCatalog[error.code];
  expect(error).toMatchObject({ kind, hint });
  expect(error.code).not.toBe('E_INTERNAL');
  expect(content).toHaveLength(1);
  expect(content[0]?.text).toContain(error.message);
  expect(content[0]?.text).not.toMatch(/\n {4}at |node:|undefined|\[object/);
});

test.each(eras)('a name that is no tool fails the same way in %s', async (era) => {
  for (const name of ['nope', '', 'READ', '__proto__', 'constructor', 'toString']) {
    const answer = await sessions.get(era)?.call(name, {});
    expect(answer?.structured.error.code, name).toBe('E_UNKNOWN_TOOL');
  }
});

test('with --readonly there are only tools that read, and the others cannot be called by any name', async () => {
  writeFileSync(directory.at('a/kept.txt'), 'kept');
  await using session = await connectStdio(['--workspace', directory.at('a'), '--readonly']);
  const { tools } = await session.client.listTools();
  expect(tools.map(({ name }) => name).toSorted()).toEqual(readers.toSorted());
  await session.call('read', { file_path: 'kept.txt' });
  const writers = Object.values(registry).filter(({ access }) => access !== 'read');
  for (const name of writers.flatMap(({ name, aliases = [] }) => [name, ...aliases])) {
    const args = {
      file_path: 'kept.txt',
      content: 'x',
      old_string: 'kept',
      new_string: 'x',
      from: 'kept.txt',
      to: 'x',
    };
    expect((await session.call(name, args)).structured.error.code, name).toBe('E_UNKNOWN_TOOL');
  }
  expect((await session.call('read', { file_path: 'kept.txt' })).text).toBe('1\tkept\n');
  expect((await session.call('workspaces')).structured.workspaces).toMatchObject([{ access: 'read-only' }]);
});
