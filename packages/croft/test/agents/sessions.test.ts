import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eras, makeDirectory, startServer } from '../support/harness.ts';
import {
  type Account,
  adminToken,
  connectAgent,
  mustBe,
  openAccount,
  type Platform,
  startPlatform,
} from '../support/servers/platform.ts';

let platform: Platform;
let account: Account;

beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount();
});

afterAll(() => platform[Symbol.asyncDispose]());

async function newAgent(mode = 'bypass') {
  const sandbox = await account.newSandbox({ permissionMode: mode });
  const [work, docs] = [await account.newWorkspace(), await account.newWorkspace()];
  const workspaces = [
    { name: 'work', workspaceId: work },
    { name: 'docs', workspaceId: docs },
  ];
  return account.newAgent({ sandbox, workspaces });
}

const inSession = (session: string) => ({ 'croft-session': session });

describe('a session', () => {
  test('has its own reads, background commands and directory; another session has none of them', async () => {
    const agent = await newAgent();
    mustBe(200, await account.call(agent, 'write', { file_path: 'sub/a.txt', content: 'one\n' }, inSession('a')));
    mustBe(200, await account.call(agent, 'cd', { path: 'sub' }, inSession('a')));
    const edit = { file_path: 'a.txt', old_string: 'one', new_string: 'two' };
    mustBe(200, await account.call(agent, 'edit', edit, inSession('a')));
    const foreign = await account.call(agent, 'edit', { ...edit, file_path: 'sub/a.txt' }, inSession('b'));
    expect(foreign.body.error.code).toBe('E_NOT_READ');
    const { body } = await account.call(agent, 'bash', { command: 'pwd' }, inSession('b'));
    expect(body.output).toBe('/workspaces/work\n');
  });

  test('of one key is not used by another key', async () => {
    const agent = await newAgent();
    const made = mustBe(201, await account.send('POST', '/v1/keys', { name: 'other', scopes: ['call'] }));
    const other = openAccount(account.url, made.secret, account.accountId);
    mustBe(200, await account.call(agent, 'write', { file_path: 'a.txt', content: 'one\n' }));
    const edit = await other.call(agent, 'edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' });
    expect(edit.body.error.code).toBe('E_NOT_READ');
  });

  test('can be listed and ended, with everything it started', async () => {
    const agent = await newAgent();
    const shell = { command: 'echo $$ > pid; exec sleep 600', run_in_background: true };
    mustBe(200, await account.call(agent, 'bash', shell, inSession('short')));
    const { sessions } = mustBe(200, await account.send('GET', `/v1/agents/${agent}/sessions`));
    expect(sessions).toHaveLength(1);
    expect(sessions).toMatchObject([{ session: 'short' }]);
    mustBe(200, await account.send('DELETE', `/v1/agents/${agent}/sessions/short`));
    const { body } = await account.call(agent, 'bash', { command: 'pgrep -c sleep' }, inSession('short'));
    expect(body.output).toBe('0\n');
    expect((await account.send('DELETE', `/v1/agents/${agent}/sessions/none`)).status).toBe(404);
  });
});

test('the background commands of an agent end when it is deleted', async () => {
  const agent = await newAgent();
  const name = `doomed-agent-${process.pid}`;
  mustBe(200, await account.call(agent, 'bash', { command: `exec -a ${name} sleep 600`, run_in_background: true }));
  const isRunning = () => globSync('/proc/[0-9]*/cmdline').some((file) => readIfThere(file).startsWith(name));
  await expect.poll(isRunning).toBe(true);
  mustBe(200, await account.send('DELETE', `/v1/agents/${agent}`));
  await expect.poll(isRunning).toBe(false);
});

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

describe('a working directory', () => {
  test('is the start of relative paths and commands, in its workspace alone', async () => {
    const agent = await newAgent();
    const s = inSession('cd');
    mustBe(200, await account.call(agent, 'write', { file_path: 'deep/er/a.txt', content: 'needle\n' }, s));
    expect(mustBe(200, await account.call(agent, 'cd', { path: 'deep' }, s)).path).toBe('deep');
    expect(mustBe(200, await account.call(agent, 'cd', { path: './er/../er' }, s)).path).toBe('deep/er');
    expect(mustBe(200, await account.call(agent, 'bash', { command: 'pwd' }, s)).output).toBe(
      '/workspaces/work/deep/er\n',
    );
    expect(mustBe(200, await account.call(agent, 'read', { file_path: 'a.txt' }, s)).content).toBe('needle\n');
    expect(mustBe(200, await account.call(agent, 'glob', { pattern: '*.txt' }, s)).paths).toEqual(['a.txt']);
    const { matches } = mustBe(200, await account.call(agent, 'grep', { pattern: 'needle' }, s));
    expect(matches).toMatchObject([{ path: 'a.txt' }]);
    const up = mustBe(200, await account.call(agent, 'glob', { pattern: '*.txt', path: '..' }, s)).paths;
    expect(up).toEqual(['a.txt']);
    mustBe(200, await account.call(agent, 'write', { file_path: '../b.txt', content: '' }, s));
    expect(mustBe(200, await account.call(agent, 'list', { path: '/workspaces/work/deep' }, s)).entries).toHaveLength(
      2,
    );
    const elsewhere = mustBe(200, await account.call(agent, 'bash', { command: 'pwd', workspace: 'docs' }, s));
    expect(elsewhere.output).toBe('/workspaces/docs\n');
    expect(mustBe(200, await account.call(agent, 'cd', {}, s)).path).toBe('');
  });

  test('cannot be outside of the workspace, and ~ is the home of the sandbox', async () => {
    const agent = await newAgent();
    const s = inSession('home');
    mustBe(200, await account.call(agent, 'write', { file_path: 'file', content: '' }, s));
    for (const path of ['..', '../docs', 'missing', 'file', '~/missing', '/etc/shadow', '$(touch evil)', '~root'])
      expect({ path, status: (await account.call(agent, 'cd', { path }, s)).status }).toEqual({
        path,
        status: expect.toSatisfy((status: number) => status >= 400 && status < 500),
      });
    expect(mustBe(200, await account.call(agent, 'bash', { command: 'ls' }, s)).output).toBe('file\n');
    expect(mustBe(200, await account.call(agent, 'cd', { path: '~' }, s)).path).toBe('/home/croft');
    expect(mustBe(200, await account.call(agent, 'bash', { command: 'pwd' }, s)).output).toBe('/home/croft\n');
    const read = await account.call(agent, 'read', { file_path: 'file' }, s);
    expect(read.body.error.code).toBe('E_SANDBOX_VIOLATION');
  });
});

describe('a child session', () => {
  const open = (agent: string, body: object) => account.send('POST', `/v1/agents/${agent}/sessions`, body);

  test('has the limits of its parent or narrower ones, and starts in the same directory', async () => {
    const agent = await newAgent('edit');
    mustBe(200, await account.call(agent, 'write', { file_path: 'sub/a.txt', content: 'x' }, inSession('top')));
    mustBe(200, await account.call(agent, 'cd', { path: 'sub' }, inSession('top')));
    const { session } = mustBe(201, await open(agent, { parent: 'top', workspaces: ['work'], permissionMode: 'ask' }));
    expect(mustBe(200, await account.call(agent, 'read', { file_path: 'a.txt' }, inSession(session))).content).toBe(
      'x',
    );
    const write = await account.call(agent, 'write', { file_path: 'b.txt', content: '' }, inSession(session));
    expect(write.status).toBe(202);
    expect(write.body.approval).toMatchObject({ session, inbox: 'top' });
    const gone = await account.call(agent, 'read', { file_path: 'a', workspace: 'docs' }, inSession(session));
    expect(gone.body.error.code).toBe('E_UNKNOWN_WORKSPACE');

    const below = mustBe(201, await open(agent, { parent: session, permissionMode: 'bypass', readOnly: true })).session;
    expect(
      (await account.call(agent, 'write', { file_path: 'b', content: '' }, inSession(below))).body.error.code,
    ).toBe('E_UNKNOWN_TOOL');
    const wider = mustBe(201, await open(agent, { parent: session, permissionMode: 'bypass' })).session;
    expect((await account.call(agent, 'write', { file_path: 'b', content: '' }, inSession(wider))).status).toBe(202);
  });

  test('cannot have more than its parent, and ends with it', async () => {
    const agent = await newAgent();
    const { session } = mustBe(201, await open(agent, { workspaces: ['work'] }));
    expect((await open(agent, { parent: session, workspaces: ['docs'] })).status).toBe(400);
    expect((await open(agent, { workspaces: [] })).status).toBe(400);
    expect((await open(agent, { parent: `ses_${'0'.repeat(24)}` })).status).toBe(404);
    const invented = await account.call(agent, 'bash', { command: 'true' }, inSession(`ses_${'1'.repeat(24)}`));
    expect(invented.status).toBe(404);
    let parent = session;
    for (let depth = 1; depth < 6; depth++) parent = mustBe(201, await open(agent, { parent })).session;
    expect((await open(agent, { parent })).body.error.code).toBe('E_QUOTA');
  });
});

test('outlives its server', async () => {
  using workspace = makeDirectory();
  using data = makeDirectory();
  const args = ['--workspace', workspace.path, '--data', data.path];
  const env = { CROFT_ADMIN_TOKEN: adminToken };
  const first = await startServer(args, { env });
  const created = await (
    await fetch(`${first.url}/accounts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}` },
      body: '{"username":"bob"}',
    })
  ).json();
  const bob = openAccount(first.url, created.secret, created.account.accountId);
  const agent = await bob.newAgent({
    sandbox: await bob.newSandbox({ permissionMode: 'bypass' }),
    workspaces: [{ name: 'w', workspaceId: await bob.newWorkspace() }],
  });
  mustBe(200, await bob.call(agent, 'write', { file_path: 'd/a.txt', content: 'one' }));
  mustBe(200, await bob.call(agent, 'cd', { path: 'd' }));
  const { shell_id } = mustBe(200, await bob.call(agent, 'bash', { command: 'sleep 600', run_in_background: true }));
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');

  await using second = await startServer(args, { env });
  const again = openAccount(second.url, created.secret, created.account.accountId);
  mustBe(200, await again.call(agent, 'edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }));
  const shell = await again.call(agent, 'bash_output', { shell_id });
  expect(shell.body.error).toMatchObject({
    code: 'E_NOT_RUNNING',
    message: expect.stringContaining('is not on this server: it was started on another server, or on this one before'),
    hint: expect.stringContaining('start it again with run_in_background'),
  });
  await first[Symbol.asyncDispose]();
});

describe('memory', () => {
  test('is saved by concurrent calls without a loss, and is in the next prompt', async () => {
    const agent = await newAgent();
    const titles = Array.from({ length: 12 }, (_, index) => `fact-${index}`);
    const saves = titles.map((title) =>
      account.call(agent, 'memory_save', { title, content: `about ${title}` }, inSession(title)),
    );
    for (const answer of await Promise.all(saves)) mustBe(200, answer);
    const { prompt } = mustBe(200, await account.send('GET', `/v1/agents/${agent}/prompt`));
    for (const title of titles) expect(prompt).toContain(`## ${title}\n\nabout ${title}`);
    expect(prompt).toContain('<workspace>');
  });

  test('has one entry per title: the last one saved', async () => {
    const agent = await newAgent();
    const save = async (title: string, content: string) =>
      mustBe(200, await account.call(agent, 'memory_save', { title, content }));
    const memory = async () => mustBe(200, await account.call(agent, 'bash', { command: 'cat MEMORY.md' })).output;
    expect((await save('port', 'it is 80\n\n## Why\n\n```\n# as root\n```')).replaced).toBe(false);
    await save('host', 'croft.example\n```\n## never closed');
    expect((await save(' port ', 'it is 8080')).replaced).toBe(true);
    expect(await memory()).toBe(
      '# Memory\n\n## host\n\ncroft.example\n```\n### never closed\n```\n\n## port\n\nit is 8080\n',
    );
    // People may write what they like, in any encoding; it stays.
    mustBe(
      200,
      await account.call(agent, 'bash', { command: "printf '\\n# Notes\\n\\xff\\n## port\\n81' >> MEMORY.md" }),
    );
    await save('port', 'grün');
    const bytes = mustBe(
      200,
      await account.call(agent, 'bash', { command: 'tail -c 32 MEMORY.md | od -An -c' }),
    ).output;
    expect(bytes.replace(/\s+/g, '')).toContain('#Notes\\n377\\n\\n##port\\n\\ngr303274n\\n');
  });

  test('that is long has its newest entries in the prompt', async () => {
    const agent = await newAgent();
    for (let index = 0; index < 12; index++) {
      const entry = { title: `fact-${index}`, content: `value-${index} ${'words '.repeat(400)}` };
      mustBe(200, await account.call(agent, 'memory_save', entry));
    }
    const { prompt } = mustBe(200, await account.send('GET', `/v1/agents/${agent}/prompt`));
    expect(prompt).toContain('## fact-11\n\nvalue-11 words');
    expect(prompt).not.toContain('value-0');
    expect(prompt).toContain('6 older entries of MEMORY.md are left out; read it for them: fact-0; fact-1; ');
    expect(prompt.length).toBeLessThan(20_000);
  });

  test('is loaded also without guidance, is cut if it is huge, and a hostile one fails no call', async () => {
    const workspaceId = await account.newWorkspace({ harness: { enabled: false } });
    const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
    const agent = await account.newAgent({ sandbox, workspaces: [{ name: 'default', workspaceId }] });
    const promptOf = async () => mustBe(200, await account.send('GET', `/v1/agents/${agent}/prompt`)).prompt as string;
    expect(await promptOf()).toBe('');
    mustBe(200, await account.call(agent, 'write', { file_path: 'MEMORY.md', content: 'likes tabs\n' }));
    expect(await promptOf()).toBe('What MEMORY.md holds now:\n\nlikes tabs');
    expect((await account.tools(agent)).map(({ name }) => name)).not.toContain('memory_save');
    mustBe(200, await account.call(agent, 'bash', { command: 'yes remember | head -c 3000000 > MEMORY.md' }));
    expect((await promptOf()).length).toBeLessThan(20_000);
    mustBe(200, await account.call(agent, 'bash', { command: 'rm MEMORY.md; ln -s /etc/passwd MEMORY.md' }));
    expect(await promptOf()).toBe('');
    mustBe(200, await account.call(agent, 'bash', { command: 'rm MEMORY.md; mkfifo MEMORY.md' }));
    expect(await promptOf()).toBe('');
  });
});

test.each(eras)('guidance and memory are the instructions an MCP client of %s gets', async (era) => {
  const agent = await newAgent();
  mustBe(200, await account.call(agent, 'memory_save', { title: 'taste', content: 'tabs, never spaces' }));
  await using connected = await connectAgent(account, agent, { era });
  expect(connected.client.getInstructions()).toContain('tabs, never spaces');
  expect(connected.client.getInstructions()).toContain('<workspace>');
});
