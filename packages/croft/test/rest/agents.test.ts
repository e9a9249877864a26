import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { fillAccount } from './fill-account.ts';
import { codeOf, openFixture, type RestFixture } from './fixture.ts';

let fixture: RestFixture;
let token: string;
let agentId: string;

beforeAll(async () => {
  fixture = await openFixture();
  ({ token } = await fixture.addAccount('ann'));
  ({ agentId } = await fillAccount(fixture, token));
});

afterAll(() => fixture[Symbol.asyncDispose]());

function call(tool: string, body: unknown, headers: Record<string, string> = {}) {
  return fixture.send('POST', `/v1/agents/${agentId}/tools/${tool}`, { token, body, headers });
}

function decide(approvalId: string, body: unknown) {
  return fixture.send('POST', `/v1/approvals/${approvalId}`, { token, body });
}

describe('a tool', () => {
  test('is listed, and called with its input for its structured result', async () => {
    const { json } = await fixture.send('GET', `/v1/agents/${agentId}/tools`, { token });
    expect(json.tools.map(({ name }: { name: string }) => name)).toEqual(['ask', 'echo']);
    expect(await call('echo', { a: [1, { b: 'c' }] })).toMatchObject({
      status: 200,
      json: { session: 'default', input: { a: [1, { b: 'c' }] } },
    });
    expect(await call('echo', {}, { 'Croft-Session': 'mine' })).toMatchObject({ json: { session: 'mine' } });
  });

  test('is reported as missing if it is', async () => {
    expect(await call('nothing', {})).toMatchObject({ status: 404, json: { error: { code: 'E_UNKNOWN_TOOL' } } });
  });

  test('accepts inputs as large as the server allows, and bodies without a content type', async () => {
    const text = 'x'.repeat(2 * 1024 * 1024);
    expect((await call('echo', { text })).json.input.text).toHaveLength(text.length);
  });

  test('is cancelled when its caller disconnects', async () => {
    const leaving = new AbortController();
    const gone = fetch(`${fixture.url}/v1/agents/${agentId}/tools/wait`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: '{}',
      signal: leaving.signal,
    });
    await vi.waitFor(() => expect(fixture.ran.at(-1)).toBe('waiting'));
    leaving.abort();
    await expect(gone).rejects.toThrow();
    await vi.waitFor(() => expect(fixture.ran.at(-1)).toBe('taken back'));
  });

  test.each([
    ['Croft-Session', 'a b'],
    ['Croft-Session', 'x'.repeat(129)],
    ['Croft-Approval', 'ap_'],
    ['Croft-Approval', `ap_${'0'.repeat(23)}g`],
    ['Croft-Approval', '*'],
  ])('with %s: %s is refused before it runs', async (header, value) => {
    const ran = fixture.ran.length;
    const answer = await call('echo', {}, { [header]: value });
    expect(answer).toMatchObject({ status: 400, json: { error: { details: { header } } } });
    expect(fixture.ran).toHaveLength(ran);
  });
});

describe('a call that needs an approval', () => {
  test('is answered 202, is decided, and then runs once', async () => {
    const input = { command: 'make' };
    const ran = fixture.ran.length;
    const asked = await call('ask', input);
    expect(asked.status).toBe(202);
    const { approval } = asked.json;
    expect(Object.keys(asked.json)).toEqual(['approval']);
    expect(approval).toMatchObject({ agentId, session: 'default', tool: 'ask', input, state: 'pending' });
    const { approvalId } = approval;
    const claimed = { 'Croft-Approval': approvalId };

    // The person who decides also sees the owner of the session.
    const seen = { ...approval, session: 'key_1/default' };
    expect((await fixture.send('GET', `/v1/approvals/${approvalId}`, { token })).json).toEqual({
      approval: { ...seen, askedBefore: 0 },
    });
    const pending = await fixture.send('GET', `/v1/approvals?state=pending&agentId=${agentId}`, { token });
    expect(pending.json.approvals).toContainEqual(expect.objectContaining(seen));
    expect(await call('ask', input, claimed)).toMatchObject({ status: 202, json: { approval: { approvalId } } });
    expect(fixture.ran).toHaveLength(ran);

    const decided = await decide(approvalId, { decision: 'approve', reason: 'looks right' });
    expect(decided.json.approval).toMatchObject({ state: 'approved', reason: 'looks right' });
    expect(await call('ask', { command: 'make install' }, claimed)).toMatchObject({ status: 409 });
    expect(await call('ask', input, { ...claimed, 'Croft-Session': 'other' })).toMatchObject({ status: 409 });
    expect(fixture.ran).toHaveLength(ran);

    expect(await call('ask', input, claimed)).toMatchObject({ status: 200, json: { input } });
    const again = await call('ask', input, claimed);
    expect(again.status, again.text).toBeGreaterThanOrEqual(400);
    expect(fixture.ran).toHaveLength(ran + 1);
    expect(await decide(approvalId, { decision: 'deny' })).toMatchObject({
      status: 409,
      json: { error: { code: 'E_APPROVAL_SETTLED' } },
    });
  });

  test('and is denied does not run, and gives the reason', async () => {
    const ran = fixture.ran.length;
    const { approvalId } = (await call('ask', { n: 2 })).json.approval;
    await decide(approvalId, { decision: 'deny', reason: 'not on a Friday' });
    const answer = await call('ask', { n: 2 }, { 'Croft-Approval': approvalId });
    expect(answer.status).toBe(403);
    expect(codeOf(answer)).toBe('E_APPROVAL_DENIED');
    expect(answer.text).toContain('not on a Friday');
    expect(fixture.ran).toHaveLength(ran);
  });

  test('and has expired is gone', async () => {
    const { approvalId } = (await call('ask', { n: 3 })).json.approval;
    await decide(approvalId, { decision: 'approve' });
    fixture.clock.aheadMs += 3_600_000;
    const answer = await call('ask', { n: 3 }, { 'Croft-Approval': approvalId });
    expect(answer).toMatchObject({ status: 410, json: { error: { code: 'E_APPROVAL_EXPIRED' } } });
    const { json } = await fixture.send('GET', `/v1/approvals/${approvalId}`, { token });
    expect(json.approval.state).toBe('expired');
  });

  test.each([{}, { decision: 'maybe' }, { decision: 'approve', scope: 'always' }, { decision: 'deny', reason: 7 }])(
    'cannot be decided by %j',
    async (body) => {
      const { approvalId } = (await call('ask', { n: 4 })).json.approval;
      const before = fixture.dump();
      expect(await decide(approvalId, body)).toMatchObject({ status: 400 });
      expect(fixture.dump()).toEqual(before);
    },
  );
});

test('sessions are listed in pages and ended by name, whatever the name', async () => {
  const names = ['a', 'b/c', '%2f', '..x', '~!@#$&*()'];
  for (const name of names) await call('echo', {}, { 'Croft-Session': name });
  const sessions = `/v1/agents/${agentId}/sessions`;
  const seen: string[] = [];
  let after = '';
  do {
    const { json } = await fixture.send('GET', `${sessions}?limit=2${after}`, { token });
    seen.push(...json.sessions.map(({ session }: { session: string }) => session));
    after = json.next === undefined ? '' : `&after=${encodeURIComponent(json.next)}`;
  } while (after !== '');
  expect(seen).toEqual(expect.arrayContaining(names));
  for (const name of names) {
    const path = `${sessions}/${encodeURIComponent(name)}`;
    expect((await fixture.send('DELETE', path, { token })).json).toEqual({ deleted: true });
    expect(await fixture.send('DELETE', path, { token })).toMatchObject({ status: 404 });
  }
});

test('a child of a session is opened, listed and ended', async () => {
  const sessions = `/v1/agents/${agentId}/sessions`;
  const opened = await fixture.send('POST', sessions, { token, body: { parent: 'mine', readOnly: true } });
  expect(opened).toMatchObject({ status: 201, json: { parent: 'mine' } });
  expect((await fixture.send('GET', sessions, { token })).json.sessions).toContainEqual(opened.json);
  const path = `${sessions}/${opened.json.session}`;
  expect(await fixture.send('DELETE', path, { token })).toMatchObject({ status: 200 });
});

test('the prompt of an agent is returned', async () => {
  const answer = await fixture.send('GET', `/v1/agents/${agentId}/prompt`, { token });
  expect(answer.json).toEqual({ prompt: 'Remember the milk.' });
});

test.each(['POST', 'GET', 'DELETE'])('MCP gets a %s unchanged', async (method) => {
  const body = method === 'POST' ? { text: '{"not": "ours to read' } : {};
  const answer = await fixture.send(method, `/v1/agents/${agentId}/mcp`, { token, ...body });
  expect(answer.json).toEqual({ agentId, method, body: body.text ?? '' });
});
