import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sealTitle } from '../../src/core/accounts/audit/sealed-call-titles.ts';
import { followEvents } from '../support/follow-events.ts';
import { codeOf, openFixture, type RestFixture } from './fixture.ts';

const patience = { timeout: 20_000, interval: 20 };

let fixture: RestFixture;
let ann: { accountId: string; token: string };
let bob: { accountId: string; token: string };

beforeAll(async () => {
  fixture = await openFixture({ limits: { requestsPerMinute: 100_000 } });
  [ann, bob] = [await fixture.addAccount('ann'), await fixture.addAccount('bob')];
});
afterAll(() => fixture[Symbol.asyncDispose]());

const follow = (token: string, headers: Record<string, string> = {}, query = '') =>
  followEvents(`${fixture.url}/v1/events${query}`, { authorization: `Bearer ${token}`, ...headers });

let count = 0;
/** Leaves one row in the trail of an account. Returns the id that the row is about. */
async function leaveRow({ token }: { token: string }): Promise<string> {
  count += 1;
  const { json } = await fixture.send('POST', '/v1/sandboxes', { token, body: { name: `s${count}`, config: {} } });
  return json.sandboxId;
}

async function keyOf({ token }: { token: string }, body: object): Promise<{ secret: string; keyId: string }> {
  count += 1;
  const { json } = await fixture.send('POST', '/v1/keys', { token, body: { name: `k${count}`, ...body } });
  return { secret: json.secret, keyId: json.key.keyId };
}

describe('the events of an account', () => {
  test('are its rows from now on, in order, and nobody else’s', async () => {
    using feed = await follow(ann.token);
    await leaveRow(bob);
    const made = [await leaveRow(ann), await leaveRow(ann)];
    await leaveRow(bob);
    await vi.waitFor(() => expect(feed.rows()).toHaveLength(2), patience);
    expect(feed.rows().map(({ target }) => target)).toEqual(made);
    expect(feed.rows().every(({ accountId }) => accountId === ann.accountId)).toBe(true);
  });

  test('continue after the last id without a gap and without a repetition', async () => {
    const first = await follow(ann.token);
    await leaveRow(ann);
    await vi.waitFor(() => expect(first.rows()).toHaveLength(1), patience);
    first[Symbol.dispose]();
    const missed = [await leaveRow(ann), await leaveRow(ann)];
    using again = await follow(ann.token, { 'last-event-id': first.lastId() });
    const next = await leaveRow(ann);
    await vi.waitFor(() => expect(again.rows()).toHaveLength(3), patience);
    expect(again.rows().map(({ target }) => target)).toEqual([...missed, next]);
  });

  test('continue where a list of the trail ended', async () => {
    await leaveRow(ann);
    const { json } = await fixture.send('GET', '/v1/audit?order=newest&limit=1', { token: ann.token });
    const missed = await leaveRow(ann);
    using feed = await follow(ann.token, {}, `?after=${json.position}`);
    await vi.waitFor(() => expect(feed.rows().map(({ target }) => target)).toEqual([missed]), patience);
  });

  test.each(['999999999', '12-13', 'x', '9'.repeat(16)])('are reset for the position %s', async (lastId) => {
    using feed = await follow(ann.token, { 'last-event-id': lastId });
    await vi.waitFor(() => expect(feed.events[0]).toMatchObject({ type: 'reset' }), patience);
    const made = await leaveRow(ann);
    await vi.waitFor(() => expect(feed.rows().map(({ target }) => target)).toEqual([made]), patience);
  });

  test('refuse a position that is misspelt', async () => {
    const answer = await fixture.send('GET', '/v1/events?after=x', { token: ann.token });
    expect(codeOf(answer)).toBe('E_INVALID_INPUT');
  });

  test('have more rows than one read takes, all of them', async () => {
    const { json } = await fixture.send('GET', '/v1/audit?order=newest&limit=1', { token: bob.token });
    await fixture.records.change(({ audit }) =>
      audit.append(
        Array.from({ length: 450 }, (_, index) => ({
          ...{ accountId: index % 3 === 0 ? ann.accountId : bob.accountId, at: new Date().toISOString() },
          ...{ actor: 'test', action: 'row', target: String(index), details: '{}' },
        })),
      ),
    );
    using feed = await follow(bob.token, {}, `?after=${json.position}`);
    await vi.waitFor(() => expect(feed.rows()).toHaveLength(300), patience);
    expect(feed.rows().map(({ target }) => Number(target))).toEqual(
      Array.from({ length: 450 }, (_, index) => index).filter((index) => index % 3 !== 0),
    );
  });

  test('show a key that may only approve nothing but approvals', async () => {
    const { secret } = await keyOf(ann, { scopes: ['approve'] });
    using feed = await follow(secret);
    await leaveRow(ann);
    await fixture.records.change(({ audit }) =>
      audit.append(
        ['approval.requested', 'call.ended'].map((action) => ({
          ...{ accountId: ann.accountId, at: new Date().toISOString(), actor: 'agent_1 s' },
          ...{ action, target: 'ap_1', details: '{"agentId":"agent_1"}' },
        })),
      ),
    );
    await vi.waitFor(() => expect(feed.rows().map(({ action }) => action)).toEqual(['approval.requested']), patience);
  });

  test('show a key that is bound to an agent nothing but this agent', async () => {
    const body = { name: 'bound', config: {} };
    const { agentId } = (await fixture.send('POST', '/v1/agents', { token: ann.token, body })).json;
    const { secret } = await keyOf(ann, { scopes: ['read', 'call'], agents: [agentId] });
    using feed = await follow(secret);
    await fixture.records.change(({ audit }) =>
      audit.append(
        ['agent_other', agentId].flatMap((id) => [
          entry(ann.accountId, 'call.ended', `${id} s`, {}),
          entry(ann.accountId, 'approval.requested', 'somebody', { agentId: id }),
          entry(ann.accountId, 'sandbox.created', `${id} s`, {}),
        ]),
      ),
    );
    const done = entry(ann.accountId, 'call.ended', `${agentId} last`, {});
    await fixture.records.change(({ audit }) => audit.append([done]));
    await vi.waitFor(() => expect(feed.rows().at(-1)?.actor).toBe(`${agentId} last`), patience);
    expect(feed.rows().map(({ action }) => action)).toEqual(['call.ended', 'approval.requested', 'call.ended']);
  });

  test('end when the key is revoked', async () => {
    const { secret, keyId } = await keyOf(ann, { scopes: ['read'] });
    using feed = await follow(secret);
    await fixture.send('DELETE', `/v1/keys/${keyId}`, { token: ann.token });
    expect(await feed.ended).toBe('ended');
    using again = await follow(secret);
    expect(again.status).toBe(401);
  }, 20_000);

  test('are of at most fifty streams of an account, and a stream that ends makes place', async () => {
    const feeds = await Array.fromAsync({ length: 50 }, () => follow(bob.token));
    expect(feeds.every(({ status }) => status === 200)).toBe(true);
    using over = await follow(bob.token);
    expect(over.status).toBe(409);
    using other = await follow(ann.token);
    expect(other.status).toBe(200);
    feeds.pop()?.[Symbol.dispose]();
    await vi.waitFor(async () => {
      using freed = await follow(bob.token);
      expect(freed.status).toBe(200);
    }, patience);
    for (const feed of feeds) feed[Symbol.dispose]();
  });
});

function entry(accountId: string, action: string, actor: string, details: object) {
  return { accountId, at: new Date().toISOString(), actor, action, target: 't', details: JSON.stringify(details) };
}

describe('the audit trail', () => {
  let eve: { accountId: string; token: string };
  const list = async (query: string) => (await fixture.send('GET', `/v1/audit?${query}`, { token: eve.token })).json;
  const targets = async (query: string) =>
    (await list(query)).audit.map(({ target }: { target: string }) => target) as string[];

  beforeAll(async () => {
    eve = await fixture.addAccount('eve');
    const row = (action: string, target: string, actor: string, details: object, at: string) => ({
      ...{ accountId: eve.accountId, at: `2026-01-01T00:0${at}.000Z`, actor, action, target },
      details: JSON.stringify(details),
    });
    const shown = { tool: 'edit', workspace: 'notes', workspaceId: 'ws_1', title: 'src/Tree.ts', is_error: false };
    const call = sealTitle({ ...shown, call: 'call_1' }, { vault: fixture.vault, accountId: eve.accountId });
    await fixture.records.change(({ audit }) =>
      audit.append([
        row('call.began', 'edit', 'agent_1 key_1/default', call, '1:00'),
        row('call.ended', 'edit', 'agent_1 key_1/default', call, '1:01'),
        row('call.ended', 'bash', 'agent_2 key_1/other', { tool: 'bash', workspace: 'docs', is_error: true }, '2:00'),
        row('violation', 'bash', 'agent_2 key_1/other', { tool: 'bash', layer: 'network' }, '2:01'),
        row('approval.requested', 'ap_1', 'agent_2 x', { agentId: 'agent_2', tool: 'bash' }, '3:00'),
        row('approval.denied', 'ap_1', 'key key_2', { agentId: 'agent_2', tool: 'bash' }, '3:01'),
      ]),
    );
  });

  test.each([
    ['kind=call', ['edit', 'edit', 'bash']],
    ['kind=violation', ['bash']],
    ['kind=approval', ['ap_1', 'ap_1']],
    ['agent=agent_2', ['bash', 'bash', 'ap_1', 'ap_1']],
    ['session=key_1/default', ['edit', 'edit']],
    ['workspace=notes', ['edit', 'edit']],
    ['workspace=ws_1', ['edit', 'edit']],
    ['tool=bash', ['bash', 'bash', 'ap_1', 'ap_1']],
    ['outcome=ok', ['edit']],
    ['outcome=error', ['bash']],
    ['outcome=asked', ['ap_1']],
    ['outcome=denied', ['ap_1']],
    ['outcome=violation', ['bash']],
    ['text=TREE.ts', ['edit', 'edit']],
    ['from=2026-01-01T00:02:01Z&to=2026-01-01T00:03:00Z', ['bash', 'ap_1']],
    ['agent=agent_2&kind=call', ['bash']],
  ])('is filtered by %s', async (query, wanted) => {
    expect(await targets(query)).toEqual(wanted);
    expect(await targets(`${query}&order=newest`)).toEqual(wanted.toReversed());
  });

  test('comes page by page, in both orders, each row once', async () => {
    for (const order of ['oldest', 'newest']) {
      const rows: number[] = [];
      for (let after = ''; ; ) {
        const page = await list(`order=${order}&limit=2${after}`);
        rows.push(...page.audit.map(({ sequence }: { sequence: number }) => sequence));
        if (page.next === undefined) break;
        after = `&after=${page.next}`;
      }
      const sorted = rows.toSorted((one, other) => (order === 'oldest' ? one - other : other - one));
      expect(rows).toEqual(sorted);
      expect(new Set(rows).size).toBe(rows.length);
      expect(rows.length).toBeGreaterThan(6);
    }
  });

  test.each(['order=up', 'kind=x', 'outcome=x', 'from=yesterday', 'text=', 'after=1-2', 'limit=0'])(
    'refuses %s',
    async (query) => {
      const answer = await fixture.send('GET', `/v1/audit?${query}`, { token: eve.token });
      expect(codeOf(answer)).toBe('E_INVALID_INPUT');
    },
  );

  test('is whole, and a row that was altered is named', async () => {
    const check = async () => (await fixture.send('GET', '/v1/audit/check', { token: eve.token })).json;
    expect(await check()).toMatchObject({ whole: true });
    const { audit } = await list('order=newest&limit=1');
    const database = new DatabaseSync(fixture.databaseFile);
    database.prepare("UPDATE audit SET actor = 'somebody else' WHERE sequence = ?").run(audit[0].sequence);
    database.close();
    expect(await check()).toMatchObject({ whole: false, broken: { row: audit[0].sequence } });
  });
});
