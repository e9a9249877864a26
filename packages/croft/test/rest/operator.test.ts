import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { endpoints } from '../../src/rest/dispatch/match-path.ts';
import type { Route } from '../../src/rest/platform/route.ts';
import { followEvents } from '../support/follow-events.ts';
import { connectHttp, makeDirectory, runCroft, startServer } from '../support/harness.ts';
import { cookieOf, createPageClient } from './page-client.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const patience = { timeout: 30_000, interval: 20 };

const adminToken = 'admin-token-of-sufficient-length';
const directory = makeDirectory();
let server: Awaited<ReturnType<typeof startServer>>;
let page: ReturnType<typeof createPageClient>;
let cookie: string;

beforeAll(async () => {
  writeFileSync(directory.at('a.txt'), 'one\n');
  server = await startServer(['--workspaces', `notes=${directory.path}`, '--permission-mode', 'edit'], {
    env: { CROFT_ADMIN_TOKEN: adminToken },
  });
  page = createPageClient(Number(new URL(server.url).port));
  cookie = cookieOf(await page('POST', '/v1/session', { token: adminToken }));
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

const get = async (path: string) => {
  const answer = await page('GET', path, { cookie });
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};
const call = (tool: string, body: object, headers = {}) =>
  page('POST', `/v1/agents/flags/tools/${tool}`, { cookie, body, headers });

describe('the operator', () => {
  test('is signed in with the admin token, for the workspaces that flags name', async () => {
    expect((await get('/v1/session')).session).toMatchObject({
      ...{ accountId: 'local', username: 'operator', label: 'operator', scopes: ['*'], isOperator: true },
    });
    expect((await get('/v1/workspaces')).workspaces).toMatchObject([{ workspaceId: 'notes', name: 'notes' }]);
    expect((await get('/v1/agents')).agents).toMatchObject([{ agentId: 'flags', config: { sandbox: 'flags' } }]);
    expect((await get('/v1/sandboxes/flags')).config).toMatchObject({
      ...{ permissionMode: 'edit', network: { mode: 'deny-all' } },
    });
  });

  test('makes a first call, sees it in the events, and takes it back', async () => {
    const { position } = await get('/v1/audit?order=newest&limit=1');
    using feed = await followEvents(`${server.url}/v1/events?after=${position}`, {
      authorization: `Bearer ${server.token}`,
    });
    expect(await call('write', { file_path: 'new.txt', content: 'hello\n' })).toMatchObject({ status: 200 });
    await vi.waitFor(() => expect(feed.rows().map(({ action }) => action)).toContain('call.ended'), patience);
    expect(feed.events[0]).toMatchObject({ type: 'call.started', agentId: 'flags', tool: 'write', title: 'new.txt' });
    expect(feed.rows().map(({ action, target }) => [action, target])).toEqual([
      ['process.began', ''],
      ['call.began', 'write'],
      ['call.ended', 'write'],
    ]);
    const { checkpoints } = await get('/v1/workspaces/notes/checkpoints');
    expect(checkpoints).toMatchObject([{ tool: 'write', title: 'new.txt' }]);
    const undone = await page('POST', '/v1/workspaces/notes/undo', { cookie, body: {} });
    expect(undone).toMatchObject({ status: 200, json: { removed: ['new.txt'] } });
    expect((await get('/v1/workspaces/notes/files')).files.map(({ path }: { path: string }) => path)).toEqual([
      'a.txt',
    ]);
    await vi.waitFor(() => expect(feed.rows().at(-1)).toMatchObject({ action: 'undo', target: 'notes' }), patience);
  });

  test('approves what an MCP client waits for, and the client’s call returns', async () => {
    using feed = await followEvents(`${server.url}/v1/events`, { authorization: `Bearer ${server.token}` });
    await using client = await connectHttp(server);
    const running = client.call('bash', { command: 'echo approved' });
    await vi.waitFor(
      () => expect(feed.rows().some(({ action }) => action === 'approval.requested')).toBe(true),
      patience,
    );
    const { approvals } = await get('/v1/approvals?state=pending');
    expect(approvals).toMatchObject([{ tool: 'bash', preview: 'echo approved', agentId: 'flags' }]);
    const path = `/v1/approvals/${approvals[0].approvalId}`;
    const refused = await page('POST', path, { token: server.token, body: { decision: 'approve' } });
    expect(refused).toMatchObject({ status: 403 });
    expect(await page('POST', path, { cookie, body: { decision: 'approve' } })).toMatchObject({ status: 200 });
    expect((await running).text).toContain('approved');
    const actions = () => feed.rows().map(({ action }) => action);
    await vi.waitFor(() => expect(actions()).toContain('call.ended'), patience);
    expect(actions().filter((action) => action.startsWith('approval.'))).toEqual([
      ...['approval.requested', 'approval.approved', 'approval.used'],
    ]);
  });

  test('reads the trail in both orders, once per row, and a position continues both chains', async () => {
    for (const order of ['newest', 'oldest']) {
      const rows: string[] = [];
      for (let after = ''; ; ) {
        const { audit, next } = await get(`/v1/audit?order=${order}&limit=3${after}`);
        rows.push(...audit.map(({ hash }: { hash: string }) => hash));
        if (next === undefined) break;
        after = `&after=${next}`;
      }
      expect(new Set(rows).size).toBe(rows.length);
      expect(rows.length).toBeGreaterThan(8);
    }
    const { audit } = await get('/v1/audit?agent=flags&tool=bash&order=newest');
    expect(audit.map(({ action }: { action: string }) => action)).toContain('call.ended');
  });

  test('finds the trail whole, and an altered row of a call named', async () => {
    expect(await get('/v1/audit/check')).toMatchObject({ whole: true });
    const file = join(server.data, 'local-audit', '00000001.jsonl');
    const text = readFileSync(file, 'utf8');
    const { sequence } = JSON.parse(text.split('\n')[1] ?? '');
    writeFileSync(file, text.replace('"target":"write"', '"target":"erase"'));
    expect(await get('/v1/audit/check')).toMatchObject({ whole: false, broken: { row: sequence } });
    writeFileSync(file, text);
  });

  test('has files by the routes of accounts, safe to open', async () => {
    const answer = await fetch(`${server.url}/v1/workspaces/notes/file?path=a.txt`, {
      headers: { authorization: `Bearer ${server.token}` },
    });
    expect(await answer.text()).toBe('one\n');
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect(answer.headers.get('content-disposition')).toContain('attachment');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    for (const id of ['other', '%2e%2e%2f', 'a.txt'])
      expect(await page('GET', `/v1/workspaces/${id}/files`, { cookie })).toMatchObject({ status: 404 });
  });
});

describe('the token of the server, which MCP clients have', () => {
  const body = { name: 'x', config: {} };

  test('reads and calls, and neither approves nor opens a terminal', async () => {
    const { session } = (await page('GET', '/v1/session', { token: server.token })).json;
    expect(session).toMatchObject({ label: 'token', scopes: ['read', 'call', 'write'], isOperator: true });
    const terminal = { workspaceId: 'notes' };
    const opened = await page('POST', '/v1/sandboxes/flags/terminals', { token: server.token, body: terminal });
    expect(opened).toMatchObject({ status: 403 });
    expect(opened.json.error.hint).toContain('croft open');
    const own = cookieOf(await page('POST', '/v1/session', { token: server.token }));
    expect(await page('POST', '/v1/sandboxes/flags/terminals', { cookie: own, body: terminal })).toMatchObject({
      status: 403,
    });
    expect(await page('POST', '/v1/sandboxes/flags/terminals', { cookie, body: terminal })).toMatchObject({
      status: 201,
    });
  });

  test('opens no account, and a key of an account sees nothing of the operator', async () => {
    const made = await page('POST', '/accounts', { token: adminToken, body: { username: 'ann' } });
    const { secret } = made.json;
    for (const path of ['/v1/workspaces', '/v1/approvals', '/v1/audit?text=notes'])
      expect((await page('GET', path, { token: secret })).text).not.toContain('notes');
    for (const path of ['/v1/workspaces/notes', '/v1/agents/flags', '/v1/sandboxes/flags'])
      expect(await page('GET', path, { token: secret })).toMatchObject({ status: 404 });
    expect((await page('GET', '/v1/keys', { token: secret })).status).toBe(200);
    expect((await page('POST', '/v1/workspaces', { token: server.token, body })).status).toBe(403);
  });
});

const routes = endpoints
  .filter(({ pattern }) => pattern.startsWith('/v1/'))
  .flatMap(({ pattern, routes: all }) => Object.values(all).map((route: Route) => ({ pattern, route })));

test('what only accounts have is refused, with what to do, and changes nothing', async () => {
  for (const { pattern, route } of routes.filter(({ route: { ofFlags, signsIn } }) => !ofFlags && !signsIn)) {
    const answer = await page(route.method, pattern.replaceAll(/\{\w+\}/g, 'flags'), {
      cookie,
      ...(route.method !== 'GET' && { body: {} }),
    });
    expect([403, 413], `${route.method} ${pattern}: ${answer.text}`).toContain(answer.status);
    expect(answer.json.error.code).toBe('E_FORBIDDEN');
  }
});

describe('croft open', () => {
  test('prints a link that signs in once, and so does the server when it starts', async () => {
    const printed = await runCroft(['open', '--server', server.url], { env: { CROFT_ADMIN_TOKEN: adminToken } });
    const started = /the page, signed in once within a minute: (\S+)/.exec(server.output.stdout())?.[1] ?? '';
    for (const link of [printed.stdout.trim(), started]) {
      expect(link).toMatch(/^http:\/\/croft\.localhost:\d+\/#once=once_[\w-]{43}$/);
      const token = link.split('once=')[1];
      expect(await page('POST', '/v1/session', { token })).toMatchObject({
        ...{ status: 201, json: { session: { label: 'operator' } } },
      });
      expect(await page('POST', '/v1/session', { token })).toMatchObject({ status: 401, setCookie: '' });
    }
  });

  test('says what is wrong with the token and the server', async () => {
    const wrong = await runCroft(['open', '--server', server.url], { env: { CROFT_ADMIN_TOKEN: `${adminToken}x` } });
    expect(wrong).toMatchObject({ exitCode: 4, stdout: '' });
    const nowhere = await runCroft(['open', '--server', 'nowhere'], { env: { CROFT_ADMIN_TOKEN: adminToken } });
    expect(nowhere.stderr).toContain('--server takes a URL');
  });
});

describe('what was, and where it is', () => {
  beforeAll(async () => {
    await call('write', { file_path: 'src/b.ts', content: 'const greeting = 1;\n' });
    await page('POST', '/v1/workspaces/notes/snapshots', { cookie, body: { name: 'before' } });
    await call('edit', { file_path: 'src/b.ts', old_string: '1', new_string: '2' });
  });

  test('a call shows its diff', async () => {
    const { checkpoints } = await get('/v1/workspaces/notes/checkpoints?limit=1');
    const diff = await get(`/v1/workspaces/notes/checkpoints/${checkpoints[0].checkpointId}/diff`);
    expect(diff).toMatchObject({ paths: 1, checkpoint: checkpoints[0], changes: [{ path: 'src/b.ts' }] });
    expect(diff.changes[0].diff).toContain('-const greeting = 1;\n+const greeting = 2;');
    for (const id of ['cp_999999', 'x', '..%2f'])
      expect(await page('GET', `/v1/workspaces/notes/checkpoints/${id}/diff`, { cookie })).toMatchObject({
        status: 404,
      });
  });

  test('files are listed and read as they were in a snapshot', async () => {
    const root = '/v1/workspaces/notes';
    const paths = async (path: string) =>
      (await get(`${root}/files?snapshot=before&path=${path}`)).files.map((one: { path: string }) => one.path);
    expect([await paths(''), await paths('src')]).toEqual([expect.arrayContaining(['a.txt', 'src']), ['src/b.ts']]);
    const headers = { authorization: `Bearer ${server.token}` };
    const answer = await fetch(`${server.url}${root}/file?snapshot=before&path=src/b.ts`, { headers });
    expect(await answer.text()).toBe('const greeting = 1;\n');
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    for (const [query, status] of [
      ['file?snapshot=none&path=a.txt', 404],
      ['file?snapshot=before&path=none', 404],
      ['file?snapshot=before&path=src', 404],
      ['file?snapshot=before&path=../a.txt', 400],
      ['files?snapshot=before&recursive=true', 400],
      ['files?snapshot=', 400],
    ] as const)
      expect((await page('GET', `${root}/${query}`, { cookie })).status, query).toBe(status);
  });

  test('contents are searched, also as plain text, in a folder and by pattern of names', async () => {
    const search = (query: string) => get(`/v1/workspaces/notes/search?${query}`);
    expect(await search('pattern=GREET&ignoreCase=true')).toEqual({
      matches: [{ path: 'src/b.ts', line: 1, text: 'const greeting = 2;' }],
      isCut: false,
    });
    expect((await search('pattern=greet.*;&literal=true')).matches).toEqual([]);
    expect((await search('pattern=greet.*;&path=src')).matches).toHaveLength(1);
    expect((await search('pattern=.&glob=*.txt')).matches.map(({ path }: { path: string }) => path)).toEqual(['a.txt']);
    expect((await search('pattern=.&limit=1')).isCut).toBe(true);
    for (const [query, status] of [
      ['', 400],
      ['pattern=(', 400],
      ['pattern=x&limit=0', 400],
      ['pattern=x&path=../..', 400],
      ['pattern=x&path=none', 404],
      ['pattern=--help', 200],
    ] as const)
      expect((await page('GET', `/v1/workspaces/notes/search?${query}`, { cookie })).status, query).toBe(status);
  });
});

describe('before a call', () => {
  const ask = async (tool: string, body: object) => {
    const answer = await page('POST', `/v1/agents/flags/tools/${tool}/ask`, { cookie, body });
    expect(answer.status, answer.text).toBe(200);
    return answer.json;
  };

  test('is told whether it runs, asks or is refused, and nothing runs or is recorded', async () => {
    const { position } = await get('/v1/audit?order=newest&limit=1');
    expect(await ask('write', { file_path: 'never.txt', content: 'x' })).toMatchObject({ outcome: 'runs' });
    expect(await ask('nothing', {})).toMatchObject({ outcome: 'refused', error: { code: 'E_UNKNOWN_TOOL' } });
    expect(await ask('write', { file_path: 'x' })).toMatchObject({
      ...{ outcome: 'refused', error: { code: 'E_INVALID_INPUT' } },
    });
    expect((await get('/v1/audit?order=newest&limit=1')).position).toBe(position);
    expect(await page('GET', '/v1/workspaces/notes/file?path=never.txt', { cookie })).toMatchObject({ status: 404 });
  });

  test('makes the approval that the call then uses, once for the same call', async () => {
    const command = { command: 'echo asked; touch ran.txt' };
    const first = await ask('bash', command);
    expect(first).toMatchObject({
      outcome: 'asks',
      approval: {
        ...{ state: 'pending', tool: 'bash', preview: command.command },
        setting: { workspaceId: 'notes', permissionMode: 'edit', access: 'execute', directory: '' },
      },
    });
    const { approvalId } = first.approval;
    expect((await ask('bash', command)).approval.approvalId).toBe(approvalId);
    await page('POST', `/v1/approvals/${approvalId}`, { cookie, body: { decision: 'approve' } });
    expect(await ask('bash', command)).toMatchObject({ outcome: 'runs', approval: { state: 'approved' } });
    expect(await page('GET', '/v1/workspaces/notes/file?path=ran.txt', { cookie })).toMatchObject({ status: 404 });
    const ran = await call('bash', command, { 'croft-approval': approvalId });
    expect(ran).toMatchObject({ status: 200, json: { output: 'asked\n' } });
    const again = await ask('bash', command);
    expect(again.approval.approvalId).not.toBe(approvalId);
    expect((await get(`/v1/approvals/${again.approval.approvalId}`)).approval.askedBefore).toBe(1);
    await page('POST', `/v1/approvals/${again.approval.approvalId}`, {
      cookie,
      body: { decision: 'deny', reason: 'no' },
    });
    expect(await ask('bash', command)).toMatchObject({ outcome: 'refused', error: { code: 'E_APPROVAL_DENIED' } });
  });

  test('the fence is what calls do', async () => {
    const { workspaces } = await get('/v1/agents/flags/fence');
    expect(workspaces).toMatchObject([
      {
        ...{ name: 'notes', access: 'read-write', permissionMode: 'edit', network: { mode: 'deny-all' } },
        ...{
          read: { verdict: 'runs' },
          search: { verdict: 'runs' },
          write: { verdict: 'runs' },
          run: { verdict: 'asks' },
        },
      },
    ]);
    const inputs: Record<string, object> = {
      read: { file_path: 'a.txt' },
      grep: { pattern: 'x' },
      write: { file_path: 'f.txt', content: 'x' },
      bash: { command: 'true' },
    };
    for (const [name, input] of Object.entries(inputs)) {
      const { verdict } = workspaces[0].tools.find((tool: { name: string }) => tool.name === name);
      expect((await ask(name, input)).outcome, name).toBe(verdict);
      expect((await call(name, input)).status, name).toBe(verdict === 'runs' ? 200 : 202);
    }
  });
});
