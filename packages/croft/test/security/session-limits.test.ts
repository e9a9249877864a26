import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectStdio, makeDirectory } from '../support/harness.ts';
import {
  type Account,
  type Json,
  mustBe,
  openAccount,
  type Platform,
  startPlatform,
} from '../support/servers/platform.ts';
import { type Face, faces, type Named, speak, speakRaw, speakRawBy } from './session-faces.ts';

let platform: Platform;
let account: Account;
let agent: string;
/** Child sessions of the agent: with `one` alone, and read-only. */
let child: string;

beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount('parent');
  agent = await newAgent();
  for (const workspace of ['one', 'two']) {
    const content = `what ${workspace} remembers`;
    mustBe(200, await account.call(agent, 'write', { file_path: 'MEMORY.md', content, workspace }));
  }
  child = await openChild(agent);
});
afterAll(() => platform[Symbol.asyncDispose]());

async function newAgent() {
  const workspaces = await Array.fromAsync(['one', 'two'], async (name) => ({
    name,
    workspaceId: await account.newWorkspace(),
  }));
  return account.newAgent({ sandbox: await account.newSandbox({ permissionMode: 'bypass' }), workspaces });
}

async function openChild(of: string): Promise<string> {
  const body = { workspaces: ['one'], readOnly: true };
  return mustBe(201, await account.send('POST', `/v1/agents/${of}/sessions`, body)).session;
}

const writeInto = (workspace: string) => ({ file_path: 'written.txt', content: 'x', workspace });

describe.each(faces)('a child session over %s', (face) => {
  const asChild = () => speak(face, account, agent, child);

  test('lists exactly the tools of its session limits', async () => {
    await using whole = await speak(face, account, agent, undefined);
    await using fenced = await asChild();
    const [all, own] = [await whole.tools(), await fenced.tools()];
    expect(all).toContain('write');
    expect(own).toEqual(expect.arrayContaining(['read', 'glob']));
    expect(own.filter((name) => ['write', 'edit', 'bash', 'delete', 'memory_save'].includes(name))).toEqual([]);
    expect(own.length).toBeLessThan(all.length);
  });

  test('can call those tools and no others', async () => {
    await using fenced = await asChild();
    expect(await fenced.call('read', { file_path: 'MEMORY.md' })).toContain('what one remembers');
    for (const workspace of ['one', 'two']) {
      expect(await fenced.call('write', writeInto(workspace))).toContain('E_UNKNOWN_TOOL');
      expect(await fenced.call('bash', { command: 'touch written.txt', workspace })).toContain('E_UNKNOWN_TOOL');
    }
    expect(await fenced.call('read', { file_path: 'MEMORY.md', workspace: 'two' })).toContain('E_UNKNOWN_WORKSPACE');
    for (const workspace of ['one', 'two']) {
      const { paths } = mustBe(200, await account.call(agent, 'glob', { pattern: '*', workspace }));
      expect(paths).toEqual(['MEMORY.md']);
    }
  });

  test('gets instructions about its own workspaces only', async () => {
    await using fenced = await asChild();
    const prompt = await fenced.prompt();
    expect(prompt).toContain('what one remembers');
    expect(prompt).not.toContain('two');
    expect(prompt).not.toContain('memory_save');
    await using whole = await speak(face, account, agent, undefined);
    expect(await whole.prompt()).toContain('what two remembers');
  });

  test.each([
    ['is not there', async () => `ses_${'0'.repeat(24)}`],
    ['is misspelt', async () => child.slice(0, -1)],
    ['was ended', async () => endAfter(await openChild(agent))],
    ['is of another agent', async () => openChild(await newAgent())],
  ])('that %s is refused, and never gets wider rights', async (_, name) => {
    expect(await outcome(face, account, await name())).toContain('Session not found');
  });

  test('of another key is refused', async () => {
    const name = `other-${face.replaceAll(/\W/g, '-')}`;
    const made = mustBe(201, await account.send('POST', '/v1/keys', { name, scopes: ['call', 'read'] }));
    const other = openAccount(platform.url, made.secret, account.accountId);
    expect(await outcome(face, other, child)).toContain('Session not found');
  });

  test.each(['with a space', '', 'é'])('with an invalid name (%j) is refused', async (name) => {
    // An empty header and one that is not there look the same to a client.
    if (name === '' && !face.includes('_meta')) return;
    expect(await outcome(face, account, name)).toMatch(/takes 1 to 128 visible characters|ByteString/);
  });
});

async function endAfter(session: string): Promise<string> {
  mustBe(200, await account.send('DELETE', `/v1/agents/${agent}/sessions/${session}`));
  return session;
}

/** Everything that a session of this name answers to, in one text. */
async function outcome(face: Face, caller: Account, session: string): Promise<string> {
  const attempts = [
    (speaker: Named) => speaker.tools(),
    (speaker: Named) => speaker.prompt(),
    (speaker: Named) => speaker.call('read', { file_path: 'MEMORY.md' }),
  ];
  const reported = await Array.fromAsync(attempts, async (attempt) => {
    try {
      await using speaker = await speak(face, caller, agent, session);
      return JSON.stringify(await attempt(speaker));
    } catch (thrown) {
      return String(thrown);
    }
  });
  // The client takes every refusal of its first request for an older server, and hides the error.
  if (face.includes('2026')) reported.push(JSON.stringify((await speakRawBy(face, caller, agent, session)).body));
  expect(reported.join('\n')).not.toContain('remembers');
  expect(reported.filter((text) => text.startsWith('['))).toEqual([]);
  return reported.join('\n');
}

describe('two different session names', () => {
  test('in one request of 2026 are refused', async () => {
    for (const header of ['croft-session', 'mcp-session-id']) {
      const answer = await speakRaw(account, agent, { headers: { [header]: 'wide' }, meta: child });
      expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining('name one session')]);
    }
  });

  test.each(['_meta', 'header'] as const)('after the handshake of 2025 are refused (by %s)', async (by) => {
    for (const [first, then] of [
      [child, 'wide'],
      [undefined, child],
      ['wide', child],
    ] as const) {
      await using connected = await speak('MCP of 2025 by Croft-Session', account, agent, first);
      const answer = await connected.again(by, then);
      expect([answer.status, answer.body.error.message]).toEqual([
        400,
        expect.stringContaining('send a new initialize'),
      ]);
    }
  });

  test('are accepted if both are equal', async () => {
    await using connected = await speak('MCP of 2025 by Croft-Session', account, agent, child);
    for (const by of ['_meta', 'header'] as const) expect((await connected.again(by, child)).status).toBe(200);
  });
});

test('closing a connection does not end the child session, which may have other connections', async () => {
  const session = await openChild(agent);
  await using connected = await speak('MCP of 2025 by Croft-Session', account, agent, session);
  await connected.hangUp();
  mustBe(200, await account.call(agent, 'glob', { pattern: '*' }, { 'croft-session': session }));
});

test('servers without child sessions refuse their names, and stdio refuses every name', async () => {
  const params = { name: 'glob', arguments: { pattern: '*' }, _meta: { 'croft/session': child } };
  const ofFlags = await fetch(new URL('/mcp', platform.url), {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${platform.token}`, 'content-type': 'application/json' },
      ...{ accept: 'application/json, text/event-stream', 'croft-session': child },
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  expect([ofFlags.status, ((await ofFlags.json()) as Json).error.message]).toEqual([
    404,
    expect.stringContaining('Session not found'),
  ]);
  using workspace = makeDirectory();
  for (const era of ['2025', '2026'] as const) {
    await using stdio = await connectStdio(['--workspace', workspace.path], { era });
    const { content } = await stdio.client.callTool(params);
    expect(JSON.stringify(content)).toContain('over stdio the connection is the session');
  }
});
