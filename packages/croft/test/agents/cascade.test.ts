import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, type Answer, type Platform, startPlatform } from '../support/servers/platform.ts';

/** Every tool with an input that it takes. What it answers then does not matter here, only whether it may. */
const inputs: Readonly<Record<string, object>> = {
  agents: {},
  ast_replace: { pattern: 'kept', rewrite: 'other', language: 'typescript' },
  ast_search: { pattern: 'kept' },
  bash: { command: 'touch made-by-bash' },
  bash_input: { shell_id: 'x', input: 'x' },
  bash_output: { shell_id: 'x' },
  calls: { symbol: 'T.f' },
  cd: {},
  change_function_signature: { file_path: 'kept.ts', function_name: 'f', new_signature: 'f(a: number)' },
  code_actions: { file_path: 'kept.ts', line: 1 },
  delete: { file_path: 'kept.ts' },
  delete_symbol: { file_path: 'kept.ts', symbol: 'f', force: true },
  diagnostics: { path: 'kept.ts' },
  edit: { file_path: 'kept.ts', old_string: 'class T', new_string: 'class U' },
  edit_function_body: { file_path: 'kept.ts', function_name: 'f', new_body: 'return 2;' },
  find_definition: { symbol: 'kept' },
  find_implementations: { symbol: 'T' },
  find_references: { symbol: 'kept' },
  glob: { pattern: '*' },
  grep: { pattern: 'kept' },
  hover: { symbol: 'kept' },
  insert_after_method: { file_path: 'kept.ts', receiver_type: 'T', method_name: 'f', new_method: 'g() {}' },
  insert_after_symbol: { file_path: 'kept.ts', symbol: 'T', text: 'const x = 1;' },
  insert_before_symbol: { file_path: 'kept.ts', symbol: 'T', text: 'const x = 1;' },
  kill_shell: { shell_id: 'x' },
  last_test_failures: {},
  list: {},
  memory_save: { title: 'a', content: 'b' },
  move: { from: 'kept.ts', to: 'moved.txt' },
  next_page: { cursor: 'x' },
  outline: {},
  read: { file_path: 'kept.ts' },
  read_symbol: { file_path: 'kept.ts', symbol: 'f' },
  rename_symbol: { file_path: 'kept.ts', symbol: 'kept', new_name: 'other' },
  render_dot: { source: 'digraph { a }', output_path: 'd.svg' },
  render_mermaid: { source: 'graph TD\nA --> B', output_path: 'm.svg' },
  replace_symbol: { file_path: 'kept.ts', symbol: 'f', new_text: 'f() {}' },
  run_command: { cmd: 'touch', args: ['made-by-command'] },
  run_failing_tests: {},
  run_format: {},
  run_lint: {},
  run_script: { name: 'x' },
  run_tests: {},
  run_typecheck: {},
  repo_map: { focus: '.' },
  search_code: { query: 'kept' },
  secret: { name: 'x' },
  secrets_available: {},
  shells: {},
  skill: { name: 'x' },
  skills: {},
  snapshot_create: { name: 's' },
  snapshot_delete: { name: 'x' },
  snapshot_diff: { name: 's' },
  snapshot_list: {},
  snapshot_restore: { green: true },
  tests_covering: { file: 'kept.ts' },
  tools: {},
  transaction_commit: { transaction: 'x' },
  transaction_discard: { transaction: 'x' },
  undo: {},
  undo_list: {},
  watch_process: { command: 'touch made-by-watching' },
  watch_process_events: { shell_id: 'x' },
  workspace_fork: { name: 'f', snapshot: 'absent' },
  workspace_merge: { fork: 'x' },
  workspace_remove: { fork: 'x' },
  workspaces: {},
  write: { file_path: 'made-by-write', content: 'x' },
};

const reading = [
  ...'cd glob grep last_test_failures list read secret secrets_available tests_covering workspaces'.split(' '),
  ...'ast_search calls diagnostics find_definition find_implementations find_references hover repo_map search_code'.split(
    ' ',
  ),
  ...'agents tools next_page outline read_symbol skill skills snapshot_diff snapshot_list undo_list'.split(' '),
];
const writing = [
  ...'delete edit memory_save move write'.split(' '),
  ...'replace_symbol change_function_signature delete_symbol edit_function_body insert_after_method'.split(' '),
  ...'ast_replace code_actions insert_after_symbol insert_before_symbol rename_symbol render_dot render_mermaid'.split(
    ' ',
  ),
  ...'snapshot_create snapshot_delete snapshot_restore undo'.split(' '),
  ...'transaction_commit transaction_discard workspace_fork workspace_merge workspace_remove'.split(' '),
];
const running =
  'bash bash_input run_command run_failing_tests run_format run_lint run_script run_tests run_typecheck watch_process'.split(
    ' ',
  );
const following = 'bash_output kill_shell shells watch_process_events'.split(' ');
/** These work in no workspace, and so in none that is read-only. */
const aboutNone = ['next_page', 'shells', 'tools', 'workspaces'];
/** Tools of an agent that may change nothing. */
const onReadOnly = ['glob', 'next_page', 'read'];
const all = Object.keys(inputs).sort();

const modes = ['ask', 'edit', 'bypass'] as const;
type Mode = (typeof modes)[number];

let platform: Platform;
let account: Account;

beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount();
});

afterAll(() => platform[Symbol.asyncDispose]());

test('the expected lists name every tool, each in one group', async () => {
  const agent = await newAgent('own', 'bypass');
  expect((await account.tools(agent)).map(({ name }) => name).sort()).toEqual(all);
  expect([...reading, ...writing, ...running, ...following].sort()).toEqual(all);
});

type Row = 'null' | 'own' | 'inherited' | 'unset';

/** An agent with one workspace that has `kept.ts`, attached as a row of the cascade says. */
async function newAgent(row: Row, mode: Mode): Promise<string> {
  const workspaceId = await account.newWorkspace();
  const writer = await account.newAgent({
    sandbox: await account.newSandbox({ permissionMode: 'bypass' }),
    workspaces: [{ name: 'w', workspaceId }],
  });
  expect(
    (
      await account.call(writer, 'write', {
        file_path: 'kept.ts',
        content: 'class T {\n  f() {\n    return kept;\n  }\n}\nconst kept = 1;\n',
      })
    ).status,
  ).toBe(200);
  const sandbox = await account.newSandbox({ permissionMode: mode });
  const other = await account.newSandbox({ permissionMode: mode === 'ask' ? 'bypass' : 'ask' });
  const rows = {
    null: { sandbox, workspaces: [{ name: 'w', workspaceId, sandbox: null }] },
    own: { sandbox: other, workspaces: [{ name: 'w', workspaceId, sandbox }] },
    inherited: { sandbox, workspaces: [{ name: 'w', workspaceId }] },
    unset: { workspaces: [{ name: 'w', workspaceId }] },
  };
  return account.newAgent(rows[row]);
}

/** Asked for, refused, not there, or let through to the tool itself. */
function outcomeOf({ status, body }: Answer): string {
  if (status === 202) return 'asked';
  const code = body?.error?.code;
  return code === 'E_READ_ONLY' || code === 'E_UNKNOWN_TOOL' ? code : 'ran';
}

function expected(row: Row, mode: Mode, tool: string): string {
  if (row === 'null' || row === 'unset') return onReadOnly.includes(tool) ? 'ran' : 'E_UNKNOWN_TOOL';
  if (reading.includes(tool) || following.includes(tool)) return 'ran';
  if (writing.includes(tool)) return mode === 'ask' ? 'asked' : 'ran';
  return mode === 'bypass' ? 'ran' : 'asked';
}

describe.each(['null', 'own', 'inherited', 'unset'] as const)('a workspace whose sandbox is %s', (row) => {
  test.each(modes)('in the mode %s', async (mode) => {
    const agent = await newAgent(row, mode);
    const order = [...all].sort((a, b) => rank(a) - rank(b));
    for (const tool of order) {
      const answer = await account.call(agent, tool, inputs[tool]);
      expect({ tool, outcome: outcomeOf(answer) }).toEqual({ tool, outcome: expected(row, mode, tool) });
    }
    const names = (await account.tools(agent)).map(({ name }) => name).sort();
    expect(names).toEqual(row === 'null' || row === 'unset' ? onReadOnly : all);
  });
});

/** A file is read before it is edited, and the tools that take it away come last. */
function rank(tool: string): number {
  return { read: -1, move: 1, delete: 2 }[tool] ?? 0;
}

describe('several workspaces', () => {
  test('every tool lists all of them; the first is the default even if it is read-only, and no other replaces it', async () => {
    const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
    const [first, second] = [await account.newWorkspace(), await account.newWorkspace()];
    const agent = await account.newAgent({
      sandbox,
      workspaces: [
        { name: 'docs', workspaceId: first, sandbox: null },
        { name: 'work', workspaceId: second },
      ],
    });
    const tools = await account.tools(agent);
    expect(tools.map(({ name }) => name).sort()).toEqual(all);
    const about = tools.filter(({ name }) => !aboutNone.includes(name) && inputs[name]);
    for (const { name, inputSchema } of about) {
      expect({ name, workspace: inputSchema.properties.workspace?.enum }).toEqual({
        name,
        workspace: ['docs', 'work'],
      });
      expect(inputSchema.required ?? []).not.toContain('workspace');
    }
    for (const tool of all.filter((name) => !['read', 'glob', ...aboutNone].includes(name))) {
      const { body } = await account.call(agent, tool, inputs[tool]);
      expect({ tool, code: body.error?.code }).toEqual({ tool, code: 'E_READ_ONLY' });
      expect(body.error.message).toMatch(/^workspace is read-only(?:: no sandbox available for this command)?$/);
    }
    expect((await account.call(agent, 'write', { workspace: 'work', ...inputs.write })).status).toBe(200);
    expect((await account.call(agent, 'bash', { workspace: 'work', command: 'ls' })).body.output).toBe(
      'made-by-write\n',
    );
    const unknown = await account.call(agent, 'read', { workspace: 'elsewhere', file_path: 'a' });
    expect(unknown.body.error).toMatchObject({ code: 'E_UNKNOWN_WORKSPACE' });
  });

  test('with one workspace there is no argument workspace', async () => {
    const tools = await account.tools(await newAgent('inherited', 'ask'));
    for (const { name, inputSchema } of tools)
      expect({ name, has: 'workspace' in (inputSchema.properties ?? {}) }).toEqual({ name, has: false });
  });

  test('no approval is requested for a workspace that is read-only or missing', async () => {
    const agent = await account.newAgent({
      sandbox: await account.newSandbox({ permissionMode: 'ask' }),
      workspaces: [
        { name: 'work', workspaceId: await account.newWorkspace() },
        { name: 'docs', workspaceId: await account.newWorkspace(), sandbox: null },
      ],
    });
    await account.call(agent, 'bash', { command: 'true', workspace: 'docs' });
    await account.call(agent, 'write', { file_path: 'a', content: '', workspace: 'docs' });
    await account.call(agent, 'bash', { command: 'true', workspace: 'nowhere' });
    await account.call(agent, 'bash', { command: 7 });
    const { body } = await account.send('GET', `/v1/approvals?agentId=${agent}`);
    expect(body.approvals).toEqual([]);
  });
});

test('an agent with a sandbox of its own cannot write to a workspace that has none', async () => {
  const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
  const workspaceId = await account.newWorkspace();
  const agent = await account.newAgent({
    sandbox,
    workspaces: [
      { name: 'docs', workspaceId, sandbox: null },
      { name: 'work', workspaceId: await account.newWorkspace() },
    ],
  });
  // Makes the directory.
  await account.call(agent, 'glob', { pattern: '*', workspace: 'docs' });
  for (const tool of all) await account.call(agent, tool, { ...inputs[tool], workspace: 'docs' });
  await account.call(agent, 'bash', { workspace: 'work', command: 'touch ../docs/evil /workspaces/docs/evil' });
  await account.call(agent, 'write', { workspace: 'work', file_path: '../docs/evil', content: '' });
  await account.call(agent, 'write', { workspace: 'work', file_path: '/workspaces/docs/evil', content: '' });
  const found = await account.call(agent, 'glob', { pattern: '**', workspace: 'docs' });
  expect(found.body.paths).toEqual([]);
  expect(globSync(join(platform.data, 'workspaces/*/evil'))).toEqual([]);
});

describe('an agent with a sandbox and no workspace', () => {
  test('has bash and next_page, and files of one call are gone in the next', async () => {
    const agent = await account.newAgent({ sandbox: await account.newSandbox({ permissionMode: 'bypass' }) });
    expect((await account.tools(agent)).map(({ name }) => name)).toEqual(['bash', 'next_page']);
    expect((await account.tools(agent))[0]?.inputSchema.properties).not.toHaveProperty('workspace');
    const first = await account.call(agent, 'bash', { command: 'touch here /tmp/there; ls . /tmp' });
    expect(first.body).toMatchObject({ exitCode: 0, output: expect.stringContaining('here') });
    expect(first.body.output).toContain('there');
    const next = await account.call(agent, 'bash', { command: 'ls -A . /tmp' });
    expect(next.body.output).not.toMatch(/here/);
    for (const tool of all.filter((name) => name !== 'bash' && name !== 'next_page')) {
      const { body } = await account.call(agent, tool, inputs[tool]);
      expect({ tool, code: body.error?.code }).toEqual({ tool, code: 'E_UNKNOWN_TOOL' });
    }
    const left = await account.call(agent, 'bash', { command: 'sleep 60', run_in_background: true });
    expect(left.body.error).toMatchObject({ code: 'E_INVALID_INPUT' });
    expect(existsSync(join(platform.data, 'workspaces'))).toBe(true);
  });

  test('asks for approvals as its mode requires', async () => {
    const agent = await account.newAgent({ sandbox: await account.newSandbox({ permissionMode: 'edit' }) });
    expect((await account.call(agent, 'bash', { command: 'true' })).status).toBe(202);
  });
});

test('an agent without a sandbox and a workspace has no tool', async () => {
  const agent = await account.newAgent({});
  expect(await account.tools(agent)).toEqual([]);
  for (const tool of all)
    expect((await account.call(agent, tool, inputs[tool])).body.error.code, tool).toBe('E_UNKNOWN_TOOL');
});

test('a workspace or sandbox taken from an agent is gone at its next call', async () => {
  const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
  const workspaceId = await account.newWorkspace();
  const agent = await account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
  expect((await account.call(agent, 'bash', { command: 'echo in' })).status).toBe(200);
  await account.send('PATCH', `/v1/sandboxes/${sandbox}`, { config: { permissionMode: 'ask' } });
  expect((await account.call(agent, 'bash', { command: 'echo in' })).status).toBe(202);
  await account.send('PATCH', `/v1/agents/${agent}`, {
    config: { workspaces: [{ name: 'w', workspaceId, sandbox: null }] },
  });
  expect((await account.call(agent, 'bash', { command: 'echo in' })).body.error.code).toBe('E_UNKNOWN_TOOL');
  await account.send('DELETE', `/v1/agents/${agent}`);
  expect((await account.call(agent, 'read', { file_path: 'a' })).status).toBe(404);
});
